#include "sim/faults/fault_scenario.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compression/compression_rules.h"
#include "core/check.h"
#include "proto/compression/codec_traits.h"
#include "sim/cluster.h"
#include "sim/faults/fault_injector.h"
#include "sim/faults/fault_plan.h"
#include "sim/overlays.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr absl::Duration kHeartbeat = absl::Milliseconds(500);
constexpr absl::Duration kLostAfter = absl::Seconds(2);
constexpr absl::Duration kStoppingLimit = absl::Seconds(60);
constexpr double kLeastBps = 1e6;
constexpr uint64_t kStandbySeed = 0x57A4DB1;
constexpr double kWithStandby = 0.3;
constexpr uint64_t kSilenceSeed = 0x511E7CE;
constexpr double kWithSilences = 0.3;
constexpr int64_t kMostElements = 300;  // of a tensor
constexpr int64_t kMostChunks = 20;     // of a tensor
constexpr int64_t kMostStateBytes = 20'000;
constexpr uint64_t kStateSeed = 0x57A7E;
constexpr uint64_t kTrimmingSeed = 0x7a11;
constexpr uint64_t kQuorumSeed = 0x9000;
constexpr uint64_t kWithQuorumSeed = 0x9001;
constexpr double kWithQuorum = 0.2;
constexpr uint64_t kFixedOrderSeed = 0xF1;
constexpr double kWithFixedOrder = 0.3;
constexpr uint64_t kOptimizerSeed = 0x0971;
constexpr uint64_t kPrecisionSeed = 0xB175;
constexpr uint64_t kMeanVotesSeed = 0x3EA2;
constexpr uint64_t kSlicesSeed = 0x511C;
constexpr double kWithOptimizer = 0.25;
constexpr uint64_t kRoughSeed = 0x206;
constexpr uint64_t kStopSeed = 0x5709;
constexpr double kWithStop = 0.1;
// Of a tensor beyond the first few, as headers take.
constexpr int64_t kHeaderElements = 60;
constexpr size_t kFewTensors = 3;
constexpr size_t kManyTensors = 100;

template <typename T, size_t N>
T OneOf(const std::array<T, N>& choices, Random* random) {
  return choices[random->Below(N)];
}

OverlayConfig DrawOverlay(Random* random) {
  OverlayShape shape;
  shape.nodes = static_cast<int>(random->Between(3, 7));
  // Sparse ones have tree edges without a link, which are relayed.
  shape.links = static_cast<int>(random->Between(shape.nodes - 1, 2 * shape.nodes));
  shape.least_bps = kLeastBps;
  shape.most_bps = OneOf<double, 3>({2e6, 2e7, 1e8}, random);
  shape.least_delay = absl::Milliseconds(1);
  shape.most_delay = absl::Milliseconds(30);
  OverlayConfig overlay = RandomOverlay(shape, random);
  size_t workers = overlay.nodes.size();
  for (NodeConfig& node : overlay.nodes) {
    if (workers == ContributorFields::kMostWorkers || !random->Chance(0.3)) continue;
    node.workers = 2;
    ++workers;
  }
  return overlay;
}

void DrawSections(OverlayConfig* overlay, Random* random) {
  const auto nodes = static_cast<int>(overlay->nodes.size());
  overlay->topology.planner = OneOf<const char*, 6>({"fapt", "packed", "star", "star", "bkt", "mst"}, random);
  if (random->Chance(0.4)) overlay->topology.roots = static_cast<int>(random->Between(1, nodes));
  overlay->topology.update_interval = absl::Milliseconds(random->Between(200, 3000));
  overlay->chunks.max_elements = random->Between(kMostElements / kMostChunks, 200);
  overlay->chunks.min_elements = 1;
  overlay->aggregation.op = random->Chance(0.6) ? AggregationOp::kSum : AggregationOp::kMean;
  const int64_t chunk_bytes = overlay->chunks.max_elements * 4;
  if (random->Chance(0.5)) overlay->transport.connections = static_cast<int>(random->Between(1, 3));
  // Wider than they must be: what is slow by itself would hide what hangs.
  if (random->Chance(0.3)) overlay->transport.window_bytes = random->Between(2, 8) * (chunk_bytes + 100);
  overlay->transport.early_bytes = random->Chance(0.5) ? random->Between(2, 6) * chunk_bytes : 1000000;
  overlay->transport.relay_bytes = random->Chance(0.5) ? random->Between(6, 20) * chunk_bytes : 1000000;
  overlay->policy.lease = std::array{absl::ZeroDuration(), absl::Seconds(1), absl::Seconds(10), absl::Minutes(2),
                                     absl::Minutes(2)}[random->Below(5)];
  overlay->policy.rounds_in_flight = static_cast<int>(random->Between(1, 2));
  overlay->membership.heartbeat = kHeartbeat;
  overlay->membership.lost_after = kLostAfter;
  overlay->awareness.estimator = random->Chance(0.5) ? RateEstimator::kDelivery : RateEstimator::kOneWayDelay;
  overlay->awareness.probe_chunk_bytes = random->Between(1, 400);
  overlay->multipath.enabled = random->Chance(0.5);
}

