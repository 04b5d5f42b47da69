#include "tools/loopback_benchmark.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "bench/loopback_pairs.h"
#include "posix/child_process.h"
#include "posix/port_reservation.h"
#include "posix/work_directory.h"
#include "tools/keygen/job_keys.h"

namespace banyan {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(50);
constexpr int kShownLogLines = 20;
constexpr double kFloatsPerMessageMegabyte = 1e6 / sizeof(float);

// Every pair of nodes has a link, each way as fast as the next.
std::string MakeOverlay(int nodes, double mbps, const PortReservation& ports) {
  std::string text = absl::StrCat("job: loopback\nscheduler: {address: ", ports.Address(0), "}\nnodes:\n");
  for (int i = 1; i <= nodes; ++i) {
    absl::StrAppend(&text, "  - {name: n", i, ", address: ", ports.Address(i), "}\n");
  }
  if (mbps > 0) {
    absl::StrAppend(&text, "links:\n");
    for (int a = 1; a <= nodes; ++a) {
      for (int b = a + 1; b <= nodes; ++b) {
        absl::StrAppend(&text, "  - {between: [n", a, ", n", b, "], mbps: ", mbps, "}\n");
      }
    }
  }
  absl::StrAppend(&text, "aggregation: {op: sum}\n");
  return text;
}

cpu_set_t OwnProcessors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  (void)sched_getaffinity(0, sizeof(processors), &processors);
  return processors;
}

// Keeps the calling thread, and the processes that it starts, on some of its processors.
class StayOn {
 public:
  // On `count` of them, after the first `to_skip`.
  StayOn(int to_skip, int count) : before_(OwnProcessors()) {
    cpu_set_t some;
    CPU_ZERO(&some);
    for (int processor = 0; processor < CPU_SETSIZE && count > 0; ++processor) {
      if (!CPU_ISSET(processor, &before_) || to_skip-- > 0) continue;
      CPU_SET(processor, &some);
      --count;
    }
    (void)sched_setaffinity(0, sizeof(some), &some);
  }
  StayOn(const StayOn&) = delete;
  StayOn& operator=(const StayOn&) = delete;
  ~StayOn() { (void)sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  const cpu_set_t before_;
};

// A scheduler and its nodes, from their start to their end.
class LoopbackJob {
 public:
  LoopbackJob(const LoopbackBenchmarkOptions& options, const WorkDirectory& directory, const PortReservation& ports)
      : options_(options), directory_(directory), ports_(ports) {}

  absl::StatusOr<std::vector<LoopbackPairs>> Run() {
    if (absl::Status status = StartAll(); !status.ok()) return status;
    std::vector<std::optional<LoopbackPairs>> results(peers_.size());
    for (size_t done = 0; done < peers_.size();) {
      absl::SleepFor(kPollInterval);
      if (!scheduler_->running()) return Failure(*scheduler_);
      for (size_t i = 0; i < peers_.size(); ++i) {
        if (results[i].has_value()) continue;
        absl::StatusOr<std::optional<LoopbackPairs>> result = Collect(*peers_[i]);
        if (!result.ok()) return result.status();
        results[i] = *std::move(result);
        if (results[i].has_value()) ++done;
      }
    }
    std::vector<LoopbackPairs> times;
    for (std::optional<LoopbackPairs>& result : results) times.push_back(*std::move(result));
    return times;
  }

 private:
  absl::Status StartAll() {
    if (absl::Status status = WriteOverlay(); !status.ok()) return status;
    std::vector<std::string> command = {options_.banyan_program, "scheduler", directory_.File("overlay.yaml"),
                                        "--forgetful"};
    if (!options_.insecure) command.insert(command.end(), {"--key", KeyOf(kSchedulerKeyOwner)});
    absl::StatusOr<std::unique_ptr<ChildProcess>> scheduler = ChildProcess::Start(
        {.name = "the scheduler", .arguments = std::move(command), .log_path = directory_.File("scheduler.log")});
    if (!scheduler.ok()) return scheduler.status();
    scheduler_ = *std::move(scheduler);
    for (int rank = 0; rank < options_.nodes; ++rank) {
      absl::StatusOr<std::unique_ptr<ChildProcess>> peer = StartPeer(rank);
      if (!peer.ok()) return peer.status();
      peers_.push_back(*std::move(peer));
    }
    return absl::OkStatus();
  }

  // And the keys that it lists.
  absl::Status WriteOverlay() const {
    const std::string overlay = MakeOverlay(options_.nodes, options_.mbps, ports_);
    if (options_.insecure) return directory_.Write("overlay.yaml", overlay);
    return MakeJobKeys(overlay, "overlay.yaml", directory_.path()).status();
  }

  std::string KeyOf(const std::string& owner) const { return directory_.File(absl::StrCat(owner, ".key")); }

  absl::StatusOr<std::unique_ptr<ChildProcess>> StartPeer(int rank) const {
    const std::string name = absl::StrCat("n", rank + 1);
    const cpu_set_t own = OwnProcessors();
    std::optional<StayOn> stays;
    if (options_.pinned) stays.emplace(rank % std::max(1, CPU_COUNT(&own)), 1);
    return ChildProcess::Start(
        {.name = absl::StrCat("node ", name),
         .arguments = {options_.peer_program, name, ports_.Address(0), directory_.path(), absl::StrCat(rank),
                       absl::StrCat(options_.nodes),
                       absl::StrCat(std::llround(options_.megabytes * kFloatsPerMessageMegabyte)),
                       absl::StrCat(options_.keys), absl::StrCat(options_.pairs), options_.group ? "group" : "apart",
                       options_.insecure ? "" : KeyOf(name)},
         .log_path = directory_.File(absl::StrCat(name, ".log")),
         .capture_output = true});
  }

