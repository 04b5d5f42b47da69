#include "sim/runs/scenario.h"

#include <algorithm>
#include <array>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/check.h"
#include "core/random.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"
#include "sim/checkers/policy_checker.h"
#include "sim/network/simulated_network.h"
#include "sim/overlays.h"
#include "sim/simulator.h"
#include "sim/traffic_observer.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

// Breaks auxiliary paths in the middle: loses the connections between a relay and the next node right after a chunk on
// an auxiliary path was put on its way there. Thread-compatible; outlives the run.
class PathBreaker : public TrafficObserver {
 public:
  // At most `breaks` times, at each relayed chunk with the probability `chance`. Registers with the network of
  // `simulator`, which outlives this.
  PathBreaker(int breaks, double chance, uint64_t seed, Simulator* simulator)
      : breaks_left_(breaks), chance_(chance), random_(seed), simulator_(simulator) {
    if (breaks > 0) simulator->network()->AddObserver(this);
  }

  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    const bool is_relayed = chunk != nullptr && chunk->is_auxiliary && chunk->route.hop > 0;
    if (!is_relayed || breaks_left_ == 0 || !random_.Chance(chance_)) return;
    --breaks_left_;
    const absl::Duration delay = absl::Microseconds(random_.Between(0, 2000));
    simulator_->agenda()->CallAfter(delay, [this, relay = sent.from, next = sent.to] { Break(relay, next); });
  }

 private:
  void Break(NodeId relay, NodeId next) {
    LossOptions loss;
    loss.opener_notices = absl::Microseconds(random_.Between(0, 100000));
    if (random_.Chance(0.5)) loss.acceptor_notices = absl::Microseconds(random_.Between(0, 100000));
    for (ConnectionIndex connection : simulator_->network()->ConnectionsInUse(relay, next)) {
      simulator_->network()->Lose(connection, loss);
    }
  }

  int breaks_left_;
  const double chance_;
  Random random_;
  Simulator* const simulator_;
};

constexpr absl::Duration kTrainingLimit = absl::Seconds(900);
constexpr absl::Duration kStoppingLimit = absl::Seconds(30);
constexpr int64_t kMostChunks = 30;  // of one tensor
constexpr double kBreakChance = 0.1;

template <typename T, size_t N>
T OneOf(const std::array<T, N>& choices, Random* random) {
  return choices[random->Below(N)];
}

OverlayConfig DrawOverlay(Random* random) {
  OverlayShape shape;
  shape.nodes = static_cast<int>(random->Between(2, random->Chance(0.2) ? 9 : 5));
  // Sparse ones have tree edges without a link, which are relayed.
  shape.links = static_cast<int>(random->Between(shape.nodes - 1, random->Chance(0.5) ? shape.nodes : 2 * shape.nodes));
  shape.least_bps = 2e5;
  shape.most_bps = OneOf<double, 3>({5e5, 5e6, 1e8}, random);
  shape.least_delay = absl::Milliseconds(1);
  shape.most_delay = absl::Milliseconds(30);
  OverlayConfig overlay = RandomOverlay(shape, random);
  for (NodeConfig& node : overlay.nodes) {
    if (random->Chance(0.2)) node.workers = static_cast<int>(random->Between(2, 3));
    if (random->Chance(0.1)) node.down_cap_bps = 1e6;
    if (random->Chance(0.1)) node.up_cap_bps = 1e6;
  }
  return overlay;
}

// One seed of so many plans with `packed`.
constexpr uint64_t kSeedsPerPacked = 5;

