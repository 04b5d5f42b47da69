#include "node/peers/peer_network.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/link/link_ack_buffer.h"
#include "node/testing/peer_network_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

using PeerNetworkTest = PeerNetworkFixture;

TEST_F(PeerNetworkTest, SaysHelloOnEveryConnection) {
  StepContext step = Now();
  network_.AddPolicy(step, Policy({2}));
  network_.AddPolicy(step, Policy({2}));
  EXPECT_THAT(actions_, SizeIs(2));
  network_.OnConnectionUp(step, kControlTo2);
  network_.OnConnectionUp(step, kDataTo2);
  EXPECT_THAT(Sent<PeerHello>(), SizeIs(2));
}

TEST_F(PeerNetworkTest, RefusesAHelloThatDoesNotBelongHere) {
  AddNeighbours();
  const PeerHello good{kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)};
  std::vector<PeerHello> bad(4, good);
  bad[0].protocol_version = 99;
  bad[1].job = "another";
  bad[2].node = NodeId(1);
  bad[3].node = kSchedulerNode;
  for (size_t i = 0; i < bad.size(); ++i) {
    Hello(bad[i], ConnectionId(kInbound.value() + 1));
    EXPECT_EQ(rejections_.total(), i + 1);
    EXPECT_TRUE(std::holds_alternative<Disconnect>(actions_.back()));
  }
  Hello(good);  // on the connection of node 2, which is closed for it
  EXPECT_EQ(rejections_.total(), 5u);
  for (uint64_t other : {1, 2}) Hello(good, ConnectionId(kInbound.value() + other));
  EXPECT_EQ(rejections_.total(), 5u);
  Hello(good, ConnectionId(kInbound.value() + 3));  // too many
  EXPECT_EQ(rejections_.total(), 6u);
}

TEST_F(PeerNetworkTest, NothingCountsBeforeHelloOrOnAWrongLink) {
  AddNeighbours();
  Receive(Chunk(1, {2, 1}), ConnectionId(kInbound.value() + 1));
  Receive(Chunk(1, {3, 1}));
  Receive(Chunk(1, {2, 3}));
  Receive(DeliveryAck{Chunk(1, {3, 1}).route, {}});
  Receive(Join{});
  EXPECT_EQ(rejections_.total(), 5u);
  EXPECT_THAT(received_, IsEmpty());
}

TEST_F(PeerNetworkTest, ChunksOfAnUnknownNodeWaitWithinABound) {
  Hello({kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(2)});
  Receive(Chunk(1, {2, 1}), kInbound, 500);
  Receive(Chunk(2, {2, 1, 3}), kInbound, 500);
  Receive(Chunk(3, {2, 1}), kInbound, 5000);
  EXPECT_EQ(rejections_.total(), 1u);
  EXPECT_GT(network_.unknown_bytes(), 1000);
  EXPECT_LE(network_.unknown_bytes(), 3000);
  StepContext step = Now();
  network_.AddPolicy(step, Policy({2, 3}));
  EXPECT_THAT(received_, ElementsAre(1));
  EXPECT_EQ(network_.unknown_bytes(), 0);
  // The one to be relayed was not lost, although node 3 became known after node 2.
  EXPECT_GT(network_.relay_bytes(), 0);
  EXPECT_EQ(rejections_.total(), 1u);
}

TEST_F(PeerNetworkTest, ARelayForwardsAndAnswersBusyWhenFull) {
  AddNeighbours();
  Receive(Chunk(1, {2, 1, 3}), kInbound, 5000);  // one always finds room
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  EXPECT_EQ(Sent<ChunkMessage>()[0].second.route.hop, 1u);
  EXPECT_THAT(Sent<LinkAck>(), SizeIs(1));
  const uint64_t sequence = Sent<ChunkMessage>()[0].second.link_sequence;
  Receive(Chunk(2, {2, 1, 3}), kInbound, 500);
  EXPECT_THAT(Sent<LinkAck>(), SizeIs(1));
  ASSERT_THAT(Sent<Busy>(), SizeIs(1));
  EXPECT_EQ(Sent<Busy>()[0].first, kControlTo2);
  EXPECT_THAT(Sent<Busy>()[0].second.route.path, ElementsAre(NodeId(1), NodeId(2)));
  Hello({kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)}, ConnectionId(kInbound.value() + 1));
  Receive(LinkAck{{{sequence, {}, {}}}}, ConnectionId(kInbound.value() + 1));
  EXPECT_THAT(Sent<Grant>(), SizeIs(1));
  EXPECT_EQ(network_.relay_bytes(), 0);
}

