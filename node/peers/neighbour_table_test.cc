#include "node/peers/neighbour_table.h"

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/neighbour_table_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ConnectionId kInbound = kInboundConnection;
constexpr ConnectionId kOtherInbound = ConnectionId(kInboundConnection.value() + 1);

class NeighbourTableTest : public NeighbourTableFixture {
 protected:
  // Returns whether a message was taken as one of a neighbour.
  bool Receive(ConnectionId connection, Message message, int64_t size_bytes = 0) {
    StepContext step = Now();
    MessageReceived received{connection, std::move(message), size_bytes > 0 ? Bytes(size_bytes) : Payload()};
    const Neighbour* from = table_.FindSender(step, received);
    if (from != nullptr) from_ = from->slice.node;
    return from != nullptr;
  }
  // Returns whether the last message made this node close its connection.
  bool IsClosed() const { return !actions_.empty() && std::holds_alternative<Disconnect>(actions_.back()); }

  // Returns the connections to `node` that are made anew now, and whether only if they do not move.
  std::vector<std::pair<ConnectionId, bool>> Renewed(uint32_t node) {
    StepContext step = Now();
    table_.OnDeadline(step);
    table_.RenewUnechoed(step, At(node));
    std::vector<std::pair<ConnectionId, bool>> renewed;
    for (const Action& action : actions_) {
      if (const auto* renew = std::get_if<Renew>(&action))
        renewed.emplace_back(renew->connection, renew->unless_moving);
    }
    return renewed;
  }
  std::vector<std::string> Logged() const {
    std::vector<std::string> lines;
    for (const Action& action : actions_) {
      if (const auto* line = std::get_if<LogLine>(&action)) lines.push_back(line->text);
    }
    return lines;
  }

  const Timestamp begin_ = now_;
  NodeId from_;  // of the last message that was taken
};