TrainingPlan DrawPlan(const OverlayConfig& overlay, Random* random) {
  TrainingPlan plan;
  plan.seed = random->Next();
  plan.may_begin_late = true;
  const int64_t tensors = random->Between(1, 3);
  for (int64_t i = 0; i < tensors; ++i) {
    const int64_t elements = random->Between(1, OneOf<int64_t, 3>({4, 100, kMostElements}, random));
    plan.tensors.push_back({absl::StrCat("t", i), elements, static_cast<int32_t>(random->Between(-2, 2))});
  }
  plan.rounds = static_cast<uint64_t>(random->Between(10, 50));
  plan.compute_time = absl::Milliseconds(random->Between(0, 200));
  plan.compute_spread = absl::Milliseconds(random->Between(0, 200));
  plan.tensors_apart = random->Chance(0.4);
  if (plan.tensors_apart) plan.rounds_in_flight = static_cast<uint32_t>(overlay.policy.rounds_in_flight);
  plan.pull_apart = plan.rounds_in_flight == 1 && random->Chance(0.2);
  if (random->Chance(0.2)) plan.broadcast_every = static_cast<uint64_t>(random->Between(2, 4));
  return plan;
}

// Returns the tensors that are compressed with error feedback.
std::set<size_t> CompressedTensors(const OverlayConfig& overlay, const TrainingPlan& plan) {
  std::set<size_t> compressed;
  for (size_t tensor = 0; tensor < plan.tensors.size(); ++tensor) {
    const CompressionRule* used =
        RuleFor(overlay.compression, plan.tensors[tensor].name, plan.tensors[tensor].elements);
    if (used != nullptr && UsesErrorFeedback(*used)) compressed.insert(tensor);
  }
  return compressed;
}

// With error feedback, so that nothing may be lost. Returns the tensors that are compressed.
std::set<size_t> DrawCompression(OverlayConfig* overlay, TrainingPlan* plan, Random* random) {
  if (!random->Chance(0.4)) return {};
  overlay->aggregation.op = AggregationOp::kSum;
  CompressionRule rule;
  const std::vector<CodecId> codecs = AllCodecIds();
  rule.codec = codecs[random->Below(codecs.size())];
  if (TraitsOf(rule.codec)->is_sparse) rule.numbers = {{"ratio", OneOf<double, 3>({0.05, 0.2, 0.5}, random)}};
  rule.error_feedback = true;
  overlay->compression.rules = {rule};
  overlay->compression.least_elements = random->Between(1, 50);
  plan->flush_every = static_cast<uint64_t>(random->Between(2, 6));
  return CompressedTensors(*overlay, *plan);
}

// When queues cut what may be cut. Drawn apart, so that a seed gives the same job with and without.
void DrawTrimming(OverlayConfig* overlay, Random random) {
  TrimmingConfig& trimming = overlay->trimming;
  trimming.policy = OneOf<TrimPolicyKind, 4>(
      {TrimPolicyKind::kRandom, TrimPolicyKind::kRandom, TrimPolicyKind::kQueue, TrimPolicyKind::kDeadline}, &random);
  trimming.share = OneOf<double, 3>({0.1, 0.5, 1}, &random);
  trimming.queue_bytes = random.Between(0, 1000);
  std::vector<CompressionRule>& rules = overlay->compression.rules;
  if (rules.empty() || (rules[0].codec != CodecId::kTrimRht && rules[0].codec != CodecId::kTrimRhtLevels)) return;
  if (random.Chance(0.5)) rules[0].numbers = {{"light_below", OneOf<double, 3>({0.05, 0.3, 0.6}, &random)}};
}