TEST_F(PeerNetworkTest, AnswersGoBackOverTheRelay) {
  AddNeighbours();
  ChunkMessage chunk = Chunk(1, {3, 2, 1});
  chunk.route.hop = 1;
  Receive(chunk);
  ASSERT_THAT(Sent<DeliveryAck>(), SizeIs(1));
  EXPECT_EQ(Sent<DeliveryAck>()[0].first, kControlTo2);
  EXPECT_THAT(Sent<DeliveryAck>()[0].second.route.path, ElementsAre(NodeId(1), NodeId(2), NodeId(3)));
  // And this node forwards those of others.
  Receive(DeliveryAck{Chunk(1, {2, 1, 3}).route, {ChunkId()}});
  ASSERT_THAT(Sent<DeliveryAck>(), SizeIs(1));
  EXPECT_EQ(Sent<DeliveryAck>()[0].first, kControlTo3);
  Receive(DeliveryAck{Chunk(1, {2, 1, 9}).route, {ChunkId()}});
  EXPECT_EQ(rejections_.total(), 1u);
}

TEST_F(PeerNetworkTest, TheLinkAckOfAChunkFromItsSourceSaysThatItIsDelivered) {
  AddNeighbours();
  Receive(Chunk(1, {2, 1}));
  EXPECT_THAT(Sent<DeliveryAck>(), IsEmpty());
  ASSERT_THAT(Sent<LinkAck>(), SizeIs(1));
  EXPECT_TRUE(Sent<LinkAck>()[0].second.entries[0].is_delivered);
  for (PeerNetwork::Verdict verdict : {PeerNetwork::Verdict::kNoRoom, PeerNetwork::Verdict::kRefused}) {
    verdict_ = verdict;
    Receive(Chunk(2, {2, 1}));
    // Before the refusal, which would mean nothing to the sender without it.
    const Action& first = actions_.front();
    EXPECT_FALSE(std::get<LinkAck>(std::get<Send>(first).message).entries[0].is_delivered);
  }
  EXPECT_THAT(Sent<Busy>(), IsEmpty());
}

TEST_F(PeerNetworkTest, LinkAcksThatMayWaitTravelTogether) {
  AddNeighbours();
  ReceiveFrom2(1, /*ack_may_wait=*/true);
  EXPECT_THAT(Sent<LinkAck>(), IsEmpty());
  now_ = now_ + absl::Milliseconds(1);
  ReceiveFrom2(2, /*ack_may_wait=*/true);
  ASSERT_THAT(Sent<LinkAck>(), SizeIs(1));
  const std::vector<LinkAck::Entry> entries = Sent<LinkAck>()[0].second.entries;
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[1].received_at - entries[0].received_at, absl::Milliseconds(1));
}

TEST_F(PeerNetworkTest, ALinkAckDoesNotWaitForEver) {
  AddNeighbours();
  ReceiveFrom2(1, /*ack_may_wait=*/true);
  ASSERT_EQ(network_.NextDeadline(), now_ + LinkAckBuffer::kLongestWait);
  now_ = network_.NextDeadline();
  Deadline(0);
  EXPECT_THAT(Sent<LinkAck>(), SizeIs(1));
  EXPECT_GT(network_.NextDeadline(), now_);
}

// Or a refusal would mean nothing to the sender, and a delivery could be known before the receipt.
TEST_F(PeerNetworkTest, LinkAcksThatWaitGoBeforeAllThatIsSaidLater) {
  AddNeighbours();
  ReceiveFrom2(1, /*ack_may_wait=*/true);
  EXPECT_THAT(Sent<LinkAck>(), IsEmpty());
  Hello({kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)}, kInboundOf3);
  Receive(DeliveryAck{Chunk(7, {3, 1, 2}).route, {ChunkId()}}, kInboundOf3);
  ASSERT_THAT(actions_, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<LinkAck>(std::get<Send>(actions_[0]).message));
  EXPECT_TRUE(std::holds_alternative<DeliveryAck>(std::get<Send>(actions_[1]).message));
}

TEST_F(PeerNetworkTest, OnlyTheDestinationCanSayThatAChunkIsDelivered) {
  AddAuxiliaryPath();
  SendTo2(1, 2);
  Receive(LinkAck{{{1, now_, now_, true}}}, kInboundOf3);
  EXPECT_EQ(network_.undelivered_bytes(), 2000);
  Receive(LinkAck{{{1, now_, now_, true}}});
  EXPECT_EQ(network_.undelivered_bytes(), 1000);
}

