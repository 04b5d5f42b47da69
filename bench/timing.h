// Helpers for benchmarks that time pairs of things. Pure but for the clock.
#ifndef BANYAN_BENCH_TIMING_H_
#define BANYAN_BENCH_TIMING_H_

#include <chrono>
#include <cstddef>
#include <optional>
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

// Returns the first of these rounds from which on they take about as long as usual: it and the two after it, as far as
// there are any, take at most kNear times `usual`. Empty where none does.
inline constexpr double kNear = 1.1;
std::optional<size_t> FirstNear(const std::vector<double>& seconds, double usual);

}  // namespace banyan

#endif  // BANYAN_BENCH_TIMING_H_
