#include "scheduler/epochs/epoch_history.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(EpochHistoryTest, KeepsTheLastAndCountsAll) {
  EpochHistory history;
  for (uint64_t epoch = 2; epoch < 30; ++epoch) {
    history.Add({Epoch(epoch), "why", 3, absl::Seconds(epoch == 10 ? 9 : 1)});
  }
  EXPECT_EQ(history.count(), 28u);
  EXPECT_EQ(history.total(), absl::Seconds(36));
  EXPECT_EQ(history.longest(), absl::Seconds(9));
  EXPECT_EQ(history.changes().size(), EpochHistory::kMostKept);
  EXPECT_EQ(history.changes().back().epoch, Epoch(29));
}

}  // namespace
}  // namespace banyan
