// The real network trains in the simulator: whole jobs, on images that are easy to tell apart.
#include "examples/fashion_mnist/accuracy/accuracy_run.h"

#include "core/random.h"
#include "examples/fashion_mnist/accuracy/accuracy_scenario.h"
#include "examples/fashion_mnist/classifier.h"
#include "gtest/gtest.h"
#include "sim/runs/training_simulation.h"

namespace banyan {
namespace {

// Images whose label shows as a bright row.
ImageSet MakeImages(int count) {
  ImageSet images;
  Random random(1);
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(random.Below(kClasses));
    for (int64_t pixel = 0; pixel < kImagePixels; ++pixel) {
      const bool bright = pixel / kImageSide / 2 == label;
      images.pixels.push_back(static_cast<uint8_t>(random.Below(40) + (bright ? 200 : 0)));
    }
    images.labels.push_back(static_cast<uint8_t>(label));
  }
  return images;
}

AccuracySetup SmallSetup() {
  AccuracySetup setup;
  setup.overlay = MeshOverlay(ModelElements());
  setup.images.training = MakeImages(8 * 4 * 70);
  setup.images.test = MakeImages(200);
  setup.compute_time = absl::Milliseconds(300);
  setup.batch = 4;
  return setup;
}

class AccuracyRunTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { UseOneThread(); }
};

TEST_F(AccuracyRunTest, CompressionSavesBytesAndTimeAndStillLearns) {
  const AccuracySetup setup = SmallSetup();
  const absl::StatusOr<AccuracyResult> plain = RunAccuracy(setup, {}, kReferenceMbps, 1);
  ASSERT_TRUE(plain.ok()) << plain.status();
  const absl::StatusOr<AccuracyOptions::Combination> netsense = ParseCombination("{codec: topk, controller: netsense}");
  ASSERT_TRUE(netsense.ok()) << netsense.status();
  const absl::StatusOr<AccuracyResult> compressed = RunAccuracy(setup, netsense->config, kReferenceMbps, 1);
  ASSERT_TRUE(compressed.ok()) << compressed.status();
  EXPECT_TRUE(plain->replicas_identical);
  EXPECT_TRUE(compressed->replicas_identical);
  EXPECT_EQ(plain->volume, 1);
  EXPECT_LT(compressed->volume, 0.3);
  EXPECT_LT(compressed->sent_bytes, 0.4 * plain->sent_bytes);
  EXPECT_GT(compressed->samples_per_second, 2 * plain->samples_per_second);
  EXPECT_GT(plain->accuracy, 0.9);
  EXPECT_GT(compressed->accuracy, 0.5);
  ASSERT_TRUE(plain->seconds_to_target.has_value());
  EXPECT_LE(*plain->seconds_to_target, plain->seconds);
}

TEST_F(AccuracyRunTest, EightWorkersTakeTheStepsOfOneModel) {
  const ImageSet images = MakeImages(8 * 4 * 10);
  std::vector<WorkerName> workers;
  for (uint32_t node = 1; node <= 8; ++node) workers.push_back({NodeId(node), WorkerId(0)});
  ReplicaTrainer trainer({.model = {.learning_rate = 0.05}, .batch = 4, .rounds = 10}, workers, &images, &images);
  TrainingSimulationOptions options;
  options.overlay = MeshOverlay(ModelElements());
  options.tensors = trainer.tensors();
  options.rounds = 10;
  options.source = &trainer;
  options.listener = &trainer;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(trainer.losses().size(), 10u);
  EXPECT_NEAR(trainer.losses().front(), 2.3, 0.1);
  EXPECT_LT(trainer.losses().back(), trainer.losses().front());
  ASSERT_EQ(trainer.measurements().size(), 1u);
  EXPECT_EQ(trainer.measurements()[0].round, 10u);
  EXPECT_NE(trainer.HashValues(), Classifier({.learning_rate = 0.05}).HashValues());
}

TEST_F(AccuracyRunTest, SaysWhenThereAreTooFewImages) {
  AccuracySetup setup = SmallSetup();
  setup.batch = 1000;
  EXPECT_EQ(RunAccuracy(setup, {}, kReferenceMbps, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