void DrawSections(OverlayConfig* overlay, Random* random) {
  const auto nodes = static_cast<int>(overlay->nodes.size());
  overlay->topology.planner = OneOf<const char*, 6>({"fapt", "fapt", "star", "star", "bkt", "mst"}, random);
  if (random->Chance(0.4)) overlay->topology.roots = static_cast<int>(random->Between(1, nodes));
  overlay->chunks.max_elements = random->Between(1, OneOf<int64_t, 3>({8, 40, 200}, random));
  overlay->aggregation.op =
      OneOf<AggregationOp, 6>({AggregationOp::kSum, AggregationOp::kSum, AggregationOp::kSum, AggregationOp::kMean,
                               AggregationOp::kMomentum, AggregationOp::kAdam},
                              random);
  const int64_t chunk_bytes = overlay->chunks.max_elements * 4;
  if (random->Chance(0.5)) overlay->transport.connections = static_cast<int>(random->Between(1, 3));
  if (random->Chance(0.5)) overlay->transport.window_bytes = random->Between(1, 6 * (chunk_bytes + 100));
  overlay->transport.early_bytes = random->Chance(0.7) ? random->Between(1, 4 * chunk_bytes) : 1000000;
  overlay->transport.relay_bytes = random->Chance(0.7) ? random->Between(1, 12 * chunk_bytes) : 1000000;
  overlay->policy.lease = OneOf<absl::Duration, 3>({absl::ZeroDuration(), absl::Seconds(1), absl::Minutes(2)}, random);
  overlay->policy.rounds_in_flight = static_cast<int>(random->Between(1, 2));
}

// One seed of so many compresses.
constexpr uint64_t kSeedsPerCompression = 4;

// Any codec, under any controller where it has a ratio.
void DrawCompression(OverlayConfig* overlay, Random* random) {
  CompressionRule rule;
  const std::vector<CodecId> codecs = AllCodecIds();
  rule.codec = codecs[random->Below(codecs.size())];
  if (TraitsOf(rule.codec)->is_sparse) {
    const std::vector<RatioControllerKind> controllers = AllRatioControllerKinds();
    rule.controller = controllers[random->Below(controllers.size())];
    if (rule.controller == RatioControllerKind::kFixed) {
      rule.numbers = {{"ratio", OneOf<double, 4>({0.01, 0.1, 0.5, 1}, random)}};
    }
  }
  if (rule.codec == CodecId::kTopK && random->Chance(0.3)) rule.selection = TopKSelection::kSampled;
  if (random->Chance(0.3)) rule.error_feedback = random->Chance(0.7);
  if (random->Chance(0.3)) rule.keys = "t1*";
  overlay->compression.rules = {rule};
  overlay->compression.least_elements = random->Between(1, 50);
}

// NetSenseML as a whole, at ratios with which each of its steps happens or not, for workers that tell their weights.
void DrawNetSense(OverlayConfig* overlay, TrainingPlan* plan, Random* random) {
  CompressionRule& rule = overlay->compression.rules.front();
  rule.codec = CodecId::kTopK;
  rule.controller = RatioControllerKind::kNetSense;
  rule.numbers = {{"start_ratio", OneOf<double, 3>({0.01, 0.2, 0.6}, random)},
                  {"quantize_below", OneOf<double, 4>({0, 0.1, 0.5, 1}, random)},
                  {"quantize_rms", OneOf<double, 3>({0, 1e-6, 600}, random)},
                  {"prune_factor", OneOf<double, 3>({0, 0.2, 0.5}, random)}};
  plan->weights_every = random->Below(4);
}

TrainingPlan DrawPlan(const OverlayConfig& overlay, Random* random) {
  TrainingPlan plan;
  plan.seed = random->Next();
  const int64_t tensors = random->Between(1, 4);
  for (int64_t i = 0; i < tensors; ++i) {
    const int64_t elements = random->Between(1, OneOf<int64_t, 3>({4, 100, 600}, random));
    plan.tensors.push_back({absl::StrCat("t", i), elements, static_cast<int32_t>(random->Between(-2, 2))});
  }
  plan.rounds = static_cast<uint64_t>(random->Between(1, 8));
  plan.compute_time = absl::Milliseconds(random->Between(0, 50));
  plan.compute_spread = absl::Milliseconds(random->Between(0, 300));
  plan.tensors_apart = random->Chance(0.4);
  const bool has_optimizer =
      overlay.aggregation.op != AggregationOp::kSum && overlay.aggregation.op != AggregationOp::kMean;
  if (plan.tensors_apart && !has_optimizer)
    plan.rounds_in_flight = static_cast<uint32_t>(overlay.policy.rounds_in_flight);
  plan.pull_apart = plan.rounds_in_flight == 1 && random->Chance(0.2);
  if (random->Chance(0.2)) plan.broadcast_every = static_cast<uint64_t>(random->Between(1, 3));
  if (!plan.tensors_apart && random->Chance(0.2)) plan.barrier_every = static_cast<uint64_t>(random->Between(1, 3));
  return plan;
}

