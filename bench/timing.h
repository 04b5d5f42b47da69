// Helpers for benchmarks that time pairs of things. Pure but for the clock.
#ifndef BANYAN_BENCH_TIMING_H_
#define BANYAN_BENCH_TIMING_H_

#include <chrono>
#include <vector>

namespace banyan {

template <typename Work>
double SecondsOf(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The mean of the middle two of an even number. REQUIRES: not empty.
double Median(std::vector<double> values);

}  // namespace banyan

#endif  // BANYAN_BENCH_TIMING_H_
