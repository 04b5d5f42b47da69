#include "sim/testing/memory_checker.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

class MemoryCheckerTest : public testing::Test {
 protected:
  MemoryCheckerTest()
      : checker_({.model_bytes = 100, .early_bytes = 50, .relay_bytes = 20, .slack_bytes = 4}, &violations_) {}

  void Report(uint64_t contributions, uint64_t results, uint64_t early, uint64_t relayed) {
    NodeReport report;
    report.memory = {{"contributions", contributions}, {"results", results}, {"early", early}, {"relayed", relayed}};
    const Message message = report;
    const Payload payload;
    checker_.OnDelivered({Timestamp(), NodeId(1), kSchedulerNode, Channel::kControl, 0, 1, 64, message, payload});
  }

  Violations violations_;
  MemoryChecker checker_;
};

TEST_F(MemoryCheckerTest, WithinTheLimitsPasses) {
  Report(200, 100, 54, 24);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker_.most_round_bytes(), 300);
  EXPECT_EQ(checker_.reports(), 1);
}

TEST_F(MemoryCheckerTest, EachLimitIsWatched) {
  Report(201, 100, 0, 0);
  EXPECT_EQ(violations_.count(), 1);
  Report(0, 0, 55, 0);
  EXPECT_EQ(violations_.count(), 2);
  Report(0, 0, 0, 25);
  EXPECT_EQ(violations_.count(), 3);
  EXPECT_TRUE(violations_.Has("bounded"));
}

}  // namespace
}  // namespace banyan
