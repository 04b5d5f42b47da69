// Training with Adam on the servers, while an operator moves the root from node to node.
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/testing/linked_cluster.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int kNodes = 3;

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Stars whose root is n1, n2, n3, n1 and so on; chunks change with it.
ClusterOptions Moving(std::vector<CompressionRule> rules = {}) {
  ClusterOptions options = LinkedCluster(kNodes, 1e6, 3e6);
  options.overlay.aggregation.op = AggregationOp::kAdam;
  options.overlay.awareness.enabled = false;
  options.overlay.multipath.enabled = false;
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n1";
  options.overlay.compression.rules = std::move(rules);
  options.overlay.compression.least_elements = 1;
  options.plan.rounds = 30;
  const absl::StatusOr<OverlayConfig> reread = ParseOverlay(WriteOverlay(ScaleOverlay(options.overlay, 1)), "job.yaml");
  EXPECT_TRUE(reread.ok()) << reread.status();
  options.overlay = *reread;
  for (int i = 1; i <= 4; ++i) {
    OverlayConfig other = options.overlay;
    other.topology.root = std::string("n") + static_cast<char>('1' + i % kNodes);
    other.chunks.max_elements = 200 + 70 * i;
    options.orders.push_back({absl::Seconds(1.5 * i), WriteOverlay(other)});
  }
  return options;
}

// The roots that policies have had.
class Roots : public TrafficObserver {
 public:
  void OnDelivered(const SentMessage& traffic) override {
    const auto* published = std::get_if<PolicyPublished>(&traffic.message);
    if (published == nullptr) return;
    for (const TreeSlice& tree : published->slice.trees) roots.insert(tree.root);
  }

  std::set<NodeId> roots;
};

// Compares what one worker gets with Adam, in double precision, on the exact mean of all gradients.
class AdamChecker : public WorkerListener {
 public:
  explicit AdamChecker(const ClusterOptions& options) : config_(options.overlay.aggregation), plan_(options.plan) {
    for (uint32_t node = 1; node <= kNodes; ++node) workers_.push_back({NodeId(node), WorkerId(0)});
    elements_.resize(plan_.tensors.size());
  }

  void OnResult(Timestamp, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override {
    if (worker.node != NodeId(1)) return;
    std::vector<Element>& elements = elements_[tensor];
    if (round == Round(0)) {
      for (float value : values) elements.push_back({.value = value});
      return;
    }
    const std::vector<float> sum = SumOfGradients(plan_, workers_, tensor, round);
    for (size_t i = 0; i < values.size(); ++i) {
      elements[i].Step(config_, static_cast<int>(round.value()), double{sum[i]} / kNodes);
      largest_error = std::max(largest_error, std::abs(values[i] - elements[i].value) / (1 + std::abs(values[i])));
    }
    ++results;
  }

  int64_t results = 0;
  double largest_error = 0;  // relative to 1 + the value

 private:
  struct Element {
    double value = 0, m = 0, v = 0;

    void Step(const AggregationConfig& config, int step, double gradient) {
      m = config.beta1 * m + (1 - config.beta1) * gradient;
      v = config.beta2 * v + (1 - config.beta2) * gradient * gradient;
      const double m_hat = m / (1 - std::pow(config.beta1, step));
      const double v_hat = v / (1 - std::pow(config.beta2, step));
      value -= config.learning_rate * m_hat / (std::sqrt(v_hat) + config.epsilon);
    }
  };

  const AggregationConfig config_;
  const TrainingPlan plan_;
  std::vector<WorkerName> workers_;
  std::vector<std::vector<Element>> elements_;  // of each tensor
};

struct Outcome {
  std::set<NodeId> roots;
  int64_t results = 0;
  double largest_error = 0;
};

// Trains to the end; replicas are identical, or it fails.
Outcome Train(ClusterOptions options) {
  AdamChecker adam(options);
  options.listener = &adam;
  Cluster cluster(std::move(options));
  Roots roots;
  cluster.simulator()->network()->AddObserver(&roots);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_TRUE(cluster.results().replicas_identical());
  for (const OperatorReply& reply : cluster.job_operator()->replies()) EXPECT_TRUE(reply.accepted) << reply.text;
  return {roots.roots, adam.results, adam.largest_error};
}

TEST(MovingRootsTest, AdamTrainsAsOneProcessWouldWhoeverTheRootIs) {
  const Outcome outcome = Train(Moving());
  EXPECT_EQ(outcome.roots.size(), kNodes);
  EXPECT_EQ(outcome.results, 2 * 30);
  EXPECT_LT(outcome.largest_error, 1e-5);
}

TEST(MovingRootsTest, ReplicasAreIdenticalUnderALossyCodec) {
  const Outcome outcome = Train(Moving({{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.1}}}}));
  EXPECT_EQ(outcome.roots.size(), kNodes);
  EXPECT_EQ(outcome.results, 2 * 30);
  EXPECT_GT(outcome.largest_error, 1e-5);
}

}  // namespace
}  // namespace banyan