  // Nothing as long as the peer is at work.
  static absl::StatusOr<std::optional<LoopbackPairs>> Collect(ChildProcess& peer) {
    if (peer.running()) return std::optional<LoopbackPairs>();
    if (!peer.failure().empty()) return Failure(peer);
    for (const std::string& line : peer.TakeLines()) {
      absl::StatusOr<LoopbackPairs> pairs = ParsePairs(line);
      if (!pairs.ok()) return pairs.status();
      return std::optional<LoopbackPairs>(*std::move(pairs));
    }
    return Failure(peer);
  }

  static absl::Status Failure(const ChildProcess& child) {
    return absl::InternalError(absl::StrCat(child.name(), " ended too early (", child.failure(),
                                            "); the end of its log:\n", child.LogTail(kShownLogLines)));
  }

  const LoopbackBenchmarkOptions& options_;
  const WorkDirectory& directory_;
  const PortReservation& ports_;
  std::unique_ptr<ChildProcess> scheduler_;
  std::vector<std::unique_ptr<ChildProcess>> peers_;
};

void Print(const LoopbackBenchmarkOptions& options, const LoopbackPairs& pairs, std::ostream& out) {
  const LoopbackSummary summary = Summarize(pairs);
  const cpu_set_t own = OwnProcessors();
  const int processors = options.pinned ? std::min(options.nodes, CPU_COUNT(&own)) : CPU_COUNT(&own);
  const auto per_core = [&](double seconds) {
    return GbpsPerCore(options.nodes, options.megabytes, seconds, processors);
  };
  if (options.json) {
    out << absl::StreamFormat(
        "{\"nodes\":%d,\"megabytes\":%g,\"keys\":%d,\"group\":%s,\"secured\":%s,\"processors\":%d,\"banyan_seconds_"
        "p50\":%.6f,"
        "\"gloo_seconds_p50\":%.6f,\"ratio_p50\":%.4f,\"banyan_gbps_per_core\":%.3f,\"gloo_gbps_per_core\":%.3f,"
        "\"pairs\":%s}\n",
        options.nodes, options.megabytes, options.keys, options.group ? "true" : "false",
        options.insecure ? "false" : "true", processors, summary.banyan_seconds, summary.gloo_seconds, summary.ratio,
        per_core(summary.banyan_seconds), per_core(summary.gloo_seconds), FormatPairs(pairs));
    return;
  }
  out << absl::StreamFormat(
      "loopback: nodes=%d mbytes=%g keys=%d%s%s pairs=%d banyan_ms_p50=%.1f gloo_ring_ms_p50=%.1f ratio_p50=%.2f\n"
      "gbps_per_core of %d: banyan=%.1f gloo_ring=%.1f\n",
      options.nodes, options.megabytes, options.keys, options.group ? " group" : "",
      options.insecure ? " insecure" : "", pairs.banyan_seconds.size(), summary.banyan_seconds * 1e3,
      summary.gloo_seconds * 1e3, summary.ratio, processors, per_core(summary.banyan_seconds),
      per_core(summary.gloo_seconds));
}

}  // namespace

double GbpsPerCore(int nodes, double megabytes, double seconds, int processors) {
  constexpr double kGigabitsPerMegabyte = 8e-3;
  return 2 * (nodes - 1) * megabytes * kGigabitsPerMegabyte / seconds / processors;
}

namespace {

absl::StatusOr<LoopbackPairs> Measure(const LoopbackBenchmarkOptions& options) {
  absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-bench");
  if (!directory.ok()) return directory.status();
  absl::StatusOr<PortReservation> ports = PortReservation::Take(options.nodes + 1);
  if (!ports.ok()) return ports.status();
  absl::StatusOr<std::vector<LoopbackPairs>> times = LoopbackJob(options, **directory, *ports).Run();
  if (!times.ok()) return times.status();
  return Slowest(*times);
}

absl::Status MeasureBesideLine(LoopbackBenchmarkOptions options, std::ostream& out) {
  options.nodes = 2;
  const cpu_set_t own = OwnProcessors();
  for (int processors = 1; processors <= std::min(2, CPU_COUNT(&own)); ++processors) {
    const StayOn some(0, processors);
    const absl::StatusOr<LoopbackPairs> times = Measure(options);
    if (!times.ok()) return times.status();
    const LoopbackSummary summary = Summarize(*times);
    const double banyan_gbps = GbpsEachWay(options.megabytes, summary.banyan_seconds);
    const double gloo_gbps = GbpsEachWay(options.megabytes, summary.gloo_seconds);
    if (options.json) {
      out << absl::StreamFormat(
          "{\"line_gbps\":%d,\"processors\":%d,\"secured\":%s,\"banyan_gbps_each_way\":%.3f,"
          "\"gloo_gbps_each_way\":%.3f}\n",
          options.line_gbps, processors, options.insecure ? "false" : "true", banyan_gbps, gloo_gbps);
    } else {
      out << absl::StreamFormat(
          "loopback: line_gbps=%d processors=%d%s banyan_gbps_each_way=%.1f (%.0f%% of the line) gloo_ring=%.1f\n",
          options.line_gbps, processors, options.insecure ? " insecure" : "", banyan_gbps,
          100 * banyan_gbps / options.line_gbps, gloo_gbps);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunLoopbackBenchmark(const LoopbackBenchmarkOptions& options, std::ostream& out) {
  if (options.line_gbps > 0) return MeasureBesideLine(options, out);
  const absl::StatusOr<LoopbackPairs> times = Measure(options);
  if (!times.ok()) return times.status();
  Print(options, *times, out);
  return absl::OkStatus();
}

}  // namespace banyan