// Drawn apart, so that a seed gives the same job with and without.
void DrawState(TrainingPlan* plan, Random random) {
  if (plan->tensors_apart || random.Chance(0.2)) return;
  plan->state_bytes = random.Between(SimulatedState::kLeastBytes, kMostStateBytes);
  if (random.Chance(0.2)) plan->fetch_timeout = absl::Milliseconds(random.Between(2000, 6000));
}

// Likewise. What is in a result cannot be read off then, and it has to be the same for all.
void DrawOptimizer(ClusterOptions* cluster, Random random) {
  if (!random.Chance(kWithOptimizer)) return;
  using enum AggregationOp;
  cluster->overlay.aggregation.op = OneOf<AggregationOp, 4>({kSgd, kMomentum, kNesterov, kAdam}, &random);
  cluster->plan.rounds_in_flight = 1;
  cluster->plan.nodes_have_parameters = true;
}

// Counts what nodes give to others of their parameters.
class GivenReplicas : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* manifest = std::get_if<StateManifest>(&sent.message);
    if (manifest != nullptr && IsOfReplica(manifest->transfer)) ++given;
  }

  int64_t given = 0;
};

FaultPlanOptions DrawFaultOptions(const OverlayConfig& overlay, const std::vector<FaultKind>& kinds, Random* random) {
  FaultPlanOptions options;
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(options.kinds),
               [](FaultKind kind) { return !NeedsStandby(kind) && !IsSilence(kind); });
  std::map<std::string, NodeId> ids;
  for (const NodeConfig& node : overlay.nodes) {
    options.workers.push_back(node.workers);
    ids[node.name] = NodeId(static_cast<uint32_t>(options.workers.size()));
  }
  for (const LinkConfig& link : *overlay.links) {
    options.links.emplace_back(ids.at(link.a), ids.at(link.b));
    options.links.emplace_back(ids.at(link.b), ids.at(link.a));
  }
  options.faults = static_cast<int>(random->Between(1, 12));
  options.last = OneOf<absl::Duration, 3>({absl::Seconds(3), absl::Seconds(6), absl::Seconds(10)}, random);
  options.lost_after = overlay.membership.lost_after;
  return options;
}

// What the rounds that are left take when nobody disturbs them, and what it takes to notice that nobody does.
absl::Duration Recovery(const ClusterOptions& cluster) {
  int64_t elements = 0;
  for (const TrainingPlan::Tensor& tensor : cluster.plan.tensors) elements += tensor.elements;
  if (cluster.plan.tensors.size() > kFewTensors) {
    elements += kHeaderElements * static_cast<int64_t>(cluster.plan.tensors.size() - kFewTensors);
  }
  const auto nodes = static_cast<double>(cluster.overlay.nodes.size());
  // Both ways through the slowest link for each node, four times; headers take more than small chunks.
  const absl::Duration sending = absl::Seconds(4 * 2 * nodes * 32 * static_cast<double>(elements + 2000) / kLeastBps);
  const absl::Duration round = cluster.plan.compute_time + cluster.plan.compute_spread + sending;
  const absl::Duration lease = cluster.standby.has_value() ? cluster.standby->lease : absl::ZeroDuration();
  return 20 * kHeartbeat + 5 * kLostAfter + 3 * lease + round * static_cast<double>(cluster.plan.rounds);
}

// Gives some of the seeds a second scheduler, and faults of it. Draws of its own, so that all else stays as it is.
void AddStandby(uint64_t seed, const std::vector<FaultKind>& kinds, const FaultPlanOptions& plan,
                ClusterOptions* cluster, std::vector<Fault>* faults) {
  Random random(seed ^ kStandbySeed);
  FaultPlanOptions options = plan;
  options.kinds.clear();
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(options.kinds), NeedsStandby);
  if (options.kinds.empty() || !random.Chance(kWithStandby)) return;
  cluster->standby.emplace();
  cluster->standby->lease = absl::Milliseconds(random.Between(1000, 3000));
  options.faults = static_cast<int>(random.Between(1, 6));
  for (const Fault& fault : DrawLeaderFaults(options, cluster->standby->lease, &random)) faults->push_back(fault);
}

