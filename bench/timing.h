// Helpers for benchmarks. Pure but for the clock.
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

// Returns what a call takes on average, over so many calls as fill `seconds`. The first one is not counted.
template <typename Work>
double SecondsPerCall(double seconds, Work work) {
  work();
  double taken = 0;
  double calls = 0;
  for (double next = 1; taken < seconds; next *= 2) {
    taken += SecondsOf([&] {
      for (double call = 0; call < next; ++call) work();
    });
    calls += next;
  }
  return taken / calls;
}

// The mean of the middle two of an even number. REQUIRES: not empty.
double Median(std::vector<double> values);

}  // namespace banyan

#endif  // BANYAN_BENCH_TIMING_H_