TEST_F(PeerNetworkTest, WhoFindsNoRoomIsGrantedLaterWithinABound) {
  AddNeighbours();
  verdict_ = PeerNetwork::Verdict::kNoRoom;
  for (uint32_t source : {2, 3, 4, 5}) {
    ChunkMessage chunk = Chunk(source, {source, 2, 1});
    chunk.route.hop = 1;
    if (source == 2) chunk = Chunk(source, {2, 1});
    Receive(chunk);
    EXPECT_THAT(Sent<Busy>(), SizeIs(1));
  }
  StepContext step = Now();
  network_.GrantRoom(step);
  EXPECT_THAT(Sent<Grant>(), SizeIs(2));
}

TEST_F(PeerNetworkTest, SilenceIsReportedOnce) {
  AddNeighbours();
  for (int second = 0; second < 20; ++second) {
    Deadline(1);
    EXPECT_THAT(Sent<PeerHeartbeat>(), SizeIs(2));
    Receive(PeerHeartbeat{now_, PeerHeartbeat::Echo{now_, now_}});
  }
  EXPECT_THAT(lost_, ElementsAre(3));
}

TEST_F(PeerNetworkTest, WhatNoLivePolicyNamesMayBeSilent) {
  AddNeighbours();
  network_.RetirePolicies(PolicyVersion(2), now_);
  for (int i = 0; i < 10; ++i) Deadline(1);
  EXPECT_THAT(lost_, IsEmpty());
  PolicySlice again = Policy({3});
  again.version = PolicyVersion(2);
  StepContext step = Now();
  network_.AddPolicy(step, again);
  for (int i = 0; i < 5; ++i) Deadline(1);
  EXPECT_THAT(lost_, IsEmpty());
  Deadline(1);
  EXPECT_THAT(lost_, ElementsAre(3));
}

// Node 2's clock is an hour ahead, messages take 10 ms, the link carries 8 Mbit/s.
TEST_F(PeerNetworkTest, MeasuresWhileThePolicySaysSo) {
  AddNeighbours();
  StepContext first = Now();
  PolicySlice large = Policy({2, 3});
  large.version = large.version.Next();
  large.chunk_max_elements = 12500;
  network_.AddPolicy(first, large);
  const auto clock_of_2 = [](Timestamp time) { return time + absl::Hours(1); };
  for (uint32_t second = 1; second <= 18; ++second) {  // past LinkMeter::kStart
    Deadline(1);
    const Timestamp beat = Sent<PeerHeartbeat>()[0].second.sent_at;
    StepContext step = Now();
    for (uint32_t chunk = 0; chunk < 10; ++chunk) {
      ChunkMessage message = Chunk(100 * second + chunk, {1, 2});
      message.frames.push_back({CodecId::kFp32, 0, 12500, 50000});
      network_.SendChunk(step, message, {Buffer::Allocate(12500)});
    }
    std::vector<std::pair<ConnectionId, ChunkMessage>> sent = Sent<ChunkMessage>();
    for (uint32_t done = 0; done < 10; ++done) {
      const ChunkMessage chunk = sent.at(done).second;
      const Timestamp arrived = clock_of_2(beat + absl::Milliseconds(50 * (done + 1) + 10));
      now_ = beat + absl::Milliseconds(50 * (done + 1) + 20);
      Receive(LinkAck{{{chunk.link_sequence, chunk.sent_at, arrived}}});
      for (auto& [connection, next] : Sent<ChunkMessage>()) sent.emplace_back(connection, next);
      Receive(DeliveryAck{Chunk(0, {2, 1}).route, {chunk.id}});
    }
    now_ = beat + absl::Milliseconds(620);
    Receive(PeerHeartbeat{clock_of_2(beat + absl::Milliseconds(610)),
                          PeerHeartbeat::Echo{beat, clock_of_2(beat + absl::Milliseconds(10))}});
  }
  const NodeReport::Link link = network_.LinkReport(now_ + absl::Seconds(5))[0];
  ASSERT_TRUE(link.measurement.has_value());
  EXPECT_NEAR(link.measurement->rate_bps, 8e6, 0.4e6);
  EXPECT_TRUE(link.measurement->is_backlogged);
  EXPECT_EQ(link.measurement->delay, absl::Milliseconds(10));
  EXPECT_EQ(link.measurement->clock_offset, absl::Hours(1));
  EXPECT_NEAR(absl::ToDoubleSeconds(link.measurement->age), 5.2, 0.3);
  EXPECT_FALSE(network_.LinkReport(now_)[1].measurement.has_value());
  PolicySlice silent = Policy({2, 3});
  silent.version = PolicyVersion(2);
  silent.transmission.measures = false;
  StepContext step = Now();
  network_.AddPolicy(step, silent);
  EXPECT_FALSE(network_.LinkReport(now_)[0].measurement.has_value());
  // An older policy that is sent again changes nothing.
  network_.AddPolicy(step, Policy({2, 3}));
  EXPECT_FALSE(network_.LinkReport(now_)[0].measurement.has_value());
}