// Narrow windows with hundreds of chunks would simulate hours of waiting.
void LimitChunks(const TrainingPlan& plan, OverlayConfig* overlay) {
  for (const TrainingPlan::Tensor& tensor : plan.tensors) {
    overlay->chunks.max_elements = std::max(overlay->chunks.max_elements, tensor.elements / kMostChunks);
  }
}

// What `banyan reconfigure` may ask for while the job runs.
std::string DrawOrder(OverlayConfig overlay, int64_t least_elements, Random* random) {
  if (random->Chance(0.1)) return "topology: {planner: oak}\n";  // is refused
  const auto nodes = static_cast<int>(overlay.nodes.size());
  if (random->Chance(0.6)) {
    overlay.topology.planner = OneOf<const char*, 4>({"fapt", "star", "bkt", "mst"}, random);
    overlay.topology.root.reset();
  }
  if (random->Chance(0.5)) overlay.topology.roots = static_cast<int>(random->Between(1, nodes));
  if (random->Chance(0.5)) overlay.multipath.enabled = !overlay.multipath.enabled;
  if (random->Chance(0.3)) overlay.multipath.primary_busy_bound = static_cast<int>(random->Between(0, 4));
  if (random->Chance(0.3)) overlay.multipath.auxiliary_queue_length = static_cast<int>(random->Between(0, 6));
  if (random->Chance(0.3)) overlay.awareness.enabled = !overlay.awareness.enabled;
  if (random->Chance(0.4)) {
    overlay.chunks.max_elements =
        random->Between(std::min(least_elements, overlay.chunks.max_elements), overlay.chunks.max_elements);
  }
  return WriteOverlay(overlay);
}

int64_t LeastElements(const TrainingPlan& plan) {
  int64_t least = 1;
  for (const TrainingPlan::Tensor& tensor : plan.tensors) least = std::max(least, tensor.elements / kMostChunks);
  return least;
}

// Measures in time for jobs of a few seconds.
void DrawAwareness(OverlayConfig* overlay, Random* random) {
  overlay->membership.heartbeat =
      OneOf<absl::Duration, 3>({absl::Milliseconds(50), absl::Milliseconds(200), absl::Milliseconds(1000)}, random);
  overlay->topology.update_interval = absl::Milliseconds(random->Between(50, 1500));
  overlay->topology.update_rate = random->Chance(0.3) ? 0.2 : 0;
  overlay->awareness.enabled = random->Chance(0.9);
  overlay->awareness.probe_chunk_bytes = random->Between(1, 400);
  overlay->awareness.probe_chunks = static_cast<int>(random->Between(1, 4));
  overlay->multipath.enabled = random->Chance(0.5);
  overlay->multipath.primary_busy_bound = static_cast<int>(random->Between(0, 3));
  overlay->multipath.auxiliary_queue_length = static_cast<int>(random->Between(0, 6));
  if (random->Chance(0.3)) overlay->policy.lease = absl::Seconds(random->Between(0, 5));
}

// Four jobs of five have links and policies that change.
void DrawAdaptation(Random* random, Scenario* scenario) {
  ClusterOptions& cluster = scenario->cluster;
  cluster.most_drift_ppm = random->Chance(0.7) ? 200 : 0;
  if (random->Chance(0.2)) return;
  DrawAwareness(&cluster.overlay, random);
  cluster.plan.rounds += static_cast<uint64_t>(random->Between(4, 20));
  if (random->Chance(0.8)) {
    LinkRedraw redraw;
    redraw.period = absl::Milliseconds(random->Between(200, 2000));
    redraw.low_bps = 2e5;
    redraw.high_bps = OneOf<double, 3>({1e6, 1e7, 1e8}, random);
    redraw.fraction = 0.2 + 0.8 * random->Unit();
    redraw.seed = random->Next();
    cluster.link_redraw = redraw;
  }
  // The operator's file and the scheduler's agree to the last digit.
  const absl::StatusOr<OverlayConfig> reread = ParseOverlay(WriteOverlay(ScaleOverlay(cluster.overlay, 1)), "job.yaml");
  BANYAN_CHECK(reread.ok());
  cluster.overlay = *reread;
  if (random->Chance(0.85)) {
    absl::Duration at = absl::Milliseconds(200);
    for (int64_t left = random->Between(2, 12); left > 0; --left) {
      at += absl::Milliseconds(random->Between(0, 700));
      cluster.orders.push_back({at, DrawOrder(cluster.overlay, LeastElements(cluster.plan), random)});
    }
  }
  scenario->path_breaks = random->Chance(0.5) ? static_cast<int>(random->Between(1, 4)) : 0;
}

