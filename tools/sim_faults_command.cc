#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/check.h"
#include "core/json_writer.h"
#include "sim/faults/fault.h"
#include "sim/faults/fault_scenario.h"
#include "sim/trace.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/reports/progress_bar.h"

namespace banyan {
namespace {

// Runs the scenarios of many seeds on several threads. Thread-compatible; one call, one sweep.
struct FaultSweepOptions {
  uint64_t from = 0;
  uint64_t seeds = 1;
  std::vector<FaultKind> kinds;
  bool is_rough = false;  // rough jobs, whatever the kinds
  int threads = 1;
  // Gets the lines of all traces; with more than one thread they would be mixed. Empty for none.
  Trace::Sink trace;
  // Told how many seeds are done, by the calling thread; empty for none.
  std::function<void(uint64_t done)> progress;
};

struct FaultSweepReport {
  uint64_t seeds = 0;
  int64_t lost = 0;                  // jobs
  int64_t quorums = 0;               // jobs with one
  FaultOutcome total;                // of all jobs
  std::vector<FaultOutcome> failed;  // in rising order of seeds
};

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
    report_.lost += outcome.is_lost;
    report_.quorums += outcome.has_quorum;
    report_.total.Add(outcome);
    if (!outcome.violations.empty()) report_.failed.push_back(std::move(outcome));
    has_changed_.notify_one();
  }

  const FaultSweepOptions& options_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  uint64_t taken_ = 0;
  FaultSweepReport report_;
};

