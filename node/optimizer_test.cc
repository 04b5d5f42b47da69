#include "node/optimizer.h"

#include <cmath>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "node/optimizer_state.h"

namespace banyan {
namespace {

constexpr int kElements = 37;
constexpr int kSteps = 200;
constexpr uint32_t kWeight = 9;

// The published update rules, one element at a time in double precision, written as in the papers and unlike the code
// under test.
class Reference {
 public:
  explicit Reference(const AggregationConfig& config) : config_(config) {}

  double Update(double sum, double value) {
    const double g = sum / kWeight + config_.weight_decay * value;
    switch (config_.op) {
      case AggregationOp::kMomentum:
        velocity_ = config_.momentum * velocity_ + g;
        return -config_.learning_rate * velocity_;
      case AggregationOp::kNesterov:
        velocity_ = config_.momentum * velocity_ + g;
        return -config_.learning_rate * (g + config_.momentum * velocity_);
      case AggregationOp::kAdam:
        return Adam(g);
      default:
        return -config_.learning_rate * g;
    }
  }

 private:
  double Adam(double g) {
    m_ = config_.beta1 * m_ + (1 - config_.beta1) * g;
    v_ = config_.beta2 * v_ + (1 - config_.beta2) * g * g;
    beta1_power_ *= config_.beta1;
    beta2_power_ *= config_.beta2;
    const double m_hat = m_ / (1 - beta1_power_);
    const double v_hat = v_ / (1 - beta2_power_);
    return -config_.learning_rate * m_hat / (std::sqrt(v_hat) + config_.epsilon);
  }

  AggregationConfig config_;
  double velocity_ = 0, m_ = 0, v_ = 0;
  double beta1_power_ = 1, beta2_power_ = 1;
};

class OptimizerTest : public testing::TestWithParam<std::tuple<AggregationOp, double>> {
 protected:
  AggregationConfig config() const {
    AggregationConfig config;
    config.op = std::get<0>(GetParam());
    config.weight_decay = std::get<1>(GetParam());
    return config;
  }
};

TEST_P(OptimizerTest, FollowsTheDoublePrecisionReference) {
  Random random(5);
  OptimizerState state(config().op);
  std::vector<Reference> references(kElements, Reference(config()));
  std::vector<double> exact(kElements, 1.0);
  std::vector<float> values(kElements, 1.0f);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> sum(kElements), update(kElements);
    for (float& s : sum) s = static_cast<float>(random.Unit() * 4 - 1.5);
    ApplyOptimizer(config(), sum, kWeight, values, state.BeginStep(64, kElements), absl::MakeSpan(update));
    for (int i = 0; i < kElements; ++i) {
      const double expected = references[i].Update(sum[i], exact[i]);
      EXPECT_NEAR(update[i], expected, 1e-5 * std::abs(expected) + 1e-7) << "step " << step << " element " << i;
      exact[i] += expected;
      values[i] += update[i];
    }
  }
  for (int i = 0; i < kElements; ++i) EXPECT_NEAR(values[i], exact[i], 1e-4);
}

TEST_P(OptimizerTest, TheUpdateMayTakeTheSumsPlace) {
  std::vector<float> sum(kElements), apart(kElements), values(kElements, 2.0f);
  for (int i = 0; i < kElements; ++i) sum[i] = static_cast<float>(i - 10);
  OptimizerState state(config().op), same_state(config().op);
  ApplyOptimizer(config(), sum, kWeight, values, state.BeginStep(0, kElements), absl::MakeSpan(apart));
  ApplyOptimizer(config(), sum, kWeight, values, same_state.BeginStep(0, kElements), absl::MakeSpan(sum));
  EXPECT_EQ(sum, apart);
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerTest,
                         testing::Combine(testing::Values(AggregationOp::kSgd, AggregationOp::kMomentum,
                                                          AggregationOp::kNesterov, AggregationOp::kAdam),
                                          testing::Values(0.0, 0.01)));

TEST(OptimizerOpTest, OnlyTheFourAreOptimizers) {
  EXPECT_FALSE(IsOptimizer(AggregationOp::kSum));
  EXPECT_FALSE(IsOptimizer(AggregationOp::kMean));
  EXPECT_TRUE(IsOptimizer(AggregationOp::kSgd));
  EXPECT_TRUE(IsOptimizer(AggregationOp::kAdam));
}

}  // namespace
}  // namespace banyan
