#include "examples/fashion_mnist/classifier.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

// Images whose label shows as a bright row.
ImageSet MakeImages(int count) {
  ImageSet images;
  Random random(1);
  for (int i = 0; i < count; ++i) {
    const int label = i % kClasses;
    for (int64_t pixel = 0; pixel < kImagePixels; ++pixel) {
      const bool bright = pixel / kImageSide / 2 == label;
      images.pixels.push_back(static_cast<uint8_t>(random.Below(40) + (bright ? 200 : 0)));
    }
    images.labels.push_back(static_cast<uint8_t>(label));
  }
  return images;
}

Batch FirstImages(int count) {
  std::vector<int64_t> indices(count);
  for (int i = 0; i < count; ++i) indices[i] = i;
  return MakeBatch(MakeImages(count), indices);
}

TEST(ClassifierTest, NamesItsParametersInForwardOrder) {
  const Classifier classifier({});
  std::vector<std::string> names;
  for (const Classifier::Parameter& parameter : classifier.parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc1.weight", "fc1.bias",
                                 "fc2.weight", "fc2.bias"));
}

TEST(ClassifierTest, TheSeedDecidesTheFirstValues) {
  EXPECT_EQ(Classifier({.seed = 3}).HashValues(), Classifier({.seed = 3}).HashValues());
  EXPECT_NE(Classifier({.seed = 3}).HashValues(), Classifier({.seed = 4}).HashValues());
}

TEST(ClassifierTest, GivesEachGradientOnceTheLastLayerFirst) {
  Classifier classifier({});
  std::vector<size_t> order;
  classifier.ComputeGradients(FirstImages(10), [&](size_t index) { order.push_back(index); });
  ASSERT_EQ(order.size(), classifier.parameters().size());
  EXPECT_GE(order.front(), 6u);
  EXPECT_LE(order.back(), 1u);
}

TEST(ClassifierTest, TheGradientIsTheSlopeOfTheLoss) {
  Classifier classifier({});
  const Batch batch = FirstImages(20);
  const auto ignore = [](size_t) {};
  classifier.ComputeGradients(batch, ignore);
  const Classifier::Parameter& bias = classifier.parameters().back();
  const std::vector<float> gradient(bias.gradient.begin(), bias.gradient.end());
  constexpr float kStep = 1e-2f;
  for (size_t i = 0; i < gradient.size(); ++i) {
    bias.values[i] += kStep;
    const double above = classifier.ComputeGradients(batch, ignore);
    bias.values[i] -= 2 * kStep;
    const double below = classifier.ComputeGradients(batch, ignore);
    bias.values[i] += kStep;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-3);
  }
}

TEST(ClassifierTest, APlainStepFollowsTheGradientGivenBack) {
  Classifier classifier({.learning_rate = 0.5});
  const Classifier::Parameter& bias = classifier.parameters().back();
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    for (float& value : parameter.gradient) value = 0;
  }
  const float before = bias.values[2];
  bias.gradient[2] = 4;
  classifier.ApplyGradients();
  EXPECT_FLOAT_EQ(bias.values[2], before - 2);
}

TEST(ClassifierTest, TheLearningRateHoldsFromTheNextStepOn) {
  Classifier classifier({.learning_rate = 0.5});
  const Classifier::Parameter& bias = classifier.parameters().back();
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    for (float& value : parameter.gradient) value = 0;
  }
  const float before = bias.values[2];
  bias.gradient[2] = 4;
  classifier.SetLearningRate(0.25);
  classifier.ApplyGradients();
  EXPECT_FLOAT_EQ(bias.values[2], before - 1);
}

TEST(ClassifierTest, AdamsFirstStepIsTheLearningRate) {
  Classifier classifier({.learning_rate = 0.01, .adam = true});
  const Classifier::Parameter& bias = classifier.parameters().back();
  const float before = bias.values[2];
  bias.gradient[2] = 4;
  classifier.ApplyGradients();
  EXPECT_NEAR(bias.values[2], before - 0.01f, 1e-6);
}

TEST(ClassifierTest, TheHiddenLayerSetsTheSize) {
  const auto size = [](int64_t hidden) {
    const Classifier classifier({.hidden = hidden});
    size_t parameters = 0;
    for (const Classifier::Parameter& parameter : classifier.parameters()) parameters += parameter.values.size();
    return parameters;
  };
  EXPECT_EQ(size(128), 117066u);
  EXPECT_EQ(size(129), size(128) + 811);
}

TEST(ClassifierTest, LearnsAndIsRepeatable) {
  const ImageSet images = MakeImages(200);
  uint64_t hashes[2];
  for (uint64_t& hash : hashes) {
    Classifier classifier({.learning_rate = 0.006, .adam = true});
    for (int64_t round = 0; round < 40; ++round) {
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < 20; ++i) indices.push_back((round * 20 + i) % images.size());
      classifier.ComputeGradients(MakeBatch(images, indices), [](size_t) {});
      classifier.ApplyGradients();
    }
    EXPECT_GT(classifier.MeasureAccuracy(images), 0.9);
    hash = classifier.HashValues();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

// What a worker gets that joins a training: from there on it takes the same steps as the others.
TEST(ClassifierTest, AReplicaTrainsOnFromTheStateOfAnother) {
  for (const bool adam : {false, true}) {
    Classifier old_replica({.seed = 3, .adam = adam});
    Classifier new_replica({.seed = 4, .adam = adam});
    const Batch batch = FirstImages(20);
    const auto step = [&batch](Classifier& replica) {
      replica.ComputeGradients(batch, [](size_t) {});
      replica.ApplyGradients();
    };
    for (int i = 0; i < 3; ++i) step(old_replica);
    const std::vector<Classifier::StatePiece> from = old_replica.TrainingState();
    const std::vector<Classifier::StatePiece> to = new_replica.TrainingState();
    ASSERT_EQ(from.size(), to.size());
    for (size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(from[i].name, to[i].name);
      ASSERT_EQ(from[i].bytes.size(), to[i].bytes.size());
      std::copy(from[i].bytes.begin(), from[i].bytes.end(), to[i].bytes.begin());
    }
    for (int i = 0; i < 3; ++i) {
      step(old_replica);
      step(new_replica);
      EXPECT_EQ(old_replica.HashValues(), new_replica.HashValues()) << "step " << i << (adam ? " of adam" : "");
    }
  }
}

}  // namespace
}  // namespace banyan
