#include "tools/wan_benchmark/contender_run.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/round_barrier.h"
#include "bench/timing.h"
#include "posix/child_process.h"
#include "posix/work_directory.h"
#include "sim/runs/simulation.h"
#include "tools/keygen/job_keys.h"
#include "tools/reports/status_text.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// --- bursts of others' traffic ---

// Longer than any run; whoever started it ends it.
constexpr absl::Duration kLength = absl::Hours(12);

std::string Seconds(absl::Duration time) { return absl::StrCat(absl::ToDoubleSeconds(time), "s"); }

}  // namespace

std::vector<ContenderResult::Link> MostLoaded(std::vector<ContenderResult::Link> links, const WanStatus& status,
                                              int count) {
  const auto load = [&status](const ContenderResult::Link& link) {
    const WanStatus::Link* known = status.FindLink(link.from, link.to);
    return known == nullptr || known->mbps <= 0 ? 0 : static_cast<double>(link.bytes) / known->mbps;
  };
  std::stable_sort(links.begin(), links.end(), [&load](const auto& a, const auto& b) { return load(a) > load(b); });
  links.resize(std::min<size_t>(links.size(), count));
  return links;
}

std::vector<std::string> TrafficArguments(const BenchPlace& place, const ContenderResult::Link& link, double mbps,
                                          const WanBursts& bursts) {
  std::vector<std::string> words = {place.banyan_program, "wan", "traffic", link.from, link.to};
  words.insert(words.end(), {"--rate", absl::StrCat(mbps), "--on", Seconds(bursts.on), "--off", Seconds(bursts.off)});
  words.insert(words.end(), {"--for", Seconds(kLength), "--dir", place.wan_directory});
  return words;
}

// --- rounds ---

namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(1);
// Between looks at the processes, which are system calls for each.
constexpr absl::Duration kCheckInterval = absl::Milliseconds(100);
constexpr absl::Duration kEndTime = absl::Seconds(10);
// For a last round that brings all that is missing.
constexpr absl::Duration kSettlingTime = absl::Minutes(5);
constexpr absl::Duration kStatusTime = absl::Seconds(5);
constexpr int kShownLogLines = 12;

class ContenderRun {
 public:
  ContenderRun(const Contender& contender, const ContenderRunOptions& options)
      : contender_(contender), options_(options) {
    result_.contender = contender;
  }

  ContenderResult Run() {
    result_.status = Start();
    if (result_.status.ok()) result_.status = RunRounds();
    End();
    return std::move(result_);
  }

 private:
  absl::Status Start() {
    absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-bench-wan");
    if (!directory.ok()) return directory.status();
    directory_ = *std::move(directory);
    EmulatedWanOptions wan_options = options_.wan;
    wan_options.directory = directory_->File("wan");
    wan_options.log_path = directory_->File("wan.log");
    absl::StatusOr<std::unique_ptr<EmulatedWan>> wan = EmulatedWan::Start(wan_options);
    if (!wan.ok()) return wan.status();
    wan_ = *std::move(wan);
    const absl::StatusOr<WanStatus> status = wan_->Status();
    if (!status.ok()) return status.status();
    FillPlace(*status);
    absl::StatusOr<std::unique_ptr<RoundBarrier>> gate =
        RoundBarrier::Create(place_.gate, static_cast<int>(place_.nodes.size()));
    if (!gate.ok()) return gate.status();
    gate_ = *std::move(gate);
    return StartProcesses();
  }

  void FillPlace(const WanStatus& status) {
    place_ = options_.place;
    place_.directory = directory_->path();
    place_.gate = directory_->File("gate");
    place_.wan_directory = directory_->File("wan");
    for (const WanStatus::Node& node : status.nodes) place_.nodes.emplace_back(node.name, node.address);
  }