TEST_F(PeerNetworkTest, TellsHowBusyLinksWereInTheLastRound) {
  AddNeighbours();
  const auto busy_shares = [this] {
    const std::vector<NodeReport::Link> links = network_.LinkReport(now_);
    return std::vector<double>{links[0].busy_share, links[1].busy_share};
  };
  constexpr KeyId kKey(1);
  constexpr KeyId kOtherKey(2);
  EXPECT_EQ(network_.OnRoundComplete(kKey, Round(0), 2, now_), std::nullopt);
  EXPECT_THAT(network_.OnRoundComplete(kOtherKey, Round(0), 2, now_), Optional(IsEmpty()));
  EXPECT_THAT(busy_shares(), ElementsAre(0, 0));
  StepContext step = Now();
  network_.SendChunk(step, Chunk(1, {1, 2}), {Buffer::Allocate(10)});
  const uint64_t sequence = Sent<ChunkMessage>()[0].second.link_sequence;
  now_ = now_ + absl::Milliseconds(300);
  Receive(LinkAck{{{sequence, {}, {}}}});
  now_ = now_ + absl::Milliseconds(700);
  const uint64_t sent_bytes = network_.LinkReport(now_)[0].sent_bytes;
  EXPECT_EQ(network_.OnRoundComplete(kKey, Round(1), 2, now_ + absl::Milliseconds(-10)), std::nullopt);
  const std::vector<PeerNetwork::LinkRound> links = *network_.OnRoundComplete(kOtherKey, Round(1), 2, now_);
  ASSERT_THAT(links, SizeIs(2));
  EXPECT_EQ(links[0].neighbour, NodeId(2));
  EXPECT_EQ(links[0].sent_bytes, static_cast<int64_t>(sent_bytes));
  EXPECT_EQ(links[0].busy, absl::Milliseconds(300));
  EXPECT_FALSE(links[0].resent);
  EXPECT_EQ(links[1].sent_bytes, 0);
  EXPECT_EQ(network_.OnRoundComplete(kKey, Round(2), 2, now_ + absl::Milliseconds(10)), std::nullopt);
  EXPECT_THAT(busy_shares(), ElementsAre(0.3, 0));
  network_.OnRoundComplete(kOtherKey, Round(2), 2, now_ + absl::Seconds(1));
  EXPECT_THAT(busy_shares(), ElementsAre(0, 0));
}

TEST_F(PeerNetworkTest, AStepEndsOnceWhateverItsKeysAre) {
  AddNeighbours();
  Round round(0);
  // Returns how many steps end with results of these keys, one after the other.
  const auto steps = [&](const std::vector<uint32_t>& keys, size_t known) {
    int ended = 0;
    for (const uint32_t key : keys) {
      now_ = now_ + absl::Seconds(1);
      round = Round(round.value() + 1);
      ended += network_.OnRoundComplete(KeyId(key), round, known, now_).has_value() ? 1 : 0;
    }
    return ended;
  };
  EXPECT_EQ(steps({1, 2, 3, 1, 2, 3}, 3), 2);
  EXPECT_EQ(steps({2, 1, 3, 3, 1, 2}, 3), 2) << "in any order";
  // Two begin anew, at round 1, and the others rest for ever.
  round = Round(0);
  EXPECT_EQ(steps({4, 5, 4, 5, 4, 5, 4, 5}, 5), 4);
  EXPECT_EQ(steps({4, 5}, 5), 1);
  // One is pushed every third time.
  EXPECT_EQ(steps({4, 5, 4, 5, 4, 5, 1, 4, 5, 4, 5, 4, 5}, 5), 6);
}

