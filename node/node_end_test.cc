#include "gtest/gtest.h"
#include "node/node_core.h"

namespace banyan {
namespace {

const Timestamp kBegin = Timestamp() + absl::Seconds(100);

TEST(NodeEndTest, WhoIsAskedLeavesInTimeOrAtOnceWhenNobodyNeedsIt) {
  NodeEnd end(/*with_job=*/false);
  end.OnLeft();
  EXPECT_FALSE(end.status().has_value());
  end.Ask(kBegin);
  end.Ask(kBegin + absl::Seconds(1));
  EXPECT_EQ(end.NextDeadline(), kBegin + NodeEnd::kLongestFarewell);
  EXPECT_FALSE(end.IsDue(kBegin));
  EXPECT_TRUE(end.IsDue(end.NextDeadline()));
  end.OnLeft();
  ASSERT_TRUE(end.status().has_value());
  EXPECT_TRUE(end.status()->ok());
  EXPECT_EQ(end.NextDeadline(), kNever);
}

TEST(NodeEndTest, StaysWhenTheJobIsOverUnlessItEndsWithIt) {
  for (const bool with_job : {false, true}) {
    NodeEnd end(with_job);
    end.OnJobOver(absl::InternalError("torn"));
    EXPECT_EQ(end.status().has_value(), with_job);
  }
}

TEST(NodeEndTest, AFailureWaitsForWhatTheSchedulerSays) {
  NodeEnd end(/*with_job=*/true);
  end.OnFailure(kBegin, absl::InternalError("torn"));
  end.OnFailure(kBegin + absl::Seconds(3), absl::InternalError("later"));
  EXPECT_FALSE(end.status().has_value());
  EXPECT_TRUE(end.IsDue(kBegin + NodeEnd::kLongestFarewell));
  EXPECT_EQ(end.due_status(), absl::InternalError("torn"));
  end.OnJobOver(absl::OkStatus());
  end.Stop(end.due_status());
  EXPECT_TRUE(end.status()->ok()) << "the first stands";
}

TEST(NodeEndTest, WhoStaysOutlivesItsFailure) {
  NodeEnd end(/*with_job=*/false);
  end.OnFailure(kBegin, absl::InternalError("torn"));
  EXPECT_EQ(end.NextDeadline(), kNever);
}

}  // namespace
}  // namespace banyan