// Gives some of the seeds connections that fall silent; all of them where these are the only faults. Likewise drawn
// apart.
void AddSilences(uint64_t seed, const std::vector<FaultKind>& kinds, const FaultPlanOptions& plan,
                 std::vector<Fault>* faults) {
  Random random(seed ^ kSilenceSeed);
  FaultPlanOptions options = plan;
  options.kinds.clear();
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(options.kinds), IsSilence);
  const bool is_chosen = random.Chance(kWithSilences) || options.kinds.size() == kinds.size();
  if (options.kinds.empty() || !is_chosen) return;
  options.faults = static_cast<int>(random.Between(1, 6));
  for (const Fault& fault : DrawSilences(options, &random)) faults->push_back(fault);
}

// Gives each worker elements of its own in all tensors, so that what comes back in parts can be booked.
void SpreadAllTensors(FaultScenario* scenario, Random* random) {
  std::set<size_t> all;
  for (size_t tensor = 0; tensor < scenario->cluster.plan.tensors.size(); ++tensor) all.insert(tensor);
  scenario->fields = std::make_unique<ContributorFields>(scenario->fields->workers(), std::move(all), random->Next());
  scenario->cluster.fields = scenario->fields.get();
  scenario->cluster.plan.source = scenario->fields.get();
}

// Small tensors beside those that are there: dozens in most jobs, hundreds in some, and a thousand in a few.
void AddTensors(FaultScenario* scenario, Random* random) {
  TrainingPlan& plan = scenario->cluster.plan;
  int64_t tensors = random->Between(5, 50);
  if (random->Chance(0.1)) tensors = random->Between(100, 300);
  if (random->Chance(0.02)) tensors = 1000;
  for (auto i = static_cast<int64_t>(plan.tensors.size()); i < tensors; ++i) {
    plan.tensors.push_back({absl::StrCat("t", i), random->Between(1, 4), static_cast<int32_t>(random->Between(-2, 2))});
  }
  if (plan.tensors.size() >= kManyTensors) {
    plan.rounds = std::min<uint64_t>(plan.rounds, 12);
    scenario->cluster.overlay.transport.window_bytes.reset();
  }
  scenario->fields = std::make_unique<ContributorFields>(
      scenario->fields->workers(), CompressedTensors(scenario->cluster.overlay, plan), random->Next());
  scenario->cluster.fields = scenario->fields.get();
  plan.source = scenario->fields.get();
}

// A binding with one slice of each tensor that may go low-bit.
PrecisionBinding DrawSlices(const TrainingPlan& plan, Random* random) {
  std::vector<TensorBinding> tensors;
  for (const TrainingPlan::Tensor& tensor : plan.tensors) {
    const int64_t first = random->Between(0, tensor.elements - 1);
    const int64_t elements = random->Between(1, tensor.elements - first);
    tensors.push_back({tensor.name, tensor.elements, {{first, elements, TensorRole::kEncoder, true, {}, ""}}});
  }
  return PrecisionBinding("slices", {}, std::move(tensors));
}

}  // namespace

