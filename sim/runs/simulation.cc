#include "sim/runs/simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/cluster.h"
#include "sim/runs/faults.h"
#include "topology/evaluation/round_time.h"
#include "topology/evaluation/simple_bound.h"
#include "topology/fit/model_fit.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_network.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// All nodes' vectors together; more would only cost memory.
constexpr int64_t kMostCarriedElements = int64_t{1} << 21;
// Vectors may be carried at more of their size, up to this, where the job's chunks would otherwise be too small to
// carry.
constexpr int64_t kMostFittedElements = int64_t{1} << 25;
// A chunk keeps at least these, so that errors in single elements have a place to show. Its header does not shrink with
// it, and is to take little of what the cores let be on its way.
constexpr int64_t kLeastChunkElements = 128;
constexpr absl::Duration kLongestSimulation = absl::Hours(24 * 365);

// Heartbeats go on while a round waits for its links, and are simulated as well.
constexpr absl::Duration kLongestRound = absl::Hours(24);
constexpr int64_t kEventsBetweenProgress = 1 << 14;

// The most elements that a chunk of the job will have: planners choose smaller ones where these suit the model. Those
// of the overlay where no plan can be made, or where it is not the planner that chooses.
int64_t PlannedChunkElements(const SimulationOptions& options) {
  const NetworkView view = MakeNetworkView(options.overlay);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(options.overlay, view);
  if (!config.ok()) return options.overlay.chunks.max_elements;
  config->tensors.assign(options.tensor_elements.begin(), options.tensor_elements.end());
  if (!FitsTreesToModel(*config)) return options.overlay.chunks.max_elements;
  const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  return policy.ok() ? policy->chunk_max_elements : options.overlay.chunks.max_elements;
}

int64_t ChooseScale(const SimulationOptions& options, int64_t elements) {
  const int64_t most = std::max<int64_t>(1, options.overlay.chunks.max_elements / kLeastChunkElements);
  int64_t scale = 1;
  while (2 * scale <= most &&
         elements / scale * static_cast<int64_t>(options.overlay.nodes.size()) > kMostCarriedElements) {
    scale *= 2;
  }
  // What a job plans that is told less is not known before.
  if (scale == 1 || options.told.kind != ToldLinks::Kind::kRates || options.hides_caps) return scale;
  // The cores' planner chooses no chunks of fewer elements than it would at full size.
  const int64_t planned = PlannedChunkElements(options);
  if (planned == options.overlay.chunks.max_elements) return scale;
  const int64_t all = elements * static_cast<int64_t>(options.overlay.nodes.size());
  while (scale > 1 && planned / scale < kLeastFittedElements && 2 * (all / scale) <= kMostFittedElements) scale /= 2;
  return scale;
}

// Which policy governed each round of the first key.
class RoundPolicies : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* answer = std::get_if<PolicyAnswer>(&sent.message);
    if (answer == nullptr) return;
    for (const PolicyAnswer::Binding& binding : answer->bindings) {
      for (Round round = binding.first_round; round <= binding.last_round; round = round.Next()) {
        policies_[round] = binding.policy;
      }
    }
  }
  PolicyVersion Of(Round round) const {
    const auto found = policies_.find(round);
    return found == policies_.end() ? PolicyVersion() : found->second;
  }

 private:
  std::map<Round, PolicyVersion> policies_;
};

// How much of what links carried was on auxiliary paths.
class AuxiliaryShare : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk == nullptr || chunk->id.round == Round(0)) return;
    bytes_ += sent.size_bytes;
    if (chunk->is_auxiliary) auxiliary_bytes_ += sent.size_bytes;
  }
  double share() const { return bytes_ == 0 ? 0 : static_cast<double>(auxiliary_bytes_) / static_cast<double>(bytes_); }

 private:
  int64_t bytes_ = 0;
  int64_t auxiliary_bytes_ = 0;
};

double ModelBits(const SimulationOptions& options) {
  double bits = 0;
  for (int64_t elements : options.tensor_elements) bits += 32.0 * static_cast<double>(elements);
  return bits;
}