TEST_F(NeighbourTableTest, ANewNeighbourGetsAControlConnectionAndOneForEachOfItsLinks) {
  Add(2);
  ASSERT_THAT(actions_, SizeIs(2));
  const Connect control = std::get<Connect>(actions_[0]);
  const Connect data = std::get<Connect>(actions_[1]);
  EXPECT_EQ(control.connection, kFirstControl);
  EXPECT_EQ(control.channel, Channel::kControl);
  EXPECT_EQ(data.connection, kFirstData);
  EXPECT_EQ(data.channel, Channel::kData);
  Add(2, PolicyVersion(2));
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(NeighbourTableTest, TheNewestPolicyDecidesWhatANeighbourIs) {
  Add(2, PolicyVersion(5));
  NeighbourSlice again = SliceOf(2);
  again.incarnation = Incarnation(77);
  StepContext step = Now();
  table_.Add(step, again, PolicyVersion(4), {}, {});
  EXPECT_EQ(At(2).slice.incarnation, Incarnation(2));
  table_.Add(step, again, PolicyVersion(6), {}, {});
  EXPECT_EQ(At(2).slice.incarnation, Incarnation(77));
  EXPECT_EQ(At(2).newest_policy, PolicyVersion(6));
}

TEST_F(NeighbourTableTest, ANeighbourThatCameBackGetsNewConnections) {
  for (const bool has_moved : {true, false}) {
    NeighbourTable table({"job", Term(1), NodeId(1), Incarnation(1)}, config_, {.inbound_connections = 2});
    StepContext step = Now();
    table.Add(step, SliceOf(2), PolicyVersion(1), {}, {});
    MessageReceived hello{kInbound, HelloOf(2), {}};
    table.FindSender(step, hello);
    NeighbourSlice again = SliceOf(2);
    if (has_moved) {
      again.address = "tcp://elsewhere:1";
    } else {
      again.incarnation = Incarnation(77);
    }
    StepContext later = Now();
    table.Add(later, again, PolicyVersion(2), {}, {});
    std::vector<ConnectionId> closed, opened;
    for (const Action& action : actions_) {
      if (const auto* disconnect = std::get_if<Disconnect>(&action)) closed.push_back(disconnect->connection);
      if (const auto* connect = std::get_if<Connect>(&action)) opened.push_back(connect->connection);
    }
    EXPECT_THAT(closed, ElementsAre(kFirstControl, kFirstData, kInbound));
    EXPECT_THAT(opened, ElementsAre(kSecondControl, kSecondData));
    EXPECT_EQ(table.At(NodeId(2)).slice, again);
    // Nothing of the former connections counts any more.
    EXPECT_EQ(table.OnConnectionDown(later, kFirstData), nullptr);
  }
}

TEST_F(NeighbourTableTest, WhoIsNotNamedForAWhileIsClosed) {
  Add(2);
  Add(3, PolicyVersion(2));
  table_.RetirePolicies(PolicyVersion(2));
  StepContext step = Now();
  table_.CloseUnnamed(step);
  now_ = now_ + config_.lost_after;
  StepContext early = Now();
  table_.CloseUnnamed(early);
  EXPECT_NE(table_.Find(NodeId(2)), nullptr);
  now_ = now_ + absl::Seconds(1);
  StepContext late = Now();
  table_.CloseUnnamed(late);
  EXPECT_EQ(table_.Find(NodeId(2)), nullptr);
  EXPECT_NE(table_.Find(NodeId(3)), nullptr);
  EXPECT_THAT(actions_, SizeIs(2));
  // With the next policy it is there again.
  Add(2, PolicyVersion(3));
  EXPECT_NE(table_.Find(NodeId(2)), nullptr);
}

// A late ack of the former link would be taken for one of the new link.
TEST_F(NeighbourTableTest, LinkSequencesRiseOverAllLinksToANeighbour) {
  AddNeighbours();
  const auto send = [this](ConnectionId connection) {
    StepContext step = Now();
    table_.OnConnectionUp(step, connection);
    At(2).link.Enqueue(FullChunk(1, {1, 2}), Bytes(1000));
    table_.Pump(step, At(2));
    return Sent<ChunkMessage>().at(0).second.link_sequence;
  };
  EXPECT_EQ(send(kFirstData), 1u);
  NeighbourSlice again = SliceOf(2);
  again.incarnation = Incarnation(77);
  StepContext step = Now();
  table_.Add(step, again, PolicyVersion(2), {.size_bytes = 10000}, {});
  EXPECT_EQ(send(ConnectionId(kSecondData.value() + 2)), 2u);
}

TEST_F(NeighbourTableTest, OfUnknownSendersWhatIsOfALaterEpochStays) {
  Receive(kInbound, HelloOf(2));
  for (const uint64_t epoch : {1, 2, 3}) {
    ChunkMessage chunk = Chunk(1, {2, 1});
    chunk.id.epoch = Epoch(epoch);
    Receive(kInbound, chunk, 100);
  }
  const int64_t all_bytes = table_.unknown_bytes();
  table_.DropChunks(Epoch(3));
  EXPECT_EQ(table_.unknown_bytes(), all_bytes / 3);
  EXPECT_THAT(table_.TakeEarly(NodeId(2), Incarnation(2)), SizeIs(1));
  EXPECT_EQ(table_.unknown_bytes(), 0);
}

TEST_F(NeighbourTableTest, WhatAnIncarnationThatNoPolicyNamesYetSendsWaits) {
  Add(2);
  PeerHello hello = HelloOf(2);
  hello.incarnation = Incarnation(77);
  EXPECT_FALSE(Receive(kInbound, hello));
  EXPECT_FALSE(IsClosed());
  EXPECT_FALSE(Receive(kInbound, Chunk(1, {2, 1}), 100));
  EXPECT_GT(table_.unknown_bytes(), 100);
  EXPECT_THAT(table_.TakeEarly(NodeId(2), Incarnation(2)), IsEmpty());
  NeighbourSlice again = SliceOf(2);
  again.incarnation = Incarnation(77);
  StepContext step = Now();
  table_.Add(step, again, PolicyVersion(2), {}, {});
  EXPECT_THAT(table_.TakeEarly(NodeId(2), Incarnation(77)), SizeIs(1));
  EXPECT_EQ(table_.unknown_bytes(), 0);
  EXPECT_TRUE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(rejections_.total(), 0u);
}

TEST_F(NeighbourTableTest, FindsNeighboursAndNamesOthersByNumber) {
  Add(2);
  EXPECT_EQ(table_.Find(NodeId(2)), &At(2));
  EXPECT_EQ(table_.Find(NodeId(7)), nullptr);
  EXPECT_EQ(table_.NameOf(NodeId(2)), "n2");
  EXPECT_EQ(table_.NameOf(NodeId(7)), "node 7");
}

TEST_F(NeighbourTableTest, SaysHelloOnEveryConnectionOfItsOwnAndOnNoOther) {
  Add(2);
  for (ConnectionId connection : {kFirstControl, kFirstData}) {
    StepContext step = Now();
    table_.OnConnectionUp(step, connection);
    PeerHello hello = HelloOf(1);
    hello.to = NodeId(2);
    EXPECT_THAT(Sent<PeerHello>(), ElementsAre(std::make_pair(connection, hello)));
  }
  StepContext step = Now();
  table_.OnConnectionUp(step, kInbound);
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(NeighbourTableTest, ALinkIsUpWhileADataConnectionIs) {
  AddNeighbours();
  EXPECT_TRUE(At(2).link.is_up());
  EXPECT_EQ(Down(kFirstControl), nullptr);
  EXPECT_FALSE(At(2).control.is_up());
  EXPECT_TRUE(At(2).link.is_up());
  EXPECT_EQ(Down(kFirstData), &At(2));
  EXPECT_FALSE(At(2).link.is_up());
  EXPECT_TRUE(At(3).link.is_up());
}

TEST_F(NeighbourTableTest, AConnectionThatCarriesNothingIsMadeAnew) {
  AddNeighbours();
  At(2).link.Enqueue(FullChunk(1, {1, 2}), Bytes(1000));
  StepContext first = Now();
  table_.Pump(first, At(2));
  EXPECT_EQ(table_.NextDeadline(), now_ + absl::Seconds(1));
  now_ = now_ + absl::Milliseconds(999);
  EXPECT_THAT(Renewed(2), IsEmpty());
  now_ = now_ + absl::Milliseconds(1);
  EXPECT_THAT(Renewed(2), ElementsAre(std::make_pair(kFirstData, true)));
  EXPECT_EQ(At(2).link.counters().renewals, 0u);
  Down(kFirstData);
  EXPECT_EQ(At(2).link.counters().renewals, 1u);
  EXPECT_THAT(Logged(), ElementsAre(HasSubstr("nothing passed over a connection to n2")));
  EXPECT_GT(At(2).link.queued_bytes(), 0);
  EXPECT_THAT(Renewed(2), IsEmpty());
}

TEST_F(NeighbourTableTest, OvertakingsOfAllConnectionsToANeighbourAreReported) {
  AddNeighbours();
  table_.OnOvertook(kFirstData, 3);
  table_.OnOvertook(kFirstControl, 1);
  table_.OnOvertook(kInbound, 7);
  EXPECT_EQ(At(2).Report(/*is_measured=*/false, now_).overtakings, 4u);
  EXPECT_EQ(At(3).Report(/*is_measured=*/false, now_).overtakings, 0u);
}

TEST_F(NeighbourTableTest, AControlConnectionWhoseHeartbeatsAreNotEchoedIsMadeAnew) {
  AddNeighbours();
  now_ = now_ + config_.heartbeat;
  for (const uint32_t node : {2, 3}) {
    StepContext step = Now();
    table_.SendHeartbeat(step, At(node));
  }
  Receive(kInbound, HelloOf(2));
  EXPECT_TRUE(Receive(kInbound, PeerHeartbeat{now_, std::nullopt}));
  now_ = now_ + absl::Milliseconds(1800);
  EXPECT_THAT(Renewed(2), IsEmpty());
  now_ = now_ + absl::Milliseconds(1);
  EXPECT_THAT(Renewed(2), ElementsAre(std::make_pair(kFirstControl, false)));
  EXPECT_THAT(Renewed(2), IsEmpty());
  EXPECT_EQ(At(2).link.counters().renewals, 1u);
  // One that was never heard may be right not to echo.
  EXPECT_THAT(Renewed(3), IsEmpty());
}

TEST_F(NeighbourTableTest, ANeighbourThatCannotBeReachedIsNamedOnceWithTheReason) {
  Add(2);
  for (const ConnectionId connection : {kFirstControl, kFirstControl, kFirstData, kInbound}) {
    StepContext step = Now();
    table_.OnConnectFailed(step, connection, "Connection refused");
    EXPECT_THAT(Logged(), SizeIs(connection == kFirstControl && now_ == begin_ ? 1 : 0));
    now_ = now_ + absl::Milliseconds(100);
  }
  EXPECT_FALSE(table_.BecomesUnreachable(At(2), begin_ + absl::Milliseconds(999)));
  EXPECT_TRUE(table_.BecomesUnreachable(At(2), begin_ + absl::Seconds(1)));
  EXPECT_FALSE(table_.BecomesUnreachable(At(2), begin_ + absl::Seconds(2)));
  Add(2, PolicyVersion(2));
  EXPECT_TRUE(table_.BecomesUnreachable(At(2), begin_ + absl::Seconds(3)));
  EXPECT_EQ(At(2).unreachable, "Connection refused");
}

// As where another process answers at its address, and sends this one away each time.
TEST_F(NeighbourTableTest, ANeighbourWhoseConnectionsAreEndedAtOnceCannotBeReachedEither) {
  Add(2);
  for (int i = 0; i < 10; ++i) {
    StepContext up = Now();
    table_.OnConnectionUp(up, kFirstControl);
    EXPECT_FALSE(table_.BecomesUnreachable(At(2), now_));
    Down(kFirstControl);
    StepContext step = Now();
    table_.OnConnectFailed(step, kFirstControl, "told to go away");
    EXPECT_THAT(Logged(), SizeIs(i == 0 ? 1 : 0));
    EXPECT_EQ(table_.BecomesUnreachable(At(2), now_), i == 5);
    now_ = now_ + absl::Milliseconds(200);
  }
}

TEST_F(NeighbourTableTest, ANeighbourThatNoPolicyInForceNamesNeedNotBeReached) {
  Add(2);
  StepContext step = Now();
  table_.OnConnectFailed(step, kFirstControl, "Connection refused");
  table_.RetirePolicies(PolicyVersion(2));
  EXPECT_FALSE(table_.BecomesUnreachable(At(2), now_ + absl::Seconds(2)));
}

TEST_F(NeighbourTableTest, AMessageCountsAfterHelloOnItsConnectionUntilThatIsLost) {
  Add(2);
  EXPECT_FALSE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(rejections_.total(), 1u);
  EXPECT_FALSE(Receive(kInbound, HelloOf(2)));
  EXPECT_TRUE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(from_, NodeId(2));
  EXPECT_FALSE(Receive(kOtherInbound, LinkAck()));
  Down(kInbound);
  EXPECT_FALSE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(rejections_.total(), 3u);
}

TEST_F(NeighbourTableTest, AWrongHelloClosesItsConnection) {
  Add(2);
  std::vector<PeerHello> wrong(4, HelloOf(2));
  wrong[0].protocol_version = kProtocolVersion + 1;
  wrong[1].job = "another";
  wrong[2].node = NodeId(1);
  wrong[3].node = kSchedulerNode;
  for (size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_FALSE(Receive(kInbound, wrong[i]));
    EXPECT_TRUE(IsClosed());
    EXPECT_EQ(rejections_.total(), i + 1);
  }
  EXPECT_FALSE(Receive(kInbound, LinkAck()));
}

// An address of it leads here, or an old one of this node.
TEST_F(NeighbourTableTest, AHelloForAnotherNodeIsToldWhoIsHere) {
  Add(2);
  PeerHello hello = HelloOf(3);
  hello.to = NodeId(2);
  EXPECT_FALSE(Receive(kInbound, hello));
  ASSERT_TRUE(IsClosed());
  EXPECT_EQ(std::get<Disconnect>(actions_.back()).reason,
            "this is node 1, and n2 was wanted; does its address lead here?");
  // Of itself too.
  hello.node = NodeId(1);
  EXPECT_FALSE(Receive(kOtherInbound, hello));
  EXPECT_THAT(std::get<Disconnect>(actions_.back()).reason, HasSubstr("n2 was wanted"));
  hello = HelloOf(2);
  hello.to = NodeId(1);
  Receive(ConnectionId(kInbound.value() + 5), hello);
  EXPECT_FALSE(IsClosed());
}

// Else a neighbour could have it closed for good.
TEST_F(NeighbourTableTest, NothingComesOnAConnectionThatThisNodeHasOpened) {
  Add(2);
  PeerHello wrong = HelloOf(2);
  wrong.job = "another";
  EXPECT_FALSE(Receive(kFirstData, wrong));
  EXPECT_FALSE(IsClosed());
  EXPECT_EQ(rejections_.total(), 1u);
}

TEST_F(NeighbourTableTest, AConnectionBelongsToOneNode) {
  Add(2);
  Add(3);
  Receive(kInbound, HelloOf(2));
  Receive(kInbound, HelloOf(3));
  EXPECT_TRUE(IsClosed());
  Receive(kInbound, HelloOf(2));
  EXPECT_FALSE(IsClosed());
  EXPECT_TRUE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(from_, NodeId(2));
}

TEST_F(NeighbourTableTest, InboundConnectionsHaveALimit) {
  Receive(kInbound, HelloOf(2));
  Receive(kOtherInbound, HelloOf(3));
  Receive(ConnectionId(kOtherInbound.value() + 1), HelloOf(4));
  EXPECT_TRUE(IsClosed());
  Down(kInbound);
  Receive(ConnectionId(kOtherInbound.value() + 1), HelloOf(4));
  EXPECT_FALSE(IsClosed());
}

TEST_F(NeighbourTableTest, AConnectionThatIsClosedTakesNobodysPlace) {
  for (uint64_t i = 0; i < 10; ++i) {
    const ConnectionId liar(kOtherInbound.value() + 1 + i);
    Receive(liar, HelloOf(8));
    Receive(liar, HelloOf(9));
    EXPECT_TRUE(IsClosed());
  }
  Receive(kInbound, HelloOf(2));
  EXPECT_FALSE(IsClosed());
  Receive(kOtherInbound, HelloOf(3));
  EXPECT_FALSE(IsClosed());
}

TEST_F(NeighbourTableTest, NothingOfAnotherIncarnationThanTheNewestPolicyNamesCounts) {
  Add(2);
  Receive(kInbound, HelloOf(2));
  NeighbourSlice again = SliceOf(2);
  again.incarnation = Incarnation(77);
  StepContext step = Now();
  table_.Add(step, again, PolicyVersion(2), {}, {});
  EXPECT_FALSE(Receive(kInbound, LinkAck()));
  EXPECT_EQ(rejections_.total(), 1u);
  PeerHello hello = HelloOf(2);
  hello.incarnation = Incarnation(77);
  Receive(kOtherInbound, hello);
  EXPECT_TRUE(Receive(kOtherInbound, LinkAck()));
}

TEST_F(NeighbourTableTest, ChunksOfUnknownSendersWaitWithinABound) {
  Receive(kInbound, HelloOf(2));
  Receive(kInbound, Chunk(1, {2, 1}), 1000);
  Receive(kInbound, PeerHeartbeat());
  EXPECT_EQ(rejections_.total(), 0u);
  Receive(kInbound, LinkAck());
  Receive(kInbound, Chunk(2, {2, 1}), 3000);
  EXPECT_EQ(rejections_.total(), 2u);
  EXPECT_GT(table_.unknown_bytes(), 1000);
  EXPECT_LE(table_.unknown_bytes(), 3000);
  const std::deque<MessageReceived> early = table_.TakeEarly(NodeId(2), Incarnation(2));
  ASSERT_THAT(early, SizeIs(1));
  EXPECT_EQ(std::get<ChunkMessage>(early[0].message).id.chunk, ChunkIndex(1));
  EXPECT_EQ(early[0].connection, kInbound);
  EXPECT_EQ(table_.unknown_bytes(), 0);
  EXPECT_THAT(table_.TakeEarly(NodeId(2), Incarnation(2)), IsEmpty());
}

// What goes was not acknowledged, and comes again.
TEST_F(NeighbourTableTest, AnUnknownSenderThatSendsMuchGivesWayToOneThatSendsLittle) {
  Receive(kInbound, HelloOf(2));
  for (uint32_t chunk = 0; chunk < 10; ++chunk) Receive(kInbound, Chunk(chunk, {2, 1}), 500);
  const uint64_t refused = rejections_.total();
  EXPECT_GT(refused, 0u);
  Receive(kOtherInbound, HelloOf(3));
  Receive(kOtherInbound, Chunk(1, {3, 1}), 500);
  EXPECT_EQ(rejections_.total(), refused);
  EXPECT_LE(table_.unknown_bytes(), 3000);
  EXPECT_THAT(table_.TakeEarly(NodeId(3), Incarnation(3)), SizeIs(1));
  EXPECT_GT(table_.TakeEarly(NodeId(2), Incarnation(2)).size(), 1u);
  EXPECT_EQ(table_.unknown_bytes(), 0);
}

TEST_F(NeighbourTableTest, DropsTheChunksOfLinksAndOfUnknownSenders) {
  AddNeighbours();
  Receive(kInbound, HelloOf(4));
  Receive(kInbound, Chunk(1, {4, 1}), 1000);
  At(2).link.Enqueue(FullChunk(1, {1, 2}), Bytes(1000));
  table_.DropChunks();
  EXPECT_EQ(table_.unknown_bytes(), 0);
  EXPECT_THAT(table_.TakeEarly(NodeId(4), Incarnation(4)), IsEmpty());
  EXPECT_EQ(At(2).link.queued_bytes(), 0);
}

TEST_F(NeighbourTableTest, SendsToNeighboursOnly) {
  AddNeighbours();
  StepContext step = Now();
  table_.Send(step, NodeId(3), Grant());
  table_.Send(step, NodeId(7), Grant());
  ASSERT_THAT(Sent<Grant>(), SizeIs(1));
  EXPECT_EQ(Sent<Grant>()[0].first, kSecondControl);
}

TEST_F(NeighbourTableTest, TheDeadlineIsThatOfTheFirstLinkAckThatWaits) {
  AddNeighbours();
  EXPECT_EQ(table_.NextDeadline(), kNever);
  StepContext step = Now();
  table_.Acknowledge(step, At(2), {1, now_, now_}, /*may_wait=*/true);
  const Timestamp first = now_ + LinkAckBuffer::kLongestWait;
  now_ = now_ + absl::Milliseconds(5);
  StepContext later = Now();
  table_.Acknowledge(later, At(3), {1, now_, now_}, /*may_wait=*/true);
  EXPECT_EQ(table_.NextDeadline(), first);
  now_ = first;
  StepContext due = Now();
  table_.OnDeadline(due);
  ASSERT_THAT(Sent<LinkAck>(), SizeIs(1));
  EXPECT_EQ(Sent<LinkAck>()[0].first, kFirstControl);
  EXPECT_EQ(table_.NextDeadline(), first + absl::Milliseconds(5));
}

TEST_F(NeighbourTableTest, OnlyWhomALivePolicyNamesIsFoundLost) {
  Add(2, PolicyVersion(1));
  Add(3, PolicyVersion(2));
  table_.RetirePolicies(PolicyVersion(2));
  now_ = now_ + config_.lost_after + absl::Nanoseconds(1);
  EXPECT_FALSE(table_.BecomesLost(At(2), now_));
  EXPECT_TRUE(table_.BecomesLost(At(3), now_));
  EXPECT_FALSE(table_.BecomesLost(At(3), now_));
  // Its silence counts from when a live policy names it again.
  Add(2, PolicyVersion(2));
  EXPECT_FALSE(table_.BecomesLost(At(2), now_ + config_.lost_after));
  EXPECT_TRUE(table_.BecomesLost(At(2), now_ + config_.lost_after + absl::Nanoseconds(1)));
}

TEST_F(NeighbourTableTest, AnyMessageAndAHelloCountAsHeard) {
  Add(2);
  now_ = now_ + config_.lost_after;
  Receive(kInbound, HelloOf(2));
  now_ = now_ + config_.lost_after;
  EXPECT_FALSE(table_.BecomesLost(At(2), now_));
  Receive(kInbound, LinkAck());
  now_ = now_ + config_.lost_after;
  EXPECT_FALSE(table_.BecomesLost(At(2), now_));
}

TEST_F(NeighbourTableTest, HeartbeatsGoOnceAnIntervalWhileTheConnectionIsUp) {
  Add(2);
  now_ = now_ + config_.heartbeat;
  StepContext down = Now();
  table_.SendHeartbeat(down, At(2));
  EXPECT_THAT(actions_, IsEmpty());
  table_.OnConnectionUp(down, kFirstControl);
  StepContext up = Now();
  table_.SendHeartbeat(up, At(2));
  table_.SendHeartbeat(up, At(2));
  ASSERT_THAT(Sent<PeerHeartbeat>(), SizeIs(1));
  EXPECT_EQ(Sent<PeerHeartbeat>()[0].first, kFirstControl);
}

}  // namespace
}  // namespace banyan
