#include "sim/reducer/reducer_replay.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/cluster.h"
#include "sim/traffic_observer.h"
#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

constexpr uint64_t kRounds = 10;
constexpr uint64_t kMeasured = 4;  // the last of them
constexpr int64_t kWarmupSteps = 3;
// Nodes report about once a second, of their processors, too. Routes are to be settled when rounds are measured.
constexpr absl::Duration kComputeTime = absl::Milliseconds(1200);
constexpr absl::Duration kLongestTraining = absl::Hours(24);

// Of each worker; more would only cost memory.
constexpr int64_t kMostCarriedElements = int64_t{1} << 20;
// Headers of votes do not shrink with the vectors: they are to be little of a chunk.
constexpr int64_t kLeastChunkElements = 1024;
constexpr int64_t kChunkElements = 65536;
constexpr int64_t kLeastScale = 16;

int64_t ScaleOf(const ReducerJob& job) {
  int64_t elements = 0;
  for (const int64_t bucket : job.buckets) elements += bucket;
  int64_t scale = kLeastScale;
  while (elements / scale > kMostCarriedElements) scale *= 2;
  return scale;
}

OverlayConfig MakeOverlay(const ReducerJob& job, int64_t scale) {
  OverlayConfig overlay;
  for (int i = 1; i <= job.nodes; ++i) {
    NodeConfig& node = overlay.nodes.emplace_back();
    node.name = absl::StrCat("n", i);
    node.workers = job.workers;
    node.up_cap_bps = node.down_cap_bps = job.node_bps;
  }
  overlay.links.emplace();
  for (int i = 1; i <= job.nodes; ++i) {
    for (int j = i + 1; j <= job.nodes; ++j) {
      LinkConfig& link = overlay.links->emplace_back();
      link.a = absl::StrCat("n", i);
      link.b = absl::StrCat("n", j);
      link.a_to_b_bps = link.b_to_a_bps = job.node_bps;
      link.delay = job.delay;
    }
  }
  overlay.aggregation.op = AggregationOp::kMean;
  overlay.awareness.enabled = false;  // the job is told its rates, and they stay
  overlay.chunks.min_elements = kLeastChunkElements * scale;
  overlay.chunks.max_elements = std::max(kChunkElements, overlay.chunks.min_elements);
  return overlay;
}

PrecisionFiles MakePrecision(const ReducerJob& job, const std::vector<TrainingPlan::Tensor>& tensors,
                             ReducerRoute route) {
  OperatingProfile profile;
  profile.rules.family = job.family;
  profile.scope = PrecisionScope::kModel;
  profile.admission.warmup_steps = kWarmupSteps;
  profile.detector = {0.01, 0.5, 1};
  profile.has_guard = route == ReducerRoute::kGuarded;
  const bool is_candidate = route != ReducerRoute::kFloats;
  std::vector<TensorBinding> bindings;
  for (const TrainingPlan::Tensor& tensor : tensors) {
    bindings.push_back(
        {tensor.name, tensor.elements, {{0, tensor.elements, TensorRole::kEncoder, is_candidate, {}, ""}}});
  }
  return {profile, PrecisionBinding("all", {}, std::move(bindings))};
}

ClusterOptions MakeClusterOptions(const ReducerJob& job, ReducerRoute route) {
  ClusterOptions cluster;
  cluster.scale = ScaleOf(job);
  cluster.overlay = MakeOverlay(job, cluster.scale);
  // Workers push the last tensor first.
  for (size_t i = job.buckets.size(); i-- > 0;) {
    const int64_t carried = (job.buckets[i] + cluster.scale - 1) / cluster.scale;
    cluster.plan.tensors.push_back({absl::StrCat("bucket", i), carried, 0});
  }
  cluster.plan.rounds = kRounds;
  cluster.plan.barrier_every = 1;
  cluster.plan.compute_time = kComputeTime;
  cluster.plan.loss = [](Round round) { return 1 / static_cast<double>(round.value()); };
  cluster.process.step_costs = StepCosts();
  cluster.process.compute_threads = static_cast<uint32_t>(job.threads);
  cluster.process.memory_bytes_per_second = kSumBytesPerSecond;
  cluster.process.vote_slowness = kSumBytesPerSecond / job.vote_bytes_per_second;
  cluster.check_messages = false;
  cluster.precision = MakePrecision(job, cluster.plan.tensors, route);
  return cluster;
}

