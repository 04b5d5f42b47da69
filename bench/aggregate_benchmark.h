// `banyan bench aggregate`: how fast incoming fp32 chunks are added into accumulators, beside what this machine's
// memory allows.
#ifndef BANYAN_BENCH_AGGREGATE_BENCHMARK_H_
#define BANYAN_BENCH_AGGREGATE_BENCHMARK_H_

#include <ostream>

namespace banyan {

// Adds a model of 64 MB, chunk by chunk of 65,536 elements. Adds the same bytes by a plain loop a[i] += b[i] on the
// same accumulators. The two run in interleaved pairs, so that both meet the same disturbances. Prints the medians and
// the median ratio to `out`, as one JSON object or as text. Returns the exit code, 1 when the sums are wrong.
int RunAggregateBenchmark(std::ostream& out, bool json);

}  // namespace banyan

#endif  // BANYAN_BENCH_AGGREGATE_BENCHMARK_H_