class SimulationRun {
 public:
  SimulationRun(const SimulationOptions& options, const Policy& policy)
      : options_(options), policy_(policy), cluster_(MakeClusterOptions(options)) {
    cluster_.simulator()->network()->AddObserver(&policies_);
    cluster_.simulator()->network()->AddObserver(&auxiliary_paths_);
  }

  absl::StatusOr<SimulationReport> Run() {
    std::unique_ptr<Faults> faults;
    if (options_.faults) faults = std::make_unique<Faults>(ChooseFaults(), options_.seed, &cluster_);
    const Timestamp limit = Timestamp() + kLongestSimulation;
    RunUntil([this] { return !cluster_.clock().rounds().empty(); }, limit);
    std::vector<int64_t> bytes_before;
    for (const auto& [ends, link] : cluster_.simulator()->network()->links()) bytes_before.push_back(BytesOf(link));
    auto unfinished = cluster_.workers().begin();
    RunUntil(
        [this, &unfinished] {
          while (unfinished != cluster_.workers().end() && unfinished->second->finished()) ++unfinished;
          return unfinished == cluster_.workers().end();
        },
        limit);
    if (const absl::Status status = Outcome(); !status.ok()) return status;
    return MakeReport(bytes_before);
  }

 private:
  FaultOptions ChooseFaults() const {
    FaultOptions faults;
    const double round_seconds = ModelBits(options_) / policy_.rate_bps;
    faults.first = absl::Seconds(1);
    faults.last = faults.first + absl::Seconds(std::min(1e6, 1 + round_seconds * static_cast<double>(options_.rounds)));
    return faults;
  }

  static int64_t BytesOf(const SimulatedLink& link) { return link.data_bytes() + link.control_bytes(); }

  void RunUntil(const std::function<bool()>& done, Timestamp limit) {
    cluster_.simulator()->RunUntil([&] { return TellProgress() || done(); }, limit);
  }

  // True when the job has failed: nothing more will come.
  bool TellProgress() {
    if (++steps_ % kEventsBetweenProgress == 0 && options_.progress) {
      const double all = static_cast<double>(cluster_.workers().size() * options_.tensor_elements.size()) *
                         static_cast<double>(options_.rounds + 1);
      options_.progress(static_cast<double>(cluster_.results().results()) / all);
    }
    return !cluster_.failures().empty();
  }

  absl::Status Outcome() {
    if (!cluster_.failures().empty()) {
      const Cluster::Failure& failure = cluster_.failures().front();
      return absl::Status(failure.status.code(), absl::StrCat(failure.call, ": ", failure.status.message()));
    }
    if (cluster_.rounds_done() < options_.rounds) {
      return absl::InternalError(absl::StrCat("nothing happens any more, and there wait: ", cluster_.WhoWaits()));
    }
    if (!cluster_.violations()->empty()) return absl::InternalError(cluster_.violations()->Report());
    return absl::OkStatus();
  }

  SimulationReport MakeReport(const std::vector<int64_t>& bytes_before) {
    SimulationReport report;
    std::vector<absl::Duration> times;
    std::set<PolicyVersion> versions;
    for (const auto& [round, clock] : cluster_.clock().rounds()) {
      report.rounds.push_back({round, policies_.Of(round), clock.Synchronisation()});
      versions.insert(policies_.Of(round));
      times.push_back(clock.Synchronisation());
    }
    std::sort(times.begin(), times.end());
    report.synchronisation_p50 = times[times.size() / 2];
    report.policies = versions.size();
    report.auxiliary_share = auxiliary_paths_.share();
    report.model_bits = ModelBits(options_);
    report.rate_bps = report.model_bits / absl::ToDoubleSeconds(report.synchronisation_p50);
    report.plan_rate_bps = policy_.rate_bps;
    report.replicas_identical = cluster_.results().replicas_identical();
    size_t index = 0;
    for (const auto& [ends, link] : cluster_.simulator()->network()->links()) {
      report.links.push_back({ends.first, ends.second, BytesOf(link) - bytes_before[index++], link.rate_bps()});
    }
    report.scale = cluster_.scale();
    report.events = cluster_.simulator()->trace()->events();
    report.trace_hash = cluster_.simulator()->trace()->hash();
    report.simulated = cluster_.simulator()->now() - Timestamp();
    return report;
  }

