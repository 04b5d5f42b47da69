#include "scheduler/open_round.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const KeyId kFirst(1);
const KeyId kSecond(2);

class OpenRoundTest : public testing::Test {
 protected:
  OpenRoundTest() : keys_(100), rounds_(&keys_, {"n1", "n2"}, absl::ZeroDuration(), 1) {
    mesh_.Start();
    EXPECT_TRUE(keys_.Register({"a", 10}).ok());
    EXPECT_TRUE(keys_.Register({"b", 10}).ok());
    rounds_.UsePolicy(PolicyVersion(1), 2);
  }

  void Push(uint32_t node, KeyId key, uint64_t round) {
    NodeReport report;
    report.workers_attached = 1;
    report.progress = {{key, Round(0), Round(round)}};
    ASSERT_TRUE(reports_.Accept(NodeId(node), report, 2, 2).ok());
  }
  void Hold(uint32_t node, KeyId key, uint64_t round) {
    rounds_.Request(Timestamp(), NodeId(node), {{{key, Round(round)}}});
    rounds_.Report(Timestamp(), NodeId(node), {{{key, Round(round), 7}}});
  }
  std::optional<OpenRound> Find() const { return FindOpenRound(keys_, rounds_, mesh_.members.table(), reports_); }

  MeshJob mesh_{2};
  KeyTable keys_;
  JobRounds rounds_;
  NodeReports reports_;
};

TEST_F(OpenRoundTest, NobodyWaitsForARoundThatNobodyHasPushed) {
  EXPECT_FALSE(Find().has_value());
  for (const uint32_t node : {1, 2}) Hold(node, kFirst, 0);
  Push(1, kFirst, 0);
  EXPECT_FALSE(Find().has_value()) << "it is closed";
}

TEST_F(OpenRoundTest, NamesWhoHasNotPushed) {
  Push(1, kSecond, 0);
  const std::optional<OpenRound> open = Find();
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->key, kSecond);
  EXPECT_EQ(open->round, Round(0));
  EXPECT_THAT(open->not_pushed, ElementsAre(NodeId(2)));
  EXPECT_THAT(open->not_held, IsEmpty());
}

TEST_F(OpenRoundTest, NamesWhoLacksTheResultWhenAllHavePushed) {
  Push(1, kFirst, 0);
  Push(2, kFirst, 0);
  Hold(2, kFirst, 0);
  ASSERT_TRUE(Find().has_value());
  EXPECT_THAT(Find()->not_pushed, IsEmpty());
  EXPECT_THAT(Find()->not_held, ElementsAre(NodeId(1)));
}

TEST_F(OpenRoundTest, WhoHasLeftIsNotAwaited) {
  Push(1, kFirst, 0);
  mesh_.members.Leave(NodeId(2), false);
  ASSERT_TRUE(Find().has_value());
  EXPECT_THAT(Find()->not_pushed, IsEmpty());
}

// Its worker came late: it is in step in one key, and has not come to the other one.
TEST_F(OpenRoundTest, WhoAbstainsIsAwaitedWhereItIsInStep) {
  for (uint64_t round = 0; round < 5; ++round) {
    for (const KeyId key : {kFirst, kSecond}) {
      for (const uint32_t node : {1, 2}) Hold(node, key, round);
    }
  }
  mesh_.members.SetWorkerless(NodeId(2), /*has_values=*/false);
  Push(2, kFirst, 4);
  Push(1, kFirst, 5);
  ASSERT_TRUE(Find().has_value());
  EXPECT_THAT(Find()->not_pushed, ElementsAre(NodeId(2)));
  Push(1, kSecond, 5);
  ASSERT_TRUE(Find().has_value());
  EXPECT_THAT(Find()->not_pushed, IsEmpty());
}

}  // namespace
}  // namespace banyan
