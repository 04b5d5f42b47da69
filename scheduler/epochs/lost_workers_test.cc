#include "gtest/gtest.h"
#include "scheduler/epochs/epoch_changer.h"

namespace banyan {
namespace {

constexpr NodeId kNode(3);

TEST(LostWorkersTest, SaysAStateOnce) {
  LostWorkers lost;
  EXPECT_TRUE(lost.Note(kNode, "has died"));
  EXPECT_FALSE(lost.Note(kNode, "has died"));
  lost.OnReport(kNode);
  EXPECT_FALSE(lost.Note(kNode, "has died")) << "still so";
  EXPECT_TRUE(lost.Note(kNode, "who came since takes no part"));
  EXPECT_TRUE(lost.Note(NodeId(4), "has died"));
}

TEST(LostWorkersTest, SaysItAgainWhenItWasOver) {
  LostWorkers lost;
  lost.OnReport(kNode);
  EXPECT_TRUE(lost.Note(kNode, "has died"));
  lost.OnReport(kNode);
  lost.OnReport(kNode);
  EXPECT_TRUE(lost.Note(kNode, "has died"));
  lost.Forget(kNode);
  EXPECT_TRUE(lost.Note(kNode, "has died"));
}

}  // namespace
}  // namespace banyan
