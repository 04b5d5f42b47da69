#include "node/rounds/optimizer.h"

#include <cmath>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "node/rounds/tensor_memory.h"

namespace banyan {
namespace {

constexpr int kElements = 37;
constexpr int kSteps = 200;

// The published update rules, one element at a time in double precision, written as in the papers and unlike the code
// under test.
class Reference {
 public:
  explicit Reference(const AggregationConfig& config) : config_(config) {}

  // What the value grows by.
  double Update(double gradient, double value) {
    const double g = gradient + config_.weight_decay * value;
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
  OptimizerState state(config().op, kElements);
  std::vector<Reference> references(kElements, Reference(config()));
  std::vector<double> exact(kElements, 1.0);
  Buffer parameters = Buffer::CopyOf(std::vector<float>(kElements, 1.0f));
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> gradient(kElements);
    for (float& g : gradient) g = static_cast<float>(random.Unit() * 0.4 - 0.15);
    for (int i = 0; i < kElements; ++i) exact[i] += references[i].Update(gradient[i], exact[i]);
    OptimizerStep made{config(), parameters, state.Slices(0, kElements)};
    MakeStep(made, absl::MakeSpan(gradient));
    state.EndStep();
    for (int i = 0; i < kElements; ++i) {
      ASSERT_NEAR(parameters.floats()[i], exact[i], 1e-6 * (step + 5)) << "step " << step << " element " << i;
      ASSERT_EQ(gradient[i], parameters.floats()[i]);
    }
  }
}

// Chunks differ from policy to policy, and vector instructions from processor to processor: neither may show.
TEST_P(OptimizerTest, AnElementGetsTheSameBitsAloneAndAmongOthers) {
  Random random(7);
  OptimizerState state(config().op, kElements), state_alone(config().op, kElements);
  Buffer parameters = Buffer::Allocate(kElements), parameters_alone = Buffer::Allocate(kElements);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> gradient(kElements);
    for (float& g : gradient) g = static_cast<float>(random.Unit() - 0.5);
    std::vector<float> alone = gradient;
    OptimizerStep made{config(), parameters, state.Slices(0, kElements)};
    MakeStep(made, absl::MakeSpan(gradient));
    for (int i = 0; i < kElements; ++i) {
      OptimizerStep made_alone{config(), parameters_alone.Slice(i, 1), state_alone.Slices(i, 1)};
      MakeStep(made_alone, absl::MakeSpan(&alone[i], 1));
    }
    state.EndStep();
    state_alone.EndStep();
    ASSERT_EQ(alone, gradient) << "step " << step;
  }
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
