// Values that are no finite numbers, NaN and the infinities, and numbers that are large for a format. Pure functions,
// vectorised for the processor that they run on; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_KERNELS_NOT_FINITE_H_
#define BANYAN_COMPRESSION_KERNELS_NOT_FINITE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/tensor_view.h"

namespace banyan {

// Returns how many of `values` are not finite: none of integers.
int64_t CountNotFinite(ConstTensorView values);

// Copies `from` to `to` and returns what CountNotFinite does, in one pass. REQUIRES: equal lengths and types, no
// overlap.
int64_t CopyCountingNotFinite(ConstTensorView from, TensorView to);

// Returns whether the magnitude of a finite value is at least `least`. REQUIRES: `least` is finite and above 0.
bool HasFiniteFrom(absl::Span<const float> values, float least);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_NOT_FINITE_H_
