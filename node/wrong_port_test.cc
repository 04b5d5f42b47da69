#include <variant>

#include "gtest/gtest.h"
#include "node/scheduler_client.h"
#include "proto/peer_messages.h"
#include "proto/scheduler_messages.h"

namespace banyan {
namespace {

constexpr char kReason[] =
    "this is the port of node n1, not of a scheduler; n1's scheduler is at tcp://10.0.0.1:7700: give that one with "
    "--scheduler";

std::optional<Message> AnswerTo(const Message& message) {
  return AnswerAsNoScheduler(message, "n1", "tcp://10.0.0.1:7700");
}

TEST(WrongPortTest, ANodeThatWantsToJoinIsRefused) {
  const std::optional<Message> answer = AnswerTo(Join{});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(std::get<JoinRefused>(*answer).reason, kReason);
  EXPECT_FALSE(std::get<JoinRefused>(*answer).job_is_over);
  EXPECT_FALSE(std::get<JoinRefused>(*answer).fell_out);
}

TEST(WrongPortTest, CommandsHearWhereTheSchedulerIs) {
  for (const Message& order : {Message(StatusRequest{}), Message(Reconfigure{}), Message(StopJob{}),
                               Message(RemoveNode{}), Message(VetoLowBit{}), Message(TraceRounds{})}) {
    const std::optional<Message> answer = AnswerTo(order);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(std::get<OperatorReply>(*answer), (OperatorReply{false, kReason}));
  }
}

TEST(WrongPortTest, WhatNodesSayToEachOtherIsLeftAlone) {
  for (const Message& message : {Message(PeerHello{}), Message(LinkAck{}), Message(OperatorReply{})}) {
    EXPECT_FALSE(AnswerTo(message).has_value());
  }
}

}  // namespace
}  // namespace banyan