  absl::Status StartProcesses() {
    std::filesystem::create_directory(directory_->File("rendezvous"));
    const ContenderSetup setup = MakeSetup(contender_, place_);
    for (const auto& [name, content] : setup.files) {
      if (absl::Status status = WriteFile(name, content); !status.ok()) return status;
    }
    for (const BenchProcess& process : setup.processes) {
      absl::StatusOr<std::unique_ptr<ChildProcess>> child =
          ChildProcess::Start({.name = process.name,
                               .arguments = InNode(place_, process),
                               .log_path = directory_->File(absl::StrCat(process.name, ".log"))});
      if (!child.ok()) return child.status();
      children_.push_back(*std::move(child));
    }
    return absl::OkStatus();
  }

  absl::Status WriteFile(const std::string& name, const std::string& content) {
    if (!place_.secured || name != kJobOverlayFile) return directory_->Write(name, content);
    return MakeJobKeys(content, name, directory_->path()).status();
  }

  absl::Status RunRounds() {
    if (absl::Status status = WaitForAll(1, absl::Now() + options_.start_limit); !status.ok()) {
      return absl::IsDeadlineExceeded(status)
                 ? absl::DeadlineExceededError(absl::StrCat("not ready after ", Text(options_.start_limit)))
                 : status;
    }
    absl::Status status = RunCountedRounds(options_.warm_up_rounds);
    if (status.ok() && options_.bursts.has_value()) status = RunInBursts(*options_.bursts);
    gate_->Close();
    return status;
  }

  // After so many that do not count.
  absl::Status RunCountedRounds(int64_t uncounted) {
    started_ = absl::Now();
    first_counted_ = next_round_ + uncounted;
    absl::Status status;
    while (status.ok() && IsToRun(next_round_)) status = RunRound(next_round_++);
    if (absl::IsDeadlineExceeded(status) && !result_.rounds.empty()) {
      result_.note = absl::StrCat("stopped after ", Text(options_.limit));
      status = absl::OkStatus();
    }
    status.Update(TakeLoad());
    return status;
  }

  absl::Status RunInBursts(const WanBursts& bursts) {
    const absl::StatusOr<WanStatus> status = wan_->Status();
    if (!status.ok()) return status.status();
    result_.quiet_rounds = std::exchange(result_.rounds, {});
    result_.loaded = bursts.loaded.empty() ? MostLoaded(result_.links, *status, bursts.links) : bursts.loaded;
    std::vector<std::unique_ptr<ChildProcess>> flows;
    for (const ContenderResult::Link& link : result_.loaded) {
      absl::StatusOr<std::unique_ptr<ChildProcess>> flow = ChildProcess::Start(
          {.name = absl::StrCat("traffic-", link.from, "-", link.to),
           .arguments =
               TrafficArguments(place_, link, bursts.part * status->FindLink(link.from, link.to)->mbps, bursts),
           .log_path = directory_->File(absl::StrCat("traffic-", link.from, "-", link.to, ".log"))});
      if (!flow.ok()) return flow.status();
      flows.push_back(*std::move(flow));
    }
    absl::Status rounds = RunCountedRounds(bursts.first_rounds);
    for (const std::unique_ptr<ChildProcess>& flow : flows) {
      if (rounds.ok() && !flow->running())
        rounds = absl::InternalError(absl::StrCat(flow->name(), " ended too early:\n", flow->LogTail(kShownLogLines)));
    }
    return rounds;
  }

  // Once a round has counted, the limit ends the rounds in good order too.
  bool IsToRun(int64_t round) const {
    const absl::Duration spent = absl::Now() - started_;
    const auto counted = static_cast<int64_t>(result_.rounds.size());
    if (counted > 0 && spent >= options_.limit) return false;
    return round < first_counted_ || counted < options_.rounds || spent < options_.least_time;
  }

