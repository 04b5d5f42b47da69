// A training that is run again from its transcripts, in simulated time: parameters are the same to the bit, though
// links, pauses and the order of arrival are others.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/node_core.h"
#include "proto/transcript/node_transcript.h"
#include "scheduler/replay/replay_scheduler.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/testing/linked_cluster.h"
#include "sim/training/training_plan.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr NodeId kSlow(3);
constexpr int kNodes = 5;

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Workers whose gradients depend on all results that they were given, to the last bit.
class Model : public GradientSource, public WorkerListener {
 public:
  explicit Model(uint64_t seed = 1) : seed_(seed) {}

  void Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) override {
    std::vector<float>& parameters = parameters_[{worker, tensor}];
    parameters.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t drawn = Digest({seed_, worker.node.value(), worker.worker.value(), tensor, round.value(), i});
      const float noise = static_cast<float>(drawn % 2001) / 1000.0f - 1.0f;
      values[i] = round == Round(0) ? 0.1f * static_cast<float>(i % 7) : 0.01f * noise - 0.1f * parameters[i];
    }
  }
  void FillWeights(size_t /*tensor*/, absl::Span<float> /*values*/) override {}
  void OnResult(Timestamp /*now*/, WorkerName worker, size_t tensor, Round /*round*/,
                absl::Span<const float> values) override {
    std::vector<float>& parameters = parameters_[{worker, tensor}];
    parameters.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) parameters[i] += values[i];
  }

  const std::map<std::pair<WorkerName, size_t>, std::vector<float>>& parameters() const { return parameters_; }

 private:
  uint64_t seed_;
  std::map<std::pair<WorkerName, size_t>, std::vector<float>> parameters_;
};

// Five nodes, one of them slow and one with two workers, whose queues cut half of the chunks.
ClusterOptions Job(uint64_t rounds, Model* model) {
  ClusterOptions options = LinkedCluster(kNodes, 2e6, 5e6);
  options.overlay.nodes[1].workers = 2;
  options.overlay.aggregation.op = AggregationOp::kMean;
  options.overlay.aggregation.quorum = 0.6;
  options.overlay.aggregation.grace = absl::Milliseconds(20);
  options.overlay.aggregation.fixed_order = true;
  options.overlay.compression.rules = {CompressionRule{.codec = CodecId::kTrimRht}};
  options.overlay.compression.least_elements = 100;
  options.overlay.trimming = {.policy = TrimPolicyKind::kRandom, .share = 0.5};
  options.plan.tensors = {{"w", 1500, 0}, {"b", 50, 0}};
  options.plan.rounds = rounds;
  options.plan.flush_every = rounds / 2;
  options.plan.compute_time = absl::Milliseconds(30);
  options.plan.compute_spread = absl::Milliseconds(10);
  options.plan.slowness = {{kSlow, 8}};
  options.plan.source = model;
  options.listener = model;
  const absl::StatusOr<OverlayConfig> reread = ParseOverlay(WriteOverlay(ScaleOverlay(options.overlay, 1)), "job.yaml");
  EXPECT_TRUE(reread.ok()) << reread.status();
  options.overlay = *reread;
  return options;
}

NodeOptions OptionsOf(NodeId id, const OverlayConfig& overlay) {
  NodeOptions node;
  node.name = overlay.nodes[id.value() - 1].name;
  node.address = overlay.nodes[id.value() - 1].address;
  node.scheduler_addresses = {overlay.scheduler.address};
  node.job = overlay.job;
  node.incarnation = Incarnation(1000 + id.value());
  return node;
}

using Transcripts = std::vector<std::vector<std::string>>;  // records, by node

// Runs the job to its end. Returns the transcripts of all nodes.
Transcripts Record(ClusterOptions options) {
  const OverlayConfig overlay = options.overlay;
  options.wrap_core = [overlay](NodeId id, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (id == kSchedulerNode) return core;
    NodeOptions node = OptionsOf(id, overlay);
    node.records_transcript = true;
    return std::make_unique<NodeCore>(std::move(node));
  };
  Cluster cluster(std::move(options));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  // The last records are on their way to the storage.
  cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Seconds(2));
  Transcripts transcripts;
  for (uint32_t id = 1; id <= kNodes; ++id)
    transcripts.push_back(cluster.simulator()->process(NodeId(id))->stored().tail);
  return transcripts;
}

