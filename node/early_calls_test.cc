#include <variant>

#include "gtest/gtest.h"
#include "node/node_core.h"
#include "node/step_context.h"

namespace banyan {
namespace {

class EarlyCallsTest : public ::testing::Test {
 protected:
  Actions actions_;
  RejectionLog rejections_;
  StepContext step_{Timestamp(), actions_, rejections_};
  EarlyCalls calls_;
};

TEST_F(EarlyCallsTest, WaitInOrderUpToTheirLimit) {
  for (size_t i = 0; i < kMostEarlyCalls; ++i) {
    ASSERT_TRUE(calls_.has_room());
    calls_.Keep(WorkerAttach{RequestId(i + 1), WorkerId(0)});
  }
  EXPECT_FALSE(calls_.has_room());
  const std::deque<WorkerCall> taken = calls_.Take();
  ASSERT_EQ(taken.size(), kMostEarlyCalls);
  EXPECT_EQ(std::get<WorkerAttach>(taken[1]).request, RequestId(2));
  EXPECT_TRUE(calls_.has_room());
}

TEST_F(EarlyCallsTest, ThoseThatAreWaitedForAreRefusedOnce) {
  calls_.Keep(WorkerAttach{RequestId(7), WorkerId(0)});
  calls_.Keep(WorkerDetach{WorkerId(0)});
  calls_.Refuse(step_, absl::UnavailableError("no"));
  calls_.Refuse(step_, absl::UnavailableError("no"));
  ASSERT_EQ(actions_.size(), 1u);
  EXPECT_EQ(std::get<CompleteRequest>(actions_[0]).request, RequestId(7));
  EXPECT_EQ(std::get<CompleteRequest>(actions_[0]).status, absl::UnavailableError("no"));
}

}  // namespace
}  // namespace banyan