  absl::Status RunRound(int64_t round) {
    const bool counts = round >= first_counted_;
    if (counts && result_.rounds.empty()) {
      if (absl::Status status = StartLoad(); !status.ok()) return status;
    }
    const double began_after_s = absl::ToDoubleSeconds(absl::Now() - started_);
    gate_->OpenRound(round);
    if (absl::Status status = WaitForAll(round + 1, started_ + options_.limit); !status.ok()) return status;
    const RoundSpan span = gate_->LastSpan();
    const double seconds = static_cast<double>(span.end_ns - span.start_ns) * 1e-9;
    if (counts) result_.rounds.push_back({round, CurrentPolicy(), seconds, began_after_s});
    const double all = static_cast<double>(options_.warm_up_rounds + options_.rounds);
    options_.progress(std::min(1.0, static_cast<double>(round) / all));
    return absl::OkStatus();
  }

  // Until every member is ready for the round. DEADLINE_EXCEEDED after the deadline.
  absl::Status WaitForAll(int64_t round, absl::Time deadline) {
    absl::Time next_check = absl::Now() + kCheckInterval;
    while (!gate_->AllArrived(round)) {
      absl::SleepFor(kLookInterval);
      if (absl::Now() < next_check) continue;
      next_check = absl::Now() + kCheckInterval;
      if (options_.stopped()) return absl::CancelledError("interrupted");
      if (absl::Status status = CheckProcesses(); !status.ok()) return status;
      if (absl::Now() >= deadline) {
        return absl::DeadlineExceededError(absl::StrCat("no round within ", Text(options_.limit)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckProcesses() {
    for (const std::unique_ptr<ChildProcess>& child : children_) {
      if (child->running()) continue;
      const std::string failure = child->failure().empty() ? "exit code 0" : child->failure();
      return absl::InternalError(absl::StrCat(child->name(), " ended too early (", failure, "); the end of its log:\n",
                                              child->LogTail(kShownLogLines)));
    }
    return absl::OkStatus();
  }

  absl::Status StartLoad() {
    absl::StatusOr<WanStatus> status = wan_->Status();
    if (!status.ok()) return status.status();
    before_ = *std::move(status);
    nodes_cpu_before_ = wan_->NodesCpuSeconds(before_);
    return absl::OkStatus();
  }

  // What links and processors have done in the rounds that count.
  absl::Status TakeLoad() {
    if (result_.rounds.empty()) return absl::OkStatus();
    const absl::StatusOr<WanStatus> after = wan_->Status();
    if (!after.ok()) return after.status();
    const double seconds = after->uptime_seconds - before_.uptime_seconds;
    result_.links = LinkBytesBetween(before_, *after);
    result_.nodes_cores = (wan_->NodesCpuSeconds(*after) - nodes_cpu_before_) / seconds;
    result_.forwarder_cores = (after->forwarder.cpu_seconds - before_.forwarder.cpu_seconds) / seconds;
    return absl::OkStatus();
  }

  // 0 when the scheduler does not tell.
  int64_t CurrentPolicy() {
    if (contender_.system != ContenderSystem::kBanyan) return 0;
    BenchProcess status = {"status",
                           place_.scheduler_node,
                           {place_.banyan_program, "status", "--json", "--scheduler", SchedulerAddress(place_)}};
    if (place_.secured) {
      const std::string key = directory_->File(absl::StrCat(kObserverKeyOwner, ".key"));
      status.arguments.insert(status.arguments.end(), {"--key", key});
    }
    const absl::StatusOr<std::unique_ptr<ChildProcess>> child =
        ChildProcess::Start({.name = status.name,
                             .arguments = InNode(place_, status),
                             .log_path = directory_->File("status.log"),
                             .capture_output = true});
    if (!child.ok()) return 0;
    std::string answer;
    const absl::Time deadline = absl::Now() + kStatusTime;
    // Its output is read meanwhile, because a pipe holds only so much.
    while ((*child)->output_fd() >= 0 && absl::Now() < deadline) {
      for (const std::string& line : (*child)->TakeLines()) answer += line;
      absl::SleepFor(kLookInterval);
    }
    const absl::StatusOr<JobStatus> read = ParseStatus(answer);
    return read.ok() ? static_cast<int64_t>(read->policy) : 0;
  }

  // Members end by themselves once the gate is closed, and what they count on after them.
  void End() {
    const bool settles = contender_.is_lossy();
    const absl::Time deadline = absl::Now() + (settles ? kSettlingTime : kEndTime);
    if (gate_ != nullptr && result_.status.ok()) {
      for (const std::unique_ptr<ChildProcess>& child : children_) {
        if (!IsDaemon(*child)) child->WaitUntilEnded(deadline - absl::Now());
      }
      if (settles) result_.status = CheckSettled();
    }
    for (const std::unique_ptr<ChildProcess>& child : children_) child->Signal(SIGTERM);
    wan_.reset();
    children_.clear();
  }

  // Each member has looked whether something is missing, and said what its results were.
  absl::Status CheckSettled() const {
    std::set<std::string> results;
    for (const std::unique_ptr<ChildProcess>& child : children_) {
      if (IsDaemon(*child)) continue;
      if (child->running())
        return absl::DeadlineExceededError(absl::StrCat(child->name(), ": no flush within ", Text(kSettlingTime)));
      if (!child->failure().empty()) {
        return absl::DataLossError(
            absl::StrCat(child->name(), ": ", child->failure(), "\n", child->LogTail(kShownLogLines)));
      }
      results.insert(child->LogTail(1));
    }
    if (results.size() == 1) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("expected identical replicas, got ", results.size(), " different ones"));
  }

  static bool IsDaemon(const ChildProcess& child) {
    return child.name() == "scheduler" || child.name().rfind("node-", 0) == 0;
  }

  static std::string Text(absl::Duration duration) { return absl::FormatDuration(duration); }

  const Contender& contender_;
  const ContenderRunOptions& options_;
  BenchPlace place_;
  ContenderResult result_;
  std::unique_ptr<WorkDirectory> directory_;
  std::unique_ptr<EmulatedWan> wan_;
  std::unique_ptr<RoundBarrier> gate_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
  absl::Time started_;
  int64_t next_round_ = 1;
  int64_t first_counted_ = 1;
  WanStatus before_;
  double nodes_cpu_before_ = 0;
};

}  // namespace

ContenderResult RunContender(const Contender& contender, const ContenderRunOptions& options) {
  return ContenderRun(contender, options).Run();
}

// --- in simulated time ---

absl::StatusOr<double> SimulatedSeconds(const Contender& contender, const BenchPlace& place,
                                        const ContenderSimulationOptions& options) {
  if (contender.votes != Contender::Votes::kNone)
    return absl::UnimplementedError("simulated rounds here are of floats");
  // Who is where does not matter here.
  const absl::StatusOr<OverlayConfig> file = ParseOverlay(place.overlay, contender.name);
  if (!file.ok()) return file.status();
  BenchPlace anywhere = place;
  anywhere.nodes.clear();
  for (const NodeConfig& node : file->nodes) {
    anywhere.nodes.emplace_back(node.name, absl::StrCat("10.0.0.", anywhere.nodes.size() + 1));
  }
  Contender knowing = contender;
  knowing.told = ToldLinks();
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(knowing, anywhere), contender.name);
  if (!overlay.ok()) return overlay.status();
  SimulationOptions simulation;
  simulation.overlay = *std::move(overlay);
  simulation.told = contender.told;
  simulation.tensor_elements = {place.elements};
  simulation.rounds = options.warm_up_rounds + options.rounds;
  simulation.link_redraw = options.redraw;
  simulation.headers = true;
  const absl::StatusOr<SimulationReport> report = Simulate(simulation);
  if (!report.ok()) return report.status();
  std::vector<double> seconds;
  for (size_t i = options.warm_up_rounds; i < report->rounds.size(); ++i) {
    seconds.push_back(absl::ToDoubleSeconds(report->rounds[i].synchronisation));
  }
  return Median(std::move(seconds));
}

}  // namespace banyan
