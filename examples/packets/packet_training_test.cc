#include "examples/packets/packet_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace banyan {
namespace {

// A row of weights that are to become 1, 2, 3 and so on: the gradient is what is missing. `seen_` is what the last
// worker computed with.
class Slope : public GuidedModel {
 public:
  explicit Slope(size_t size) : values_(size), gradient_(size), seen_(size) {
    parameters_.push_back({"slope", absl::MakeSpan(gradient_), absl::MakeSpan(values_), 1});
  }
  absl::Span<const Parameter> parameters() const override { return parameters_; }
  double ComputeGradients(int64_t /*worker*/, int64_t /*label_shift*/) override {
    seen_ = values_;
    for (size_t i = 0; i < values_.size(); ++i) gradient_[i] = values_[i] - static_cast<float>(i + 1);
    return 0;
  }
  void ApplyGradients(double learning_rate) override {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] -= static_cast<float>(learning_rate) * gradient_[i];
  }
  ModelQuality Measure() override { return {values_.back() / static_cast<double>(values_.size())}; }

  std::vector<float> values_, gradient_, seen_;

 private:
  std::vector<Parameter> parameters_;
};

PacketTraining Training(bool cuts_weights) {
  return {.scheme = "sign",
          .cuts = {.share = 0.5},
          .cuts_weights = cuts_weights,
          .rounds = 60,
          .workers = 4,
          .learning_rate = 0.2};
}

TEST(PacketTrainingTest, WithoutCutsItLearns) {
  Slope model(2000);
  PacketTraining training = Training(false);
  training.cuts.share = 0;
  const PacketOutcome outcome = RunPacketTraining(training, model);
  EXPECT_NEAR(outcome.accuracy, 1, 0.01);
  EXPECT_EQ(outcome.error, 0);
  EXPECT_NEAR(outcome.arrived_part, 1, 0.01);
}

TEST(PacketTrainingTest, CutGradientsAreSeenInTheErrorAndTheBytes) {
  Slope model(2000);
  const PacketOutcome outcome = RunPacketTraining(Training(false), model);
  EXPECT_GT(outcome.error, 0.01);
  EXPECT_NEAR(outcome.arrived_part, 0.5, 0.1);
}

TEST(PacketTrainingTest, CutWeightsAreSeenByWorkersAlone) {
  Slope model(2000);
  PacketTraining training = Training(true);
  training.cuts.share = 1;
  RunPacketTraining(training, model);
  // All numbers of a message that is cut have one size, and those that the optimizer keeps have not.
  EXPECT_EQ(std::abs(model.seen_[0]), std::abs(model.seen_[1999]));
  EXPECT_NE(std::abs(model.values_[0]), std::abs(model.values_[1999]));
}

}  // namespace
}  // namespace banyan
