#include "scheduler/push_order.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

const KeyId kA(1);
const KeyId kB(2);

class PushOrderTest : public testing::Test {
 protected:
  PushOrderTest() : keys_(100), rounds_(&keys_, {"n1", "n2"}, absl::ZeroDuration(), 1) {
    mesh_.Start();
    EXPECT_TRUE(keys_.Register({"a", 10}).ok());
    EXPECT_TRUE(keys_.Register({"b", 10}).ok());
  }

  // Says what n<node> has pushed, a second after the last report.
  std::string Report(uint32_t node, uint64_t a, uint64_t b, uint64_t step = 0) {
    NodeReport report;
    report.workers_attached = 1;
    report.step = step;
    report.progress = {{kA, Round(0), Round(a)}, {kB, Round(0), Round(b)}};
    EXPECT_TRUE(reports_.Accept(NodeId(node), report, 2, 2).ok());
    now_ = now_ + absl::Seconds(1);
    return order_.OnReport(now_, last_progress_, NodeId(node));
  }
  void Close(KeyId key, uint64_t first_open) {
    rounds_.Rebind(now_, {Epoch(1), PolicyVersion(1), {{key, key, Round(first_open)}}, {}}, {});
  }

  MeshJob mesh_{2};
  KeyTable keys_;
  JobRounds rounds_;
  NodeReports reports_;
  PushOrder order_{{&mesh_.members.table(), &reports_, &keys_, &rounds_}};
  Timestamp now_;
  Timestamp last_progress_;
};

TEST_F(PushOrderTest, NodesThatPushInAnotherOrderAreNamedOnce) {
  Close(kA, 5);
  Close(kB, 5);
  EXPECT_EQ(Report(1, 5, 4), "");
  EXPECT_EQ(Report(2, 4, 5), "") << "it may be on its way";
  const std::string found = Report(1, 5, 4);
  EXPECT_THAT(found, HasSubstr("n1 has pushed round 5 of key 'a' and not round 5 of key 'b', "
                               "n2 has pushed round 5 of key 'b' and not round 5 of key 'a'"));
  EXPECT_EQ(order_.disorder(), found);
  EXPECT_EQ(Report(2, 4, 5), "") << "it is said";
  last_progress_ = now_;
  Report(1, 5, 5);
  EXPECT_EQ(order_.disorder(), "");
}

TEST_F(PushOrderTest, AKeyThatIsPushedTwiceAStepEndsInAMutualWait) {
  Close(kA, 4);
  Close(kB, 3);
  Report(1, 4, 2);
  Report(2, 3, 3);
  EXPECT_THAT(Report(1, 4, 2), HasSubstr("n1 has pushed round 4 of key 'a' and not round 3 of key 'b'"));
}

TEST_F(PushOrderTest, ANodeThatIsBehindIsNoDisorder) {
  Close(kA, 5);
  Close(kB, 5);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Report(1, 5, 5), "");
    EXPECT_EQ(Report(2, 4, 4), "");
  }
}

TEST_F(PushOrderTest, WhoPushesAKeyMoreOftenInAStepIsNamed) {
  last_progress_ = Timestamp() + absl::Hours(1);
  const uint64_t steps = PushOrder::kSureFactor * PushOrder::kLeastSteps;
  for (uint64_t step = 1; step <= steps; ++step) {
    EXPECT_EQ(Report(1, 2 * step, step, step), "");
    EXPECT_EQ(Report(2, 2 * step, 2 * step, 2 * step), "");
  }
  Report(1, 2 * (steps + 1), steps + 1, steps + 1);
  EXPECT_THAT(order_.disorder(), HasSubstr("key 'a' is pushed 2 times in a step by n1 and 1 times by n2"));
}

TEST_F(PushOrderTest, ANodeWhosePushesJumpAsItComesBackIsNotNamed) {
  last_progress_ = Timestamp() + absl::Hours(1);
  constexpr uint64_t kBehind = 150;  // rounds that the others did meanwhile
  for (uint64_t step = 1; step <= 5 * kBehind; ++step) {
    const uint64_t jump = step == 1 ? 0 : kBehind;
    EXPECT_EQ(Report(1, kBehind + step, kBehind + step, kBehind + step), "");
    EXPECT_EQ(Report(2, jump + step, jump + step, step), "") << step;
  }
}

TEST_F(PushOrderTest, NodesMayReportStepsRarelyAndNotAtTheSameTime) {
  last_progress_ = Timestamp() + absl::Hours(1);
  for (uint64_t step = 10; step < 100; step += 10) {
    EXPECT_EQ(Report(1, step + 1, step, step), "");
    EXPECT_EQ(Report(2, step + 2, step + 2, step + 2), "");
  }
}

}  // namespace
}  // namespace banyan