size_t AcceptedOrders(const Cluster& cluster) {
  if (cluster.job_operator() == nullptr) return 0;
  const std::vector<OperatorReply>& replies = cluster.job_operator()->replies();
  return static_cast<size_t>(
      std::count_if(replies.begin(), replies.end(), [](const OperatorReply& reply) { return reply.accepted; }));
}

}  // namespace

Scenario MakeScenario(uint64_t seed) {
  Random random(seed);
  Scenario scenario;
  ClusterOptions& cluster = scenario.cluster;
  cluster.seed = random.Next();
  cluster.overlay = DrawOverlay(&random);
  DrawSections(&cluster.overlay, &random);
  cluster.plan = DrawPlan(cluster.overlay, &random);
  LimitChunks(cluster.plan, &cluster.overlay);
  // By the seed alone, so that the seeds that once failed stay what they were.
  if (seed % kSeedsPerPacked == kSeedsPerPacked - 2) {
    cluster.overlay.topology.planner = "packed";
    cluster.overlay.chunks.min_elements = 1;
  }
  if (seed % kSeedsPerCompression == kSeedsPerCompression - 1) {
    Random compression(seed);
    DrawCompression(&cluster.overlay, &compression);
    cluster.plan.flush_every = static_cast<uint64_t>(compression.Between(1, 4));
    if (compression.Chance(0.4)) DrawNetSense(&cluster.overlay, &cluster.plan, &compression);
  }
  cluster.link_jitter = absl::Milliseconds(random.Chance(0.5) ? random.Between(0, 40) : 0);
  cluster.network.scheduler_delay = absl::Milliseconds(random.Between(0, 40));
  cluster.network.scheduler_jitter = absl::Milliseconds(random.Between(0, 20));
  cluster.network.duplicate_chance = random.Chance(0.3) ? 0.05 : 0;
  cluster.process.compute_threads = static_cast<uint32_t>(random.Between(1, 3));
  cluster.process.memory_bytes_per_second = OneOf<double, 2>({1e6, 5e9}, &random);
  cluster.start_within = absl::Milliseconds(random.Between(0, 500));
  random.Next();  // was drawn for once: each seed stays the job that it is
  scenario.faults.faults = random.Chance(0.15) ? 0 : static_cast<int>(random.Between(1, 25));
  scenario.faults.last = OneOf<absl::Duration, 3>({absl::Seconds(1), absl::Seconds(2), absl::Seconds(4)}, &random);
  scenario.fault_seed = random.Next();
  Random adaptation = random.Fork();
  DrawAdaptation(&adaptation, &scenario);
  cluster.plan.barrier_first = random.Chance(0.2);
  return scenario;
}

ScenarioOutcome RunScenario(const Scenario& scenario, const Trace::Sink& sink) {
  Cluster cluster(scenario.cluster);
  cluster.simulator()->trace()->set_sink(sink);
  const Faults faults(scenario.faults, scenario.fault_seed, &cluster);
  PolicyCount policies;
  cluster.simulator()->network()->AddObserver(&policies);
  const PathBreaker breaker(scenario.path_breaks, kBreakChance, scenario.fault_seed + 1, cluster.simulator());
  const bool trained = cluster.RunUntilTrained(Timestamp() + kTrainingLimit);
  if (trained) cluster.StopAll(cluster.simulator()->now() + kStoppingLimit);
  ScenarioOutcome outcome;
  outcome.trace_hash = cluster.simulator()->trace()->hash();
  outcome.events = cluster.simulator()->trace()->events();
  outcome.results = cluster.results().results();
  outcome.policies = policies.count();
  outcome.auxiliary_paths = cluster.routes()->auxiliary_chunks();
  outcome.reconfigured = AcceptedOrders(cluster);
  outcome.violations = cluster.violations()->Report();
  return outcome;
}

}  // namespace banyan
