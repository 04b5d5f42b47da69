#include "examples/precision/guided_training.h"

#include <gtest/gtest.h>

#include <string>

#include "core/random.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/precision/image_model.h"
#include "examples/precision/residual_model.h"
#include "examples/precision/text_model.h"

namespace banyan {
namespace {

// Images of two kinds, which a network tells apart after a few rounds: bright above or below.
ImageSet Images(int64_t count, uint64_t seed) {
  Random random(seed);
  ImageSet images;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t label = static_cast<uint8_t>(random.Below(2));
    images.labels.push_back(label);
    for (int64_t pixel = 0; pixel < kImagePixels; ++pixel) {
      const bool is_bright = (pixel < kImagePixels / 2) == (label == 0);
      images.pixels.push_back(static_cast<uint8_t>((is_bright ? 150 : 0) + random.Below(100)));
    }
  }
  return images;
}

GuidedTraining Training(const char* controls) {
  GuidedTraining training;
  training.profile.detector = {0.02, 0.5, 0.2};
  training.profile.admission.warmup_steps = 10;
  training.profile.exposure.bound = 0.5;
  training.profile.controls = *NamedControls(controls);
  SliceBinding slice;
  slice.elements = 102400;
  slice.role = TensorRole::kEncoder;
  slice.is_candidate = true;
  training.binding = PrecisionBinding("net", {}, {{"fc1.weight", 102400, {slice}}});
  training.rounds = 40;
  training.workers = 3;
  return training;
}

class GuidedTrainingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseOneThread(); }

  GuidedOutcome RunWhole(const GuidedTraining& training) {
    const ImageSet test_images = Images(100, 2);
    ImageModel model({.workers = training.workers, .batch = 4}, Images(300, 1), test_images);
    return RunGuidedTraining(training, model);
  }

  GuidedResult Run(const GuidedTraining& training) { return RunWhole(training).result; }
};

TEST_F(GuidedTrainingTest, FullPrecisionLearnsAndSendsAllBytes) {
  const GuidedResult result = Run(Training("fp32"));
  EXPECT_GT(result.quality.accuracy, 0.95);
  EXPECT_EQ(result.sent_ratio(), 1);
  EXPECT_EQ(result.candidates.plain, 40);
}

TEST_F(GuidedTrainingTest, StaticIsLowBitInEveryRoundAndSendsLess) {
  const GuidedResult result = Run(Training("static"));
  EXPECT_EQ(result.candidates.low_bit, 40);
  EXPECT_LT(result.sent_ratio(), 0.2);
  EXPECT_EQ(result.all.violations, 0);
}

TEST_F(GuidedTrainingTest, ControlledRoundsKeepTheirBudget) {
  const GuidedResult result = Run(Training("calibrated"));
  EXPECT_EQ(result.candidates.plain, 10);
  EXPECT_GT(result.candidates.low_bit, 0);
  EXPECT_LE(result.candidates.low_bit_share(), 0.53);
  EXPECT_GT(result.quality.accuracy, 0.95);
}

TEST_F(GuidedTrainingTest, TheSameSeedGivesTheSameTraining) {
  const GuidedOutcome first = RunWhole(Training("calibrated"));
  const GuidedOutcome second = RunWhole(Training("calibrated"));
  EXPECT_EQ(first.audit_json, second.audit_json);
  EXPECT_EQ(first.result.quality.accuracy, second.result.quality.accuracy);
}

TEST_F(GuidedTrainingTest, ATransformerLearnsByVotesOfItsMatrices) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "abcdefgh";
  const absl::StatusOr<TextCorpus> corpus = TextCorpus::Cut(text, 3, kTextContext + 1);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  TextModel model({.workers = 3, .batch = 2, .width = 16, .heads = 2, .layers = 1, .measured = 4}, *corpus);
  const double before = *model.Measure().nats;
  GuidedTraining training = Training("static");
  SliceBinding slice;
  slice.elements = 16 * 48;
  slice.role = TensorRole::kEncoder;
  slice.is_candidate = true;
  training.binding = PrecisionBinding("text", {}, {{"block0.qkv.weight", slice.elements, {slice}}});
  training.learning_rate = 0.01;
  const GuidedResult result = RunGuidedTraining(training, model).result;
  EXPECT_EQ(result.candidates.low_bit, 40);
  EXPECT_EQ(result.all.violations, 0);
  EXPECT_LT(*result.quality.nats, 0.5 * before);
  EXPECT_GT(result.quality.accuracy, 0.9);
}

TEST_F(GuidedTrainingTest, AResidualNetworkLearnsByVotesOfAConvolution) {
  const ImageSet test_images = Images(100, 2);
  ResidualModel model({.workers = 3, .batch = 8}, Images(300, 1), test_images);
  GuidedTraining training = Training("static");
  SliceBinding slice;
  slice.elements = 64 * 64 * 9;
  slice.role = TensorRole::kBackbone;
  slice.is_candidate = true;
  training.binding = PrecisionBinding("residual", {}, {{"block2.conv2.weight", slice.elements, {slice}}});
  const GuidedResult result = RunGuidedTraining(training, model).result;
  EXPECT_EQ(result.candidates.low_bit, 40);
  EXPECT_EQ(result.all.violations, 0);
  EXPECT_GT(result.quality.accuracy, 0.9);
  int64_t elements = 0;
  for (const GuidedModel::Parameter& parameter : model.parameters()) {
    EXPECT_EQ(parameter.values.size(), parameter.gradient.size()) << parameter.name;
    elements += static_cast<int64_t>(parameter.values.size());
  }
  EXPECT_EQ(elements, 77754);
}

}  // namespace
}  // namespace banyan
