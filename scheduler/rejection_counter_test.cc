#include "scheduler/rejection_counter.h"

#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

TEST(RejectionCounterTest, CountsAllAndSaysAFew) {
  RejectionCounter counter;
  const Timestamp start;
  for (int i = 0; i < kMaxRejectionLines; ++i) EXPECT_EQ(counter.Reject(start, "nonsense"), "rejected: nonsense");
  for (int i = 0; i < 7; ++i) EXPECT_EQ(counter.Reject(start, "nonsense"), std::nullopt);
  EXPECT_EQ(counter.Reject(start + kRejectionLineInterval, "again"),
            "rejected: again (and 7 more since the last such line)");
  EXPECT_EQ(counter.Reject(start + kRejectionLineInterval, "more"), "rejected: more");
  EXPECT_EQ(counter.count(), static_cast<uint64_t>(kMaxRejectionLines) + 9);
}

}  // namespace
}  // namespace banyan