// What chunks of gradients and results carry, by their route.
class ReducerTraffic : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk == nullptr || chunk->id.round.value() <= kRounds - kMeasured) return;
    sent_bytes_ += sent.size_bytes;
    (chunk->precision == PrecisionRoute::kLowBit ? low_bit_elements_ : other_elements_) += chunk->elements;
  }
  int64_t sent_bytes() const { return sent_bytes_; }
  double low_bit_part() const {
    return static_cast<double>(low_bit_elements_) /
           static_cast<double>(std::max<int64_t>(1, low_bit_elements_ + other_elements_));
  }

 private:
  int64_t sent_bytes_ = 0;
  int64_t low_bit_elements_ = 0;
  int64_t other_elements_ = 0;
};

bool HaveSameFloats(const ReducerJob& a, const ReducerJob& b) {
  return a.nodes == b.nodes && a.workers == b.workers && a.threads == b.threads && a.node_bps == b.node_bps &&
         a.delay == b.delay && a.buckets == b.buckets;
}

// Makes of each job as many as there are values.
template <typename Value>
void Vary(Value ReducerJob::*field, const std::vector<Value>& values, std::vector<ReducerJob>& jobs) {
  std::vector<ReducerJob> varied;
  for (const ReducerJob& job : jobs) {
    for (const Value value : values) varied.emplace_back(job).*field = value;
  }
  jobs = std::move(varied);
}

}  // namespace

absl::StatusOr<ReducerTimes> ReplayReducer(const ReducerJob& job, ReducerRoute route) {
  Cluster cluster(MakeClusterOptions(job, route));
  ReducerTraffic traffic;
  cluster.simulator()->network()->AddObserver(&traffic);
  const bool is_trained = cluster.RunUntilTrained(Timestamp() + kLongestTraining);
  if (!cluster.failures().empty()) {
    const Cluster::Failure& failure = cluster.failures().front();
    return absl::Status(failure.status.code(), absl::StrCat(failure.call, ": ", failure.status.message()));
  }
  if (!is_trained || !cluster.violations()->empty()) return absl::InternalError(cluster.violations()->Report());
  std::vector<absl::Duration> rounds;
  for (const auto& [round, times] : cluster.clock().rounds()) {
    if (round.value() > kRounds - kMeasured) rounds.push_back(times.Synchronisation());
  }
  std::sort(rounds.begin(), rounds.end());
  ReducerTimes times;
  times.round = rounds[rounds.size() / 2];
  times.low_bit_part = traffic.low_bit_part();
  times.sent_bytes = traffic.sent_bytes() / static_cast<int64_t>(kMeasured);
  times.results = cluster.results().results();
  return times;
}

absl::StatusOr<std::vector<ReducerPoint>> ReplayJobs(const std::vector<ReducerJob>& jobs,
                                                     const std::function<void(size_t done)>& progress) {
  std::vector<ReducerPoint> points;
  for (const ReducerJob& job : jobs) {
    ReducerPoint point;
    point.job = job;
    absl::Status status;
    const auto replay = [&](ReducerRoute route, ReducerTimes& times) {
      absl::StatusOr<ReducerTimes> replayed = ReplayReducer(job, route);
      status.Update(replayed.status());
      if (replayed.ok()) times = *replayed;
    };
    if (!points.empty() && HaveSameFloats(points.back().job, job)) {
      point.floats = points.back().floats;
    } else {
      replay(ReducerRoute::kFloats, point.floats);
    }
    if (status.ok()) replay(ReducerRoute::kGuarded, point.guarded);
    if (status.ok()) replay(ReducerRoute::kForced, point.forced);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(job.nodes, " nodes of ", job.workers, " workers at ",
                                                      job.node_bps / 1e9, " Gbit/s: ", status.message()));
    }
    points.push_back(std::move(point));
    progress(points.size());
  }
  return points;
}

std::vector<ReducerJob> ReducerGrid::JobsOf(const ReducerJob& job) const {
  std::vector<ReducerJob> jobs = {job};
  Vary(&ReducerJob::nodes, nodes, jobs);
  Vary(&ReducerJob::workers, workers, jobs);
  Vary(&ReducerJob::threads, threads, jobs);
  Vary(&ReducerJob::node_bps, node_bps, jobs);
  Vary(&ReducerJob::vote_bytes_per_second, vote_bytes_per_second, jobs);
  Vary(&ReducerJob::family, families, jobs);
  return jobs;
}

}  // namespace banyan
