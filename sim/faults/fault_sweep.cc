#include "sim/faults/fault_sweep.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

// The seeds that are left, and what came of those that are done. Thread-safe.
class Sweep {
 public:
  explicit Sweep(const FaultSweepOptions& options) : options_(options) {}

  // Runs seeds until none is left. Called on each thread.
  void Work() {
    while (true) {
      uint64_t seed = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (taken_ == options_.seeds) return;
        seed = options_.from + taken_++;
      }
      Take(options_.is_rough ? RunRoughSeed(seed, options_.trace) : RunFaultSeed(seed, options_.kinds, options_.trace));
    }
  }

  // Tells of the progress until all is done. Called on one thread.
  void Watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (uint64_t told = 0; told < options_.seeds;) {
      has_changed_.wait(lock, [&] { return report_.seeds > told; });
      told = report_.seeds;
      if (!options_.progress) continue;
      lock.unlock();
      options_.progress(told);
      lock.lock();
    }
  }

  // REQUIRES: no thread works any more.
  FaultSweepReport TakeReport() {
    std::sort(report_.failed.begin(), report_.failed.end(),
              [](const FaultOutcome& a, const FaultOutcome& b) { return a.seed < b.seed; });
    return std::move(report_);
  }

 private:
  void Take(FaultOutcome outcome) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++report_.seeds;
    report_.events += outcome.events;
    report_.results += outcome.results;
    report_.required += outcome.required;
    report_.replicas += outcome.replicas;
    report_.fetches += outcome.fetches;
    report_.given += outcome.given;
    report_.lost += outcome.is_lost;
    report_.quorums += outcome.has_quorum;
    report_.epochs += outcome.epochs;
    report_.simulated += outcome.simulated;
    for (const auto& [kind, times] : outcome.happened) report_.happened[kind] += times;
    if (!outcome.violations.empty()) report_.failed.push_back(std::move(outcome));
    has_changed_.notify_one();
  }

  const FaultSweepOptions& options_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  uint64_t taken_ = 0;
  FaultSweepReport report_;
};

}  // namespace

FaultSweepReport SweepFaults(const FaultSweepOptions& options) {
  BANYAN_CHECK(options.threads >= 1 && (options.threads == 1 || !options.trace));
  Sweep sweep(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([&sweep] { sweep.Work(); });
  sweep.Watch();
  for (std::thread& thread : threads) thread.join();
  return sweep.TakeReport();
}

}  // namespace banyan
