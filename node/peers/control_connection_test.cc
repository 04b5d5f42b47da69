#include "node/peers/control_connection.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/step_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ControlConnectionTest : public StepFixture {
 protected:
  void Up() {
    StepContext step = Now();
    control_.OnUp(step);
  }
  void Send(Message message) {
    StepContext step = Now();
    control_.Send(step, std::move(message));
  }
  // Acknowledges the chunk of this link sequence.
  void Acknowledge(uint64_t sequence, bool may_wait) {
    StepContext step = Now();
    control_.Acknowledge(step, {sequence, now_, now_}, may_wait);
  }
  void SendDueAcks() {
    StepContext step = Now();
    control_.SendDueAcks(step);
  }
  // Returns the sequences in each link ack that the last call sent.
  std::vector<std::vector<uint64_t>> Acks() {
    std::vector<std::vector<uint64_t>> acks;
    for (const auto& [connection, ack] : Sent<LinkAck>()) {
      acks.emplace_back();
      for (const LinkAck::Entry& entry : ack.entries) acks.back().push_back(entry.link_sequence);
    }
    return acks;
  }

  ControlConnection control_{ConnectionId(16), "n2", 2};
};

TEST_F(ControlConnectionTest, MessagesWaitInOrderUntilTheConnectionIsUp) {
  Acknowledge(1, /*may_wait=*/false);
  Send(Busy());
  EXPECT_THAT(actions_, IsEmpty());
  Up();
  ASSERT_THAT(actions_, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<LinkAck>(std::get<banyan::Send>(actions_[0]).message));
  EXPECT_TRUE(std::holds_alternative<Busy>(std::get<banyan::Send>(actions_[1]).message));
  EXPECT_EQ(std::get<banyan::Send>(actions_[0]).connection, ConnectionId(16));
  control_.OnDown();
  Send(Grant());
  EXPECT_THAT(actions_, IsEmpty());
  Up();
  EXPECT_THAT(actions_, SizeIs(1));
}

TEST_F(ControlConnectionTest, WhatFindsNoRoomToWaitIsDroppedAndCounted) {
  for (int i = 0; i < 5; ++i) Send(Grant());
  EXPECT_EQ(rejections_.total(), 3u);
  Up();
  EXPECT_THAT(Sent<Grant>(), SizeIs(2));
}

TEST_F(ControlConnectionTest, LinkAcksTravelTogether) {
  Up();
  Acknowledge(1, /*may_wait=*/true);
  EXPECT_THAT(Acks(), IsEmpty());
  EXPECT_EQ(control_.next_acks(), now_ + LinkAckBuffer::kLongestWait);
  Acknowledge(2, /*may_wait=*/true);
  EXPECT_THAT(Acks(), IsEmpty());
  EXPECT_EQ(control_.next_acks(), now_) << "with all others of this moment";
  Acknowledge(3, /*may_wait=*/false);
  SendDueAcks();
  EXPECT_THAT(Acks(), ElementsAre(ElementsAre(1, 2, 3)));
  EXPECT_EQ(control_.next_acks(), kNever);
}

TEST_F(ControlConnectionTest, ALinkAckThatWaitsGoesBeforeWhatIsSaidLater) {
  Up();
  Acknowledge(1, /*may_wait=*/true);
  Send(Busy());
  ASSERT_THAT(actions_, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<LinkAck>(std::get<banyan::Send>(actions_[0]).message));
  SendDueAcks();
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(ControlConnectionTest, ALinkAckGoesAloneWhenItIsDueAndNotBefore) {
  Up();
  Acknowledge(1, /*may_wait=*/true);
  now_ = now_ + (LinkAckBuffer::kLongestWait - absl::Nanoseconds(1));
  SendDueAcks();
  EXPECT_THAT(Acks(), IsEmpty());
  now_ = now_ + absl::Nanoseconds(1);
  SendDueAcks();
  EXPECT_THAT(Acks(), ElementsAre(ElementsAre(1)));
}

}  // namespace
}  // namespace banyan
