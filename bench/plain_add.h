// The yardstick of `banyan bench aggregate`, in a file of its own so that the compiler cannot see into its caller's
// buffers.
#ifndef BANYAN_BENCH_PLAIN_ADD_H_
#define BANYAN_BENCH_PLAIN_ADD_H_

#include "absl/types/span.h"

namespace banyan {

// sums[i] += values[i], as the compiler makes it with the same flags and for the same processors as the node's own
// loops. REQUIRES: equal lengths, no overlap.
void PlainAdd(absl::Span<float> sums, absl::Span<const float> values);

}  // namespace banyan

#endif  // BANYAN_BENCH_PLAIN_ADD_H_