// REQUIRES: threads is at least 1, and 1 with a trace.
FaultSweepReport SweepFaults(const FaultSweepOptions& options) {
  BANYAN_CHECK(options.threads >= 1 && (options.threads == 1 || !options.trace));
  Sweep sweep(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([&sweep] { sweep.Work(); });
  sweep.Watch();
  for (std::thread& thread : threads) thread.join();
  return sweep.TakeReport();
}

constexpr int64_t kMostSeeds = 100000000;
constexpr unsigned kMostThreads = 16;

struct FaultsFlags {
  int64_t seeds = 100;
  int64_t from = 0;
  std::string faults;  // transient, scheduler, silent, rough, all, or empty, which is all
  bool trace = false;
  bool json = false;
};

CommandLine MakeCommandLine(FaultsFlags& flags) {
  CommandLine line(
      "banyan sim-faults",
      "Simulates random jobs with the very protocols that a real job runs, each under random faults:\n"
      "nodes, workers and the scheduler end and come back, links are cut, the storage fails. Says of each\n"
      "seed that breaks a rule or hangs what it broke, and how to see it again.",
      "banyan sim-faults --seeds 2000");
  line.Integer("seeds", "N", "jobs to simulate (default 100)", 1, kMostSeeds, &flags.seeds);
  line.Integer("from", "S", "the first seed (default 0); the same seed gives the same job", 0, INT64_MAX / 2,
               &flags.from);
  line.Choice("kind", {"transient", "scheduler", "silent", "rough", "all"},
              "transient: only those that leave the members as they are; scheduler: those of the scheduler, and of "
              "nodes and workers that come back; silent: connections that carry nothing without a word; rough: all of "
              "these, and orders "
              "of an operator, disks that stand for long, slow and uneven links, another overlay file, in jobs of "
              "many keys; all: all but the rough ones (default all)",
              &flags.faults);
  line.FormerName("kind", "faults");
  line.Switch("verbose", "print what every process is handed", &flags.trace);
  line.FormerName("verbose", "trace");
  line.Switch("json", "print JSON", &flags.json);
  return line;
}

std::vector<FaultKind> KindsOf(const FaultsFlags& flags) {
  if (flags.faults == "scheduler") return SchedulerFaultKinds();
  if (flags.faults == "silent") return SilentFaultKinds();
  return flags.faults == "transient" ? TransientFaultKinds() : AllFaultKinds();
}

// The same list of faults, or the seed would give another job.
std::string ReplayCommand(const FaultsFlags& flags, uint64_t seed) {
  return absl::StrCat("banyan sim-faults --from ", seed, " --seeds 1 --verbose",
                      flags.faults.empty() ? "" : absl::StrCat(" --kind ", flags.faults));
}

std::string Text(const FaultsFlags& flags, const FaultSweepReport& report) {
  std::string text;
  for (const FaultOutcome& outcome : report.failed) {
    absl::StrAppend(&text, "seed ", outcome.seed, " fails:\n", outcome.violations, "  ",
                    ReplayCommand(flags, outcome.seed), "\n\n");
  }
  absl::StrAppend(&text, report.seeds, " seeds, ", report.failed.size(), " of them fail\n", report.total.results,
                  " results of ", report.total.required, " contributions in ", report.total.epochs, " epochs, ",
                  report.total.fetches, " workers with a fetched state, ", report.total.replicas, " models compared, ",
                  report.total.given, " times parameters given to nodes, ", report.lost, " jobs without any, ",
                  report.quorums, " jobs with a quorum, ", report.total.events, " events, ",
                  absl::FormatDuration(absl::Trunc(report.total.simulated, absl::Seconds(1))), " simulated\n");
  for (const auto& [kind, times] : report.total.happened)
    absl::StrAppend(&text, "  ", times, " x ", NameOf(kind), "\n");
  return text;
}

std::string Json(const FaultsFlags& flags, const FaultSweepReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Name("from").Integer(static_cast<uint64_t>(flags.from));
  json.Name("seeds").Integer(report.seeds);
  json.Name("events").Integer(report.total.events);
  json.Name("results").Integer(static_cast<uint64_t>(report.total.results));
  json.Name("contributions").Integer(static_cast<uint64_t>(report.total.required));
  json.Name("fetches").Integer(static_cast<uint64_t>(report.total.fetches));
  json.Name("models_compared").Integer(static_cast<uint64_t>(report.total.replicas));
  json.Name("parameters_given").Integer(static_cast<uint64_t>(report.total.given));
  json.Name("parameters_lost").Integer(static_cast<uint64_t>(report.lost));
  json.Name("quorums").Integer(static_cast<uint64_t>(report.quorums));
  json.Name("epochs").Integer(report.total.epochs);
  json.Name("simulated_seconds").Number(absl::ToDoubleSeconds(report.total.simulated));
  json.Name("faults").BeginObject();
  for (const auto& [kind, times] : report.total.happened) json.Name(NameOf(kind)).Integer(static_cast<uint64_t>(times));
  json.EndObject();
  json.Name("failed").BeginArray();
  for (const FaultOutcome& outcome : report.failed) {
    json.BeginObject();
    json.Name("seed").Integer(outcome.seed);
    json.Name("violations").String(outcome.violations);
    json.Name("replay").String(ReplayCommand(flags, outcome.seed));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text() + "\n";
}

FaultSweepReport SweepWithProgress(const FaultsFlags& flags, std::ostream& err) {
  FaultSweepOptions options;
  options.from = static_cast<uint64_t>(flags.from);
  options.seeds = static_cast<uint64_t>(flags.seeds);
  options.kinds = KindsOf(flags);
  options.is_rough = flags.faults == "rough";
  if (flags.trace) {
    options.trace = [&err](const std::string& line) { err << line << "\n"; };
  } else {
    options.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads));
  }
  const auto start = std::chrono::steady_clock::now();
  ProgressBar bar("simulating", isatty(STDERR_FILENO) != 0 && !flags.trace, err);
  options.progress = [&](uint64_t done) {
    bar.Update(static_cast<double>(done) / static_cast<double>(flags.seeds),
               absl::FromChrono(std::chrono::steady_clock::now() - start));
  };
  return SweepFaults(options);
}

}  // namespace

int SimFaultsCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  FaultsFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  const FaultSweepReport report = SweepWithProgress(flags, err);
  out << (flags.json ? Json(flags, report) : Text(flags, report));
  return report.failed.empty() ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