ReplayCast CastOf(const Transcripts& transcripts) {
  std::vector<ReplayCast::Transcript> read;
  for (const std::vector<std::string>& records : transcripts) {
    absl::StatusOr<NodeTranscript> transcript = ReadNodeTranscript(records);
    EXPECT_TRUE(transcript.ok()) << transcript.status();
    if (transcript.ok()) read.push_back(std::make_shared<const NodeTranscript>(*std::move(transcript)));
  }
  absl::StatusOr<ReplayCast> cast = ReplayCast::Create(read);
  EXPECT_TRUE(cast.ok()) << cast.status();
  return *cast;
}

// Runs the job again, with other links and delays and nobody slow. Returns what went wrong.
std::string Replay(ClusterOptions options, const Transcripts& transcripts) {
  const OverlayConfig overlay = options.overlay;
  const ReplayCast cast = CastOf(transcripts);
  options.seed += 77;
  options.orders.clear();
  options.plan.slowness.clear();
  options.plan.compute_spread = absl::Milliseconds(25);
  options.link_jitter = absl::Milliseconds(20);
  options.check_messages = false;
  for (LinkConfig& link : *options.overlay.links) std::swap(link.a_to_b_bps, link.b_to_a_bps);
  options.wrap_core = [overlay, cast](NodeId id, const std::unique_ptr<Protocol>&) -> std::unique_ptr<Protocol> {
    if (id == kSchedulerNode) return std::make_unique<ReplayScheduler>(cast);
    NodeOptions node = OptionsOf(id, overlay);
    node.replayed = cast.nodes().at(id);
    return std::make_unique<NodeCore>(std::move(node));
  };
  Cluster cluster(std::move(options));
  cluster.RunUntilTrained(Seconds(2000));
  return cluster.violations()->empty() ? "" : cluster.violations()->Report();
}

// How often something is in the transcripts of all nodes.
struct Counts {
  size_t cuts = 0;
  size_t left_out = 0;
  size_t policies = 0;  // of the first node
  size_t partial = 0;   // encodings of which a part was sent
};

Counts CountsOf(const Transcripts& transcripts) {
  Counts counts;
  const ReplayCast cast = CastOf(transcripts);
  for (const auto& [id, transcript] : cast.nodes()) {
    counts.cuts += transcript->cuts.size();
    counts.partial += transcript->encodings.size();
    counts.left_out += std::count_if(transcript->events.begin(), transcript->events.end(), [](const auto& event) {
      return std::holds_alternative<TranscriptLeftOut>(event);
    });
  }
  counts.policies = cast.nodes().begin()->second->policies.size();
  return counts;
}

TEST(ReplaySimulation, TwoHundredRoundsWithCutsQuorumsAndAnotherPolicyAreTheSameToTheBit) {
  Model first;
  ClusterOptions options = Job(200, &first);
  options.overlay.compression.rules[0].numbers = {{"light_below", 0.3}};
  OverlayConfig other = options.overlay;
  other.topology.planner = "star";
  other.topology.root = "n4";
  options.orders = {{absl::Seconds(4), WriteOverlay(other)}};
  const Transcripts transcripts = Record(options);
  const Counts counts = CountsOf(transcripts);
  EXPECT_GT(counts.cuts, 500u);
  EXPECT_GT(counts.left_out, 50u);
  EXPECT_GE(counts.policies, 2u);
  Model again;
  options.plan.source = &again;
  options.listener = &again;
  EXPECT_EQ(Replay(options, transcripts), "");
  EXPECT_TRUE(first.parameters() == again.parameters());
}

TEST(ReplaySimulation, AServerSideOptimizerIsReplayedToo) {
  Model first;
  ClusterOptions options = Job(20, &first);
  options.overlay.aggregation.op = AggregationOp::kAdam;
  const Transcripts transcripts = Record(options);
  Model again;
  options.plan.source = &again;
  options.listener = &again;
  EXPECT_EQ(Replay(options, transcripts), "");
  EXPECT_TRUE(first.parameters() == again.parameters());
}

TEST(ReplaySimulation, AnotherTrainingEndsWithAnError) {
  Model first;
  ClusterOptions options = Job(10, &first);
  const Transcripts transcripts = Record(options);
  Model other(2);
  options.plan.source = &other;
  options.listener = &other;
  EXPECT_THAT(Replay(options, transcripts), HasSubstr("differs from that of the transcript of n"));
  options.plan.pull_apart = true;
  EXPECT_THAT(Replay(options, transcripts), HasSubstr("where the transcript of n"));
  options.plan.pull_apart = false;
  options.plan.rounds = 20;
  Model longer;
  options.plan.source = &longer;
  options.listener = &longer;
  EXPECT_THAT(Replay(options, transcripts), HasSubstr("worker 1 calls for a good-bye"));
}

}  // namespace
}  // namespace banyan