FaultScenario MakeFaultScenario(uint64_t seed, const std::vector<FaultKind>& kinds, bool may_have_optimizer) {
  Random random(seed);
  FaultScenario scenario;
  ClusterOptions& cluster = scenario.cluster;
  cluster.seed = random.Next();
  cluster.overlay = DrawOverlay(&random);
  DrawSections(&cluster.overlay, &random);
  cluster.plan = DrawPlan(cluster.overlay, &random);
  std::set<size_t> compressed = DrawCompression(&cluster.overlay, &cluster.plan, &random);
  std::vector<WorkerName> workers;
  for (uint32_t node = 1; node <= cluster.overlay.nodes.size(); ++node) {
    const int count = cluster.overlay.nodes[node - 1].workers;
    for (int i = 0; i < count; ++i) workers.push_back({NodeId(node), WorkerId(static_cast<uint32_t>(i))});
  }
  scenario.fields = std::make_unique<ContributorFields>(std::move(workers), std::move(compressed), random.Next());
  cluster.fields = scenario.fields.get();
  cluster.plan.source = scenario.fields.get();
  cluster.link_jitter = absl::Milliseconds(random.Chance(0.5) ? random.Between(0, 40) : 0);
  cluster.network.scheduler_delay = absl::Milliseconds(random.Between(0, 40));
  cluster.network.scheduler_jitter = absl::Milliseconds(random.Between(0, 20));
  cluster.network.duplicate_chance = random.Chance(0.3) ? 0.05 : 0;
  cluster.process.compute_threads = static_cast<uint32_t>(random.Between(1, 3));
  cluster.process.step_costs = StepCosts();
  cluster.most_drift_ppm = random.Chance(0.7) ? 200 : 0;
  cluster.start_within = absl::Milliseconds(random.Between(0, 500));
  random.Next();  // was drawn for once: each seed stays the job that it is
  cluster.membership_changes = true;
  Random faults = random.Fork();
  FaultPlanOptions plan = DrawFaultOptions(cluster.overlay, kinds, &faults);
  if (!plan.kinds.empty()) scenario.faults = DrawFaults(plan, &faults);
  scenario.fault_seed = faults.Next();
  AddStandby(seed, kinds, plan, &cluster, &scenario.faults);
  AddSilences(seed, kinds, plan, &scenario.faults);
  for (const Fault& fault : scenario.faults) {
    cluster.longest_pause = std::max(cluster.longest_pause, fault.lasts + kLostAfter);
    if (fault.kind == FaultKind::kLateStart) cluster.absent.insert(fault.node);
  }
  const size_t present = cluster.overlay.nodes.size() - cluster.absent.size();
  if (!cluster.absent.empty()) cluster.overlay.membership.start_with = static_cast<int>(present);
  DrawState(&cluster.plan, Random(seed ^ kStateSeed));
  DrawTrimming(&cluster.overlay, Random(seed ^ kTrimmingSeed));
  if (may_have_optimizer) DrawOptimizer(&cluster, Random(seed ^ kOptimizerSeed));
  scenario.recovery = Recovery(cluster);
  return scenario;
}

void AddQuorum(uint64_t seed, FaultScenario* scenario) {
  Random random(seed ^ kQuorumSeed);
  ClusterOptions& cluster = scenario->cluster;
  AggregationConfig& aggregation = cluster.overlay.aggregation;
  aggregation.op = AggregationOp::kSum;
  aggregation.quorum = 0.3 + 0.7 * random.Unit();
  aggregation.grace = absl::Milliseconds(random.Chance(0.3) ? 0 : random.Between(1, 300));
  TrainingPlan& plan = cluster.plan;
  if (plan.flush_every == 0) plan.flush_every = static_cast<uint64_t>(random.Between(2, 8));
  // Whoever gives its state is held, and others may go on without it.
  plan.state_bytes = 0;
  double slowest = 1;
  for (uint32_t node = 1; node <= cluster.overlay.nodes.size(); ++node) {
    if (!random.Chance(0.3)) continue;
    plan.slowness[NodeId(node)] = 1 + 9 * random.Unit();
    slowest = std::max(slowest, plan.slowness[NodeId(node)]);
  }
  SpreadAllTensors(scenario, &random);
  scenario->recovery += (slowest - 1) * (plan.compute_time + plan.compute_spread) * static_cast<double>(plan.rounds);
}

void AddMeans(FaultScenario* scenario) {
  scenario->cluster.overlay.aggregation.op = AggregationOp::kMean;
  scenario->cluster.overlay.compression.rules.clear();
  scenario->fields->PushOnes();
}