TEST_F(PeerNetworkTest, EchoesEachHeartbeatOnceAndSendsThemWhateverElseIsSent) {
  AddNeighbours();
  const Timestamp theirs = Timestamp::FromNanoseconds(77);
  Receive(PeerHeartbeat{theirs, std::nullopt});
  const Timestamp received = now_;
  Receive(Chunk(1, {2, 1}));
  Deadline(1);
  ASSERT_THAT(Sent<PeerHeartbeat>(), SizeIs(2));
  EXPECT_EQ(Sent<PeerHeartbeat>()[0].second, (PeerHeartbeat{now_, PeerHeartbeat::Echo{theirs, received}}));
  EXPECT_EQ(Sent<PeerHeartbeat>()[1].second, (PeerHeartbeat{now_, std::nullopt}));
  Deadline(1);
  EXPECT_EQ(Sent<PeerHeartbeat>()[0].second, (PeerHeartbeat{now_, std::nullopt}));
}

TEST_F(PeerNetworkTest, ItsOwnPauseIsNotTheNeighboursSilence) {
  AddNeighbours();
  Deadline(100);
  EXPECT_THAT(lost_, IsEmpty());
  for (int second = 0; second < 6; ++second) Deadline(1);
  EXPECT_THAT(lost_, ElementsAre(2, 3));
}

TEST_F(PeerNetworkTest, WhoIsSilentStillWhenItIsNamedAgainIsLostAgain) {
  AddNeighbours();
  const auto pass = [&](int seconds) {
    for (int second = 0; second < seconds; ++second) {
      Deadline(1);
      const auto heartbeats = Sent<PeerHeartbeat>();
      Hello(HelloOf(3), kInboundOf3);
      for (const auto& [connection, heartbeat] : heartbeats) {
        const PeerHeartbeat::Echo echo{heartbeat.sent_at, now_};
        if (connection == kControlTo3) Receive(PeerHeartbeat{now_, echo}, kInboundOf3);
      }
    }
  };
  pass(20);
  EXPECT_THAT(lost_, ElementsAre(2));
  // As the scheduler knows no way round.
  PolicySlice slice = Policy({2, 3});
  slice.version = PolicyVersion(2);
  StepContext step = Now();
  network_.AddPolicy(step, slice);
  pass(5);
  EXPECT_THAT(lost_, ElementsAre(2));
  pass(1);
  EXPECT_THAT(lost_, ElementsAre(2, 2));
  pass(20);
  EXPECT_THAT(lost_, ElementsAre(2, 2));
}

TEST_F(PeerNetworkTest, ANeighbourIsReachedFromItsFirstEchoOn) {
  AddNeighbours();
  const auto down = [&] {
    StepContext lost = Now();
    network_.OnConnectionDown(lost, kControlTo2);
    StepContext failed = Now();
    network_.OnConnectFailed(failed, kControlTo2, "told to go away");
  };
  down();
  Deadline(1);
  EXPECT_THAT(lost_, ElementsAre(2));
  ASSERT_THAT(network_.LostNeighbours(now_), SizeIs(1));
  EXPECT_THAT(network_.LostNeighbours(now_)[0].reason, HasSubstr("told to go away"));
  StepContext up = Now();
  network_.OnConnectionUp(up, kControlTo2);
  EXPECT_THAT(network_.LostNeighbours(now_), IsEmpty());
  Deadline(1);
  Receive(PeerHeartbeat{now_, PeerHeartbeat::Echo{now_, now_}});
  down();
  Deadline(0);
  EXPECT_THAT(lost_, ElementsAre(2)) << "it has just been there";
  Deadline(1);
  EXPECT_THAT(lost_, ElementsAre(2, 2));
}

