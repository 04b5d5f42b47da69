#include "sim/runs/training_simulation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kElements = 4096;
constexpr int kNodes = 3;
constexpr double kRateBps = 1e6;

// Each worker pulls the one vector that all train towards a target of its own; together they reach the mean of the
// targets.
class Bowl : public GradientSource, public WorkerListener {
 public:
  Bowl() : values_(kElements, 0.0f) {}

  static float Target(WorkerName worker, size_t element) {
    return static_cast<float>(element % 7) + static_cast<float>(worker.node.value()) - 2;
  }

  void Fill(WorkerName worker, size_t /*tensor*/, Round round, absl::Span<float> values) override {
    EXPECT_EQ(round, round == Round(0) ? Round(0) : applied_.Next()) << "the results before are there";
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = round == Round(0) ? values_[i] : values_[i] - Target(worker, i);
    }
    ++fills_;
  }

  void FillWeights(size_t /*tensor*/, absl::Span<float> values) override {
    std::copy(values_.begin(), values_.end(), values.begin());
    ++weight_fills_;
  }

  void OnResult(Timestamp /*now*/, WorkerName /*worker*/, size_t /*tensor*/, Round round,
                absl::Span<const float> values) override {
    if (round <= applied_) return;
    applied_ = round;
    for (size_t i = 0; i < values.size(); ++i) values_[i] -= 0.3f * values[i];
  }

  // Root of the mean squared distance from the mean of the targets.
  double Distance() const {
    double sum = 0;
    for (size_t i = 0; i < values_.size(); ++i) sum += std::pow(values_[i] - static_cast<float>(i % 7), 2);
    return std::sqrt(sum / kElements);
  }
  int fills() const { return fills_; }
  int weight_fills() const { return weight_fills_; }

 private:
  std::vector<float> values_;
  Round applied_ = Round(0);
  int fills_ = 0;
  int weight_fills_ = 0;
};

TrainingSimulationOptions Options(Bowl* bowl) {
  TrainingSimulationOptions options;
  options.overlay.links.emplace();
  for (int i = 1; i <= kNodes; ++i) {
    options.overlay.nodes.emplace_back().name = absl::StrCat("n", i);
    for (int j = 1; j < i; ++j) {
      LinkConfig& link = options.overlay.links->emplace_back();
      link.a = absl::StrCat("n", j);
      link.b = absl::StrCat("n", i);
      link.a_to_b_bps = link.b_to_a_bps = kRateBps;
      link.delay = absl::Milliseconds(5);
    }
  }
  options.overlay.chunks.max_elements = 512;
  options.tensors = {{"w", kElements, 0}};
  options.rounds = 30;
  options.compute_time = absl::Milliseconds(10);
  options.source = bowl;
  options.listener = bowl;
  return options;
}

TEST(TrainingSimulationTest, TheSourcesGradientsAreWhatIsTrainedWith) {
  Bowl bowl;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(Options(&bowl));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  EXPECT_EQ(bowl.fills(), kNodes * 31);
  EXPECT_LT(bowl.Distance(), 1e-3);
  ASSERT_EQ(report->round_ends.size(), 30u);
  EXPECT_GT(report->round_ends.front(), absl::Milliseconds(20));
  EXPECT_EQ(report->volume, 1);
  // Each member's 16 kB go to a root and its result comes back, but for those of the root itself.
  EXPECT_NEAR(static_cast<double>(report->sent_bytes), 30 * 2 * (kNodes - 1) * 4.0 * kElements,
              0.1 * report->sent_bytes);
}

TEST(TrainingSimulationTest, CompressedTrainingSendsLessAndStillArrives) {
  Bowl plain_bowl;
  const absl::StatusOr<TrainingReport> plain = SimulateTraining(Options(&plain_bowl));
  ASSERT_TRUE(plain.ok()) << plain.status();
  Bowl bowl;
  TrainingSimulationOptions options = Options(&bowl);
  options.overlay.compression.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.25}}}};
  options.rounds = 90;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  EXPECT_LT(bowl.Distance(), 0.5);
  EXPECT_NEAR(report->volume, 0.29, 0.03);
  EXPECT_LT(report->sent_bytes / 90, plain->sent_bytes / 30 / 2);
  EXPECT_LT(report->simulated() / 90, plain->simulated() / 30);
}

TEST(TrainingSimulationTest, WorkersRegisterTheModelsWeights) {
  Bowl bowl;
  TrainingSimulationOptions options = Options(&bowl);
  options.overlay.compression.rules = {{.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}};
  options.weights_every = 10;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  EXPECT_EQ(bowl.weight_fills(), kNodes * 3);
}

TEST(TrainingSimulationTest, LinksChangeByRoundsOrByTime) {
  Bowl bowl;
  TrainingSimulationOptions options = Options(&bowl);
  options.rounds = 20;
  options.rates.part = [](uint64_t step, NodeId) { return step == 0 ? 1.0 : 0.1; };
  options.rates.rounds = 10;
  const absl::StatusOr<TrainingReport> by_rounds = SimulateTraining(options);
  ASSERT_TRUE(by_rounds.ok()) << by_rounds.status();
  const absl::Duration fast = by_rounds->round_ends[9];
  EXPECT_GT(by_rounds->simulated() - fast, 4 * fast);

  options.source = nullptr;
  options.listener = nullptr;
  options.rates.rounds = 0;
  options.rates.period = absl::Hours(1);
  const absl::StatusOr<TrainingReport> unchanged = SimulateTraining(options);
  ASSERT_TRUE(unchanged.ok()) << unchanged.status();
  EXPECT_LT(unchanged->simulated(), 2.2 * fast);
}

TEST(TrainingSimulationTest, RefusesATrainingOfNothing) {
  TrainingSimulationOptions options = Options(nullptr);
  options.source = nullptr;
  options.listener = nullptr;
  options.tensors.clear();
  EXPECT_EQ(SimulateTraining(options).status().code(), absl::StatusCode::kInvalidArgument);
}

// Levels are of the same elements: 31 bits and a sign take as much as a float.
TEST(TrainingSimulationTest, AnEncodingInLevelsCountsItsElementsOnce) {
  Bowl bowl;
  TrainingSimulationOptions options = Options(&bowl);
  options.rounds = 5;
  options.overlay.compression.rules = {{.codec = CodecId::kTrimSign}};
  options.overlay.trimming.policy = TrimPolicyKind::kOff;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_NEAR(report->volume, 1, 0.01);
}

}  // namespace
}  // namespace banyan
