#include <variant>

#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

TEST(RejectionLogTest, CountsAllAndLogsEachPowerOfTwo) {
  RejectionLog log;
  Actions actions;
  for (int i = 0; i < 1000; ++i) log.Reject("hello", "from node 7", actions);
  EXPECT_EQ(log.total(), 1000u);
  ASSERT_EQ(actions.size(), 10u);
  EXPECT_EQ(std::get<LogLine>(actions[0]).text, "rejected: hello: from node 7");
  EXPECT_EQ(std::get<LogLine>(actions[2]).text, "rejected: hello: from node 7 (4 of this kind so far)");
  EXPECT_EQ(std::get<LogLine>(actions[0]).level, LogLevel::kWarning);
}

TEST(RejectionLogTest, KindsAreCountedApart) {
  RejectionLog log;
  Actions actions;
  for (int i = 0; i < 3; ++i) log.Reject("hello", "x", actions);
  log.Reject("chunk", "y", actions);
  EXPECT_EQ(log.total(), 4u);
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(std::get<LogLine>(actions[2]).text, "rejected: chunk: y");
}

}  // namespace
}  // namespace banyan
