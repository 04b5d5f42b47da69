#include "examples/fashion_mnist/worker_training.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

std::vector<int64_t> Take(BatchOrder& order, int batches) {
  std::vector<int64_t> taken;
  for (int i = 0; i < batches; ++i) {
    const absl::Span<const int64_t> batch = order.Next();
    taken.insert(taken.end(), batch.begin(), batch.end());
  }
  return taken;
}

TEST(BatchOrderTest, AnEpochHoldsEverySampleOnce) {
  BatchOrder order(12, 4, 1);
  EXPECT_EQ(order.batches_per_epoch(), 3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const std::vector<int64_t> taken = Take(order, 3);
    EXPECT_EQ(std::set<int64_t>(taken.begin(), taken.end()).size(), 12u);
  }
}

TEST(BatchOrderTest, SkipsAnIncompleteBatch) {
  BatchOrder order(10, 4, 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order.Next().size(), 4u);
  EXPECT_EQ(order.batches_per_epoch(), 2);
}

TEST(BatchOrderTest, TheSeedDecides) {
  BatchOrder first(100, 10, 7), again(100, 10, 7), other(100, 10, 8);
  const std::vector<int64_t> taken = Take(first, 25);
  EXPECT_EQ(taken, Take(again, 25));
  EXPECT_NE(taken, Take(other, 25));
}

TEST(BatchOrderTest, EpochsDiffer) {
  BatchOrder order(100, 100, 7);
  const std::vector<int64_t> first = Take(order, 1);
  EXPECT_NE(first, Take(order, 1));
}

TEST(BatchOrderTest, SkipsBatchesAsIfTheyHadBeenSeen) {
  BatchOrder seen(100, 30, 7);
  BatchOrder skipped(100, 30, 7);
  for (int i = 0; i < 8; ++i) (void)seen.Next();
  skipped.Skip(8);
  EXPECT_EQ(skipped.Next(), seen.Next());
}

TEST(LearningRateTest, RisesOverATenthAndFallsToZero) {
  EXPECT_DOUBLE_EQ(LearningRatePart(0, 100), 0.1);
  EXPECT_DOUBLE_EQ(LearningRatePart(4, 100), 0.5);
  EXPECT_DOUBLE_EQ(LearningRatePart(10, 100), 1);
  EXPECT_DOUBLE_EQ(LearningRatePart(55, 100), 0.5);
  EXPECT_NEAR(LearningRatePart(99, 100), 0.01 / 0.9, 1e-12);
}

TEST(LearningRateTest, IsNeverAboveOneNorZero) {
  for (int64_t rounds : {1, 2, 7, 350}) {
    for (int64_t done = 0; done < rounds; ++done) {
      EXPECT_GT(LearningRatePart(done, rounds), 0);
      EXPECT_LE(LearningRatePart(done, rounds), 1);
    }
  }
}

std::vector<float> After(LocalMomentum& momentum, size_t tensor, std::vector<float> gradient) {
  momentum.AddTo(tensor, absl::MakeSpan(gradient));
  return gradient;
}

TEST(LocalMomentumTest, AddsUpWithFallingWeights) {
  LocalMomentum momentum(0.5);
  EXPECT_EQ(After(momentum, 1, {8, -4}), (std::vector<float>{8, -4}));
  EXPECT_EQ(After(momentum, 1, {0, 2}), (std::vector<float>{4, 0}));
  EXPECT_EQ(After(momentum, 1, {1, 1}), (std::vector<float>{3, 1}));
}

TEST(LocalMomentumTest, EachTensorHasItsOwn) {
  LocalMomentum momentum(0.5);
  After(momentum, 2, {8});
  EXPECT_EQ(After(momentum, 0, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(After(momentum, 2, {0}), std::vector<float>{4});
}

TEST(LocalMomentumTest, ZeroChangesNothing) {
  LocalMomentum momentum(0);
  After(momentum, 0, {8});
  EXPECT_EQ(After(momentum, 0, {1}), std::vector<float>{1});
}

}  // namespace
}  // namespace banyan
