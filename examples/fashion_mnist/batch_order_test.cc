#include "examples/fashion_mnist/batch_order.h"

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

}  // namespace
}  // namespace banyan