TEST_F(PeerNetworkTest, ALinkThatOnlySmallMessagesPassIsLost) {
  AddNeighbours();
  Receive(PeerHeartbeat{now_, std::nullopt});
  StepContext step = Now();
  network_.SendChunk(step, FullChunk(1, {1, 2}), Bytes(1000));
  const auto pass = [&](int seconds) {
    for (int second = 0; second < seconds; ++second) {
      Deadline(1);
      for (const auto& [connection, heartbeat] : Sent<PeerHeartbeat>()) {
        if (connection == kControlTo2) Receive(PeerHeartbeat{now_, PeerHeartbeat::Echo{heartbeat.sent_at, now_}});
      }
      Hello(HelloOf(3), kInboundOf3);
    }
  };
  pass(2);
  EXPECT_THAT(lost_, IsEmpty());
  StepContext down = Now();
  network_.OnConnectionDown(down, kDataTo2);
  StepContext up = Now();
  network_.OnConnectionUp(up, kDataTo2);
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  const uint64_t newest = Sent<ChunkMessage>()[0].second.link_sequence;
  pass(6);
  EXPECT_THAT(lost_, ElementsAre(2));
  ASSERT_THAT(network_.LostNeighbours(now_), SizeIs(1));
  EXPECT_THAT(network_.LostNeighbours(now_)[0].reason, HasSubstr("large messages do not pass (path MTU?)"));
  Receive(LinkAck{{{newest, now_, now_}}});
  EXPECT_THAT(network_.LostNeighbours(now_), IsEmpty());
}

TEST_F(PeerNetworkTest, AnswersWaitForTheConnectionWithinABound) {
  AddNeighbours();
  StepContext down = Now();
  network_.OnConnectionDown(down, kControlTo2);
  for (uint32_t chunk = 0; chunk < 8; ++chunk) Receive(Chunk(chunk, {2, 1}));
  EXPECT_THAT(Sent<LinkAck>(), IsEmpty());
  EXPECT_EQ(rejections_.total(), 5u);
  StepContext up = Now();
  network_.OnConnectionUp(up, kControlTo2);
  EXPECT_THAT(Sent<PeerHello>(), SizeIs(1));
  EXPECT_THAT(Sent<LinkAck>(), SizeIs(3));
}

TEST_F(PeerNetworkTest, AnOverdueDeliveryIsSentAgain) {
  AddNeighbours();
  StepContext step = Now();
  network_.SendChunk(step, Chunk(7, {1, 2}), {Buffer::Allocate(10)});
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  Receive(LinkAck{{{Sent<ChunkMessage>()[0].second.link_sequence, {}, {}}}});
  for (int second = 0; second < 2; ++second) {
    EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
    Deadline(1);
  }
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  EXPECT_EQ(network_.undelivered_bytes(), 40);
  EXPECT_GT(network_.LinkReport(now_)[0].resent_bytes, 0u);
  Receive(DeliveryAck{Chunk(7, {2, 1}).route, {Chunk(7, {1, 2}).id}});
  EXPECT_EQ(network_.undelivered_bytes(), 0);
  network_.DropChunks();
}

// Its chunks get no link ack and come again for ever, while its heartbeats are fine.
TEST_F(PeerNetworkTest, ANeighbourOfWhomTheSameCannotBeReadTwiceIsLost) {
  AddNeighbours();
  const auto reject = [this](ConnectionId connection, const char* reason) {
    StepContext step = Now();
    network_.OnRejected(step, connection, absl::InvalidArgumentError(reason));
  };
  reject(kInbound, "malformed ChunkMessage");
  reject(kInbound, "malformed LinkAck");
  EXPECT_THAT(lost_, IsEmpty());
  reject(kInbound, "malformed LinkAck");
  EXPECT_THAT(lost_, ElementsAre(2));
  for (int i = 0; i < 2; ++i) reject(kInboundOf3, "of a stranger");
  EXPECT_THAT(lost_, ElementsAre(2));
}

// Late answers to what is dropped break no rule.
TEST_F(PeerNetworkTest, OfAFormerEpochNothingIsSentAgainOrRelayed) {
  AddNeighbours();
  Hello(HelloOf(3), kInboundOf3);
  EXPECT_THAT(SendTo2(1, 1), IsEmpty());
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  const ChunkMessage sent = Sent<ChunkMessage>()[0].second;
  network_.BeginEpoch(Epoch(2));
  EXPECT_EQ(network_.undelivered_bytes(), 0);
  const SourceRoute back{{NodeId(2), NodeId(1)}, 0};
  Receive(LinkAck{{{sent.link_sequence, sent.sent_at, now_, false}}});
  Receive(DeliveryAck{back, {sent.id}});
  Receive(Busy{back, {sent.id}});
  Receive(Grant{back});
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  Receive(Chunk(5, {2, 1, 3}));
  EXPECT_THAT(Sent<LinkAck>(), SizeIs(1));
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  ChunkMessage newer = Chunk(6, {2, 1, 3});
  newer.id.epoch = Epoch(2);
  Receive(newer);
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  EXPECT_EQ(rejections_.total(), 0u);
}

}  // namespace
}  // namespace banyan
