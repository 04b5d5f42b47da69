// `banyan bench plan`: how long planning takes, for networks of 9, 100 and 1,000 nodes.
#ifndef BANYAN_BENCH_PLAN_BENCHMARK_H_
#define BANYAN_BENCH_PLAN_BENCHMARK_H_

#include <ostream>

namespace banyan {

// Times these plans with Google Benchmark:
//  - multi-root FAPT on the demo's overlay, random networks of 100 and 1,000 nodes with 4 links each, and a full mesh
//    of 100;
//  - FAPT with auxiliary paths and either rule for shares, on the demo's overlay and on 100 nodes with 400 links (both
//    directions of each);
//  - packed trees for 9 to 1,000 nodes.
// Prints the report to `out`, as one JSON object or as text. Returns the exit code, 1 when a plan fails or misses the
// goal: 1 ms for 9 nodes, 50 ms for 100, 5 s for 1,000; with auxiliary paths 5 ms for 9, 500 ms for 100; packed 50 ms
// for 9, 500 ms for 20, 1 s for 100, 5 s for 1,000.
int RunPlanBenchmark(std::ostream& out, bool json);

}  // namespace banyan

#endif  // BANYAN_BENCH_PLAN_BENCHMARK_H_