FaultScenario MakeRoughScenario(uint64_t seed) {
  Random random(seed ^ kRoughSeed);
  // Then whom none of them names keeps its place.
  const bool has_ends_alone = random.Chance(0.35);
  FaultScenario scenario = MakeFaultScenario(seed, has_ends_alone ? EndFaultKinds() : AllFaultKinds());
  ClusterOptions& cluster = scenario.cluster;
  cluster.check_encoding = true;
  cluster.overlay.aggregation.fixed_order = random.Chance(kWithFixedOrder);
  if (random.Chance(0.3)) cluster.network.duplicate_chance = 0.3;
  if (random.Chance(0.5)) AddTensors(&scenario, &random);
  if (!cluster.plan.nodes_have_parameters && random.Chance(0.3)) {
    AddQuorum(seed, &scenario);
    if (random.Chance(0.7)) AddMeans(&scenario);
  }
  if (random.Chance(0.3)) {
    cluster.overlay.aggregation.not_finite = NotFiniteRule::kSkip;
    cluster.plan.not_finite_share = OneOf<double, 3>({0.02, 0.2, 0.7}, &random);
  }
  std::vector<FaultKind> kinds = RoughFaultKinds();
  std::erase(kinds, FaultKind::kStopJob);
  if (has_ends_alone) {
    std::erase_if(kinds, [](FaultKind kind) { return kind == FaultKind::kSlowLink || kind == FaultKind::kUnevenLink; });
  }
  FaultPlanOptions plan = DrawFaultOptions(cluster.overlay, kinds, &random);
  plan.faults = static_cast<int>(random.Between(1, 4));
  std::vector<Fault> faults = DrawRoughFaults(plan, &random);
  // Drawn apart, so that all else stays as it is.
  Random stops(seed ^ kStopSeed);
  if (stops.Chance(kWithStop)) {
    for (const Fault& fault : DrawStop(plan, &stops)) faults.push_back(fault);
  }
  for (const Fault& fault : faults) {
    cluster.longest_pause = std::max(cluster.longest_pause, fault.lasts + kLostAfter);
    scenario.faults.push_back(fault);
  }
  if (has_ends_alone) {
    for (uint32_t id = 1; id <= cluster.overlay.nodes.size(); ++id) cluster.steady.insert(NodeId(id));
    for (const Fault& fault : scenario.faults) cluster.steady.erase(fault.node);
  }
  // As it is read from its file, or what an operator gives would differ.
  absl::StatusOr<OverlayConfig> read = ParseOverlay(WriteOverlay(ScaleOverlay(cluster.overlay, 1)), "rough.yaml");
  BANYAN_CHECK(read.ok());
  cluster.overlay = *std::move(read);
  cluster.orders = OrdersOf(faults, cluster.overlay);
  scenario.recovery = std::max(scenario.recovery, Recovery(cluster));
  return scenario;
}

void AddPrecision(uint64_t seed, FaultScenario* scenario) {
  Random random(seed ^ kPrecisionSeed);
  ClusterOptions& cluster = scenario->cluster;
  cluster.overlay.aggregation.op = AggregationOp::kMean;
  cluster.overlay.compression.rules.clear();
  OperatingProfile profile;
  profile.name = "simulated";
  profile.rules.family = random.Chance(0.5) ? LowBitFamily::kBinary : LowBitFamily::kTernary;
  profile.scope =
      OneOf<PrecisionScope, 3>({PrecisionScope::kModel, PrecisionScope::kRole, PrecisionScope::kTensor}, &random);
  profile.admission.warmup_steps = random.Between(1, 8);
  profile.admission.most_loss_rise = 100;
  profile.detector = {0.01, 0.5, 1};
  profile.recovery = {random.Between(1, 5), random.Between(1, 3), 4, 2};
  profile.has_guard = seed % 4 == 3;  // which finds most of these small rounds better plain
  std::vector<TensorBinding> tensors;
  for (const TrainingPlan::Tensor& tensor : cluster.plan.tensors) {
    const SliceBinding slice{0, tensor.elements, TensorRole::kEncoder, random.Chance(0.8), std::nullopt, ""};
    tensors.push_back({tensor.name, tensor.elements, {slice}});
  }
  cluster.precision = PrecisionFiles{std::move(profile), PrecisionBinding("simulated", {}, std::move(tensors))};
  Random slices(seed ^ kSlicesSeed);
  if (slices.Chance(0.4)) cluster.precision->binding = DrawSlices(cluster.plan, &slices);
  const uint64_t rises_every = static_cast<uint64_t>(random.Between(4, 12));
  cluster.plan.loss = [rises_every](Round round) {
    return 1 / static_cast<double>(round.value()) + (round.value() % rises_every == 0 ? 5 : 0);
  };
}

