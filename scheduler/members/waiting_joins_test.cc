#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/members/job_members.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

constexpr ConnectionId kFirst(11);
constexpr ConnectionId kSecond(12);
const NodeId kNode(3);

Join StartOf(uint64_t incarnation) {
  Join join;
  join.incarnation = Incarnation(incarnation);
  return join;
}

TEST(WaitingJoinsTest, AStartWaitsOnItsLastConnection) {
  WaitingJoins waiting;
  EXPECT_FALSE(waiting.Add(kNode, kFirst, StartOf(5)).has_value());
  EXPECT_FALSE(waiting.Add(kNode, kSecond, StartOf(5)).has_value());
  EXPECT_THAT(waiting.Nodes(), testing::ElementsAre(kNode));
  EXPECT_EQ(waiting.Drop(kFirst), std::nullopt) << "it has another one now";
  const auto taken = waiting.Take(kNode);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->connection, kSecond);
  EXPECT_EQ(taken->join.incarnation, Incarnation(5));
  EXPECT_FALSE(waiting.Take(kNode).has_value());
}

TEST(WaitingJoinsTest, TheNewestStartOfANodeIsTakenFirst) {
  WaitingJoins waiting;
  waiting.Add(kNode, kFirst, StartOf(5));
  waiting.Add(kNode, kSecond, StartOf(6));
  EXPECT_THAT(waiting.Nodes(), testing::ElementsAre(kNode));
  EXPECT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting.Take(kNode)->connection, kSecond);
  EXPECT_TRUE(waiting.Contains(kNode));
  EXPECT_EQ(waiting.Drop(kFirst), kNode);
  EXPECT_FALSE(waiting.Contains(kNode));
}

TEST(WaitingJoinsTest, TheOldestStartMakesRoom) {
  WaitingJoins waiting;
  for (uint64_t start = 1; start <= kMostWaitingStarts; ++start) {
    EXPECT_FALSE(waiting.Add(kNode, ConnectionId(10 + start), StartOf(start)).has_value());
  }
  const auto oldest = waiting.Add(kNode, ConnectionId(9), StartOf(100));
  ASSERT_TRUE(oldest.has_value());
  EXPECT_EQ(oldest->connection, kFirst);
  EXPECT_EQ(waiting.size(), kMostWaitingStarts);
}

TEST(WaitingJoinsTest, GoesWithItsConnection) {
  WaitingJoins waiting;
  waiting.Add(kNode, kFirst, StartOf(5));
  EXPECT_EQ(waiting.Drop(kFirst), kNode);
  EXPECT_FALSE(waiting.Contains(kNode));
  EXPECT_EQ(waiting.size(), 0u);
}

}  // namespace
}  // namespace banyan