  const SimulationOptions& options_;
  const Policy& policy_;
  RoundPolicies policies_;
  AuxiliaryShare auxiliary_paths_;
  Cluster cluster_;
  int64_t steps_ = 0;
};

// FAILED_PRECONDITION where links or caps of hosts let next to nothing through.
absl::Status CheckRoundLength(const SimulationOptions& options, double rate_bps) {
  const absl::Duration round = absl::Seconds(ModelBits(options) / rate_bps);
  if (round <= kLongestRound) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a round would take ", absl::FormatDuration(absl::Trunc(round, absl::Seconds(1))), " at the ",
                   rate_bps / 1e6, " Mbit/s that the plan reaches; expected at most a day: is a rate of a link, or a ",
                   "node's up_mbps or down_mbps, mistaken?"));
}

}  // namespace

ClusterOptions MakeClusterOptions(const SimulationOptions& options) {
  ClusterOptions cluster;
  cluster.seed = options.seed;
  cluster.overlay = options.overlay;
  cluster.told = AsTold(options.hides_caps ? WithoutCaps(options.overlay) : options.overlay, options.told);
  int64_t elements = 0;
  for (int64_t tensor : options.tensor_elements) elements += tensor;
  cluster.scale = ChooseScale(options, elements);
  for (size_t i = 0; i < options.tensor_elements.size(); ++i) {
    const int64_t carried = (options.tensor_elements[i] + cluster.scale - 1) / cluster.scale;
    cluster.plan.tensors.push_back({absl::StrCat("tensor", i), carried, 0});
  }
  cluster.plan.rounds = options.rounds;
  cluster.plan.barrier_every = 1;  // or a member that has its result early would give the next round a start
  cluster.plan.seed = options.seed;
  cluster.plan.compute_time = options.compute_time;
  cluster.plan.first_compute_time = options.first_compute_time;
  cluster.link_changes = options.link_changes;
  cluster.link_redraw = options.link_redraw;
  cluster.cross_traffic = options.cross_traffic;
  cluster.most_drift_ppm = options.most_drift_ppm;
  cluster.measurement_noise = options.measurement_noise;
  cluster.links_have_headers = options.headers;
  cluster.check_messages = false;
  cluster.recorders = options.recorders;
  if (options.wrap_scheduler) {
    cluster.wrap_core = [wrap = options.wrap_scheduler](NodeId id, std::unique_ptr<Protocol> core) {
      return id == kSchedulerNode ? wrap(std::move(core)) : std::move(core);
    };
  }
  return cluster;
}

std::vector<double> RoundSeconds(const SimulationReport& report) {
  std::vector<double> seconds;
  for (const SimulationReport::RoundReport& round : report.rounds) {
    seconds.push_back(absl::ToDoubleSeconds(round.synchronisation));
  }
  return seconds;
}

absl::StatusOr<SimulationReport> Simulate(const SimulationOptions& options) {
  if (options.tensor_elements.empty() || options.rounds == 0) {
    return absl::InvalidArgumentError("there must be a tensor and a round to simulate");
  }
  const NetworkView view = MakeNetworkView(options.overlay);
  const size_t pairs = view.nodes().size() * (view.nodes().size() - 1);
  if (options.told.kind == ToldLinks::Kind::kNodes && view.links().size() < pairs) {
    return absl::InvalidArgumentError(
        "a job that is told the nodes alone uses every pair of them; the simulator has no routers, and expected an "
        "overlay with a link for each pair");
  }
  const absl::StatusOr<PlannerConfig> config = MakePlannerConfig(options.overlay, view);
  if (!config.ok()) return config.status();
  const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  if (!policy.ok()) return policy.status();
  if (absl::Status status = CheckRoundLength(options, policy->rate_bps); !status.ok()) return status;
  absl::StatusOr<SimulationReport> report = SimulationRun(options, *policy).Run();
  if (!report.ok()) return report;
  report->bound_bps = std::min(policy->bound_bps, RateBoundBps(view));
  report->least_round = LeastRoundTime(view, report->model_bits / kBitsPerElement, report->bound_bps);
  return report;
}

}  // namespace banyan
