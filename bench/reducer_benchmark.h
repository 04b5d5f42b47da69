// `banyan bench reducer`: how fast one core counts the votes of eight voters, beside what the paper of NEURON-Fabric
// (Wang, Huang and Lung, 2026, Table 9) measured on its GPU nodes.
#ifndef BANYAN_BENCH_REDUCER_BENCHMARK_H_
#define BANYAN_BENCH_REDUCER_BENCHMARK_H_

#include <ostream>

namespace banyan {

struct ReducerBenchmarkOptions {
  int repetitions = 200;  // timed turns, of which the median is told
  bool json = false;
};

// Encodes, counts, decides and writes back G-Binary and G-Ternary votes on 131,072 and 524,288 elements. Compares each
// count with one that adds plain integers. Prints microseconds to `out`. Returns the exit code, 1 where a count
// differs.
int RunReducerBenchmark(const ReducerBenchmarkOptions& options, std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_BENCH_REDUCER_BENCHMARK_H_