void AddMeanVotes(uint64_t seed, FaultScenario* scenario) {
  Random random(seed ^ kMeanVotesSeed);
  scenario->cluster.precision->profile.rules.aggregate = VoteAggregate::kMean;
  TrainingPlan& plan = scenario->cluster.plan;
  if (plan.flush_every == 0) plan.flush_every = static_cast<uint64_t>(random.Between(3, 8));
  SpreadAllTensors(scenario, &random);
  if (!random.Chance(0.5)) return;
  scenario->cluster.precision->binding = DrawSlices(plan, &random);
  if (random.Chance(0.5)) scenario->cluster.edited_binding = DrawSlices(plan, &random);
}

void FaultOutcome::Add(const FaultOutcome& other) {
  events += other.events;
  results += other.results;
  flushes += other.flushes;
  means += other.means;
  required += other.required;
  replicas += other.replicas;
  fetches += other.fetches;
  given += other.given;
  epochs += other.epochs;
  simulated += other.simulated;
  for (const auto& [kind, times] : other.happened) happened[kind] += times;
  low_bit_rounds += other.low_bit_rounds;
  fallback_rounds += other.fallback_rounds;
}

FaultOutcome RunFaultScenario(const FaultScenario& scenario, const Trace::Sink& sink) {
  Cluster cluster(scenario.cluster);
  cluster.simulator()->trace()->set_sink(sink);
  GivenReplicas replicas;
  cluster.simulator()->network()->AddObserver(&replicas);
  const FaultInjector injector(scenario.faults, scenario.fault_seed, &cluster);
  const bool trained = cluster.RunUntilStayersTrained(injector.quiet_at(), injector.gone(), scenario.recovery);
  FaultOutcome outcome;
  outcome.simulated = cluster.simulator()->now() - Timestamp();
  if (trained) cluster.StopAll(cluster.simulator()->now() + kStoppingLimit);
  outcome.trace_hash = cluster.simulator()->trace()->hash();
  outcome.events = cluster.simulator()->trace()->events();
  outcome.results = cluster.contributors()->results();
  outcome.required = cluster.contributors()->required();
  outcome.flushes = cluster.contributors()->flushes();
  outcome.means = cluster.contributors()->means();
  outcome.low_bit_rounds = cluster.precision()->rounds(PrecisionRoute::kLowBit);
  outcome.fallback_rounds = cluster.precision()->rounds(PrecisionRoute::kFallback);
  outcome.replicas = cluster.replicas() == nullptr ? 0 : cluster.replicas()->compared();
  for (const auto& [name, worker] : cluster.workers()) outcome.fetches += worker->fetched().has_value();
  outcome.given = replicas.given;
  outcome.has_quorum = scenario.cluster.overlay.aggregation.quorum > 0;
  outcome.is_lost = cluster.HasLostParameters();
  outcome.epochs = cluster.epoch().value();
  outcome.happened = injector.happened();
  outcome.violations = cluster.violations()->Report();
  return outcome;
}

FaultOutcome RunRoughSeed(uint64_t seed, const Trace::Sink& sink) {
  FaultOutcome outcome = RunFaultScenario(MakeRoughScenario(seed), sink);
  outcome.seed = seed;
  return outcome;
}

FaultOutcome RunFaultSeed(uint64_t seed, const std::vector<FaultKind>& kinds, const Trace::Sink& sink,
                          bool may_have_quorum) {
  FaultScenario scenario = MakeFaultScenario(seed, kinds);
  // What late workers have missed of parameters cannot be read off results.
  const bool fits = may_have_quorum && !scenario.cluster.plan.nodes_have_parameters;
  if (fits && Random(seed ^ kWithQuorumSeed).Chance(kWithQuorum)) AddQuorum(seed, &scenario);
  scenario.cluster.overlay.aggregation.fixed_order = Random(seed ^ kFixedOrderSeed).Chance(kWithFixedOrder);
  FaultOutcome outcome = RunFaultScenario(scenario, sink);
  outcome.seed = seed;
  return outcome;
}

}  // namespace banyan
