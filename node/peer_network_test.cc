#include "node/peer_network.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/rejection_log.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ConnectionId kInboundOf3 = ConnectionId(kInboundConnection.value() + 99);
constexpr ConnectionId kInbound(kInboundConnection.value() + 1);
constexpr ConnectionId kControlTo2(16);  // data: 17
constexpr ConnectionId kControlTo3(18);  // data: 19

class PeerNetworkTest : public ::testing::Test, private PeerNetwork::Listener {
 protected:
  PeerNetworkTest() { config_.connections_per_link = 1; }

  PeerNetwork::Verdict OnChunk(StepContext&, ChunkMessage message, Payload) override {
    received_.push_back(message.id.chunk.value());
    return verdict_;
  }
  void OnPeerLost(StepContext&, NodeId peer, const std::string&) override { lost_.push_back(peer.value()); }

  StepContext Now() {
    actions_.clear();
    return {now_, actions_, rejections_};
  }
  static NeighbourSlice Neighbour(uint32_t node) {
    NeighbourSlice neighbour;
    neighbour.node = NodeId(node);
    neighbour.name = "n" + std::to_string(node);
    neighbour.incarnation = Incarnation(node);
    return neighbour;
  }
  static PolicySlice Policy(std::vector<uint32_t> neighbours) {
    PolicySlice slice;
    slice.version = PolicyVersion(1);
    slice.chunk_max_elements = 250;
    for (uint32_t node : neighbours) slice.neighbours.push_back(Neighbour(node));
    return slice;
  }
  // Neighbours 2 and 3, all connections up; 2 has said hello.
  void AddNeighbours() {
    StepContext step = Now();
    network_.AddPolicy(step, Policy({2, 3}));
    for (uint64_t connection = 16; connection < 20; ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello({kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(2)});
  }
  void Hello(PeerHello hello, ConnectionId connection = kInbound) { Receive(std::move(hello), connection); }
  void Receive(Message message, ConnectionId connection = kInbound, int64_t size_bytes = 0) {
    StepContext step = Now();
    Payload payload;
    if (size_bytes > 0) payload.push_back(Buffer::Allocate(size_bytes, DataType::kByte));
    network_.OnMessage(step, {connection, std::move(message), std::move(payload)});
  }
  void Deadline(int64_t seconds_later) {
    now_ = now_ + absl::Seconds(seconds_later);
    StepContext step = Now();
    network_.OnDeadline(step);
  }
  // With a detour to 2 over 3. The primary path is busy with more than one chunk, the detour takes two at once.
  void AddDetour() {
    PolicySlice slice = Policy({2, 3});
    slice.neighbours[0].rate_bps = 8e6;
    slice.auxiliary = {{{NodeId(1), NodeId(3), NodeId(2)}, 80e6, absl::ZeroDuration(), 0.5, 0, true}};
    slice.transmission.primary_busy_bound = 1;
    slice.transmission.auxiliary_queue_length = 2;
    StepContext step = Now();
    network_.AddPolicy(step, slice);
    for (uint64_t connection = 16; connection < 20; ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello({kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(2)});
    Hello({kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)}, kInboundOf3);
  }
  // Sends chunks of 1000 bytes to 2; those of them that take a detour.
  std::vector<uint32_t> SendTo2(uint32_t first, uint32_t last) {
    StepContext step = Now();
    for (uint32_t chunk = first; chunk <= last; ++chunk) {
      ChunkMessage message = Chunk(chunk, {1, 2});
      message.policy = PolicyVersion(1);
      message.frames = {{CodecId::kFp32, 0, 250, 1000}};
      network_.SendChunk(step, std::move(message), {Buffer::Allocate(1000, DataType::kByte)});
    }
    return Detoured();
  }
  // Of what the last call sent, the chunks on a detour.
  std::vector<uint32_t> Detoured() {
    std::vector<uint32_t> detoured;
    for (const auto& [connection, chunk] : Sent<ChunkMessage>()) {
      if (chunk.is_auxiliary) detoured.push_back(chunk.id.chunk.value());
    }
    return detoured;
  }
  static ChunkMessage Chunk(uint32_t chunk, std::vector<uint32_t> path) {
    ChunkMessage message;
    message.id.chunk = ChunkIndex(chunk);
    message.link_sequence = chunk;
    for (uint32_t node : path) message.route.path.push_back(NodeId(node));
    return message;
  }
  // What the last call sent of this kind, and to where.
  template <typename Kind>
  std::vector<std::pair<ConnectionId, Kind>> Sent() {
    std::vector<std::pair<ConnectionId, Kind>> sent;
    for (const Action& action : actions_) {
      const auto* send = std::get_if<Send>(&action);
      if (send == nullptr || !std::holds_alternative<Kind>(send->message)) continue;
      sent.emplace_back(send->connection, std::get<Kind>(send->message));
    }
    return sent;
  }

  Timestamp now_ = Timestamp::FromNanoseconds(1'000'000'000);
  JobConfig config_ = [] {
    JobConfig config;
    config.connections_per_link = 1;
    return config;
  }();
  Actions actions_;
  RejectionLog rejections_;
  PeerNetwork network_{
      {"job", Term(1), NodeId(1), Incarnation(1)},
      config_,
      {.relay_bytes = 3000, .unknown_bytes = 3000, .waiting_control = 3, .inbound_connections = 2, .denied_sources = 2},
      this};
  PeerNetwork::Verdict verdict_ = PeerNetwork::Verdict::kTaken;
  std::vector<uint32_t> received_;
  std::vector<uint32_t> lost_;
};

TEST_F(PeerNetworkTest, SaysHelloOnEveryConnection) {
  StepContext step = Now();
  network_.AddPolicy(step, Policy({2}));
  network_.AddPolicy(step, Policy({2}));
  EXPECT_THAT(actions_, SizeIs(2));
  network_.OnConnectionUp(step, kControlTo2);
  network_.OnConnectionUp(step, ConnectionId(17));
  EXPECT_THAT(Sent<PeerHello>(), SizeIs(2));
}

TEST_F(PeerNetworkTest, RefusesAHelloThatDoesNotBelongHere) {
  AddNeighbours();
  const PeerHello good{kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)};
  std::vector<PeerHello> bad(5, good);
  bad[0].protocol_version = 99;
  bad[1].job = "another";
  bad[2].node = NodeId(1);
  bad[3].node = kSchedulerNode;
  bad[4].incarnation = Incarnation(4);
  for (size_t i = 0; i < bad.size(); ++i) {
    Hello(bad[i], ConnectionId(kInbound.value() + 1));
    EXPECT_EQ(rejections_.total(), i + 1);
    EXPECT_TRUE(std::holds_alternative<Disconnect>(actions_.back()));
  }
  Hello(good);  // on the connection of node 2
  EXPECT_EQ(rejections_.total(), 6u);
  Hello(good, ConnectionId(kInbound.value() + 1));
  EXPECT_EQ(rejections_.total(), 6u);
  Hello(good, ConnectionId(kInbound.value() + 2));  // too many
  EXPECT_EQ(rejections_.total(), 7u);
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

TEST_F(PeerNetworkTest, OnlyTheDestinationCanSayThatAChunkIsDelivered) {
  AddDetour();
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
    Receive(PeerHeartbeat{now_, std::nullopt});
  }
  EXPECT_THAT(lost_, ElementsAre(3));
}

// Node 2's clock is an hour ahead, messages take 10 ms, the link carries 8 Mbit/s.
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
  EXPECT_THAT(network_.OnRoundComplete(Round(0), now_), IsEmpty());
  EXPECT_THAT(busy_shares(), ElementsAre(0, 0));
  StepContext step = Now();
  network_.SendChunk(step, Chunk(1, {1, 2}), {Buffer::Allocate(10)});
  const uint64_t sequence = Sent<ChunkMessage>()[0].second.link_sequence;
  now_ = now_ + absl::Milliseconds(300);
  Receive(LinkAck{{{sequence, {}, {}}}});
  now_ = now_ + absl::Milliseconds(700);
  const uint64_t sent_bytes = network_.LinkReport(now_)[0].sent_bytes;
  const std::vector<PeerNetwork::LinkRound> links = network_.OnRoundComplete(Round(1), now_);
  ASSERT_THAT(links, SizeIs(2));
  EXPECT_EQ(links[0].neighbour, NodeId(2));
  EXPECT_EQ(links[0].sent_bytes, static_cast<int64_t>(sent_bytes));
  EXPECT_EQ(links[0].busy, absl::Milliseconds(300));
  EXPECT_FALSE(links[0].resent);
  EXPECT_EQ(links[1].sent_bytes, 0);
  // Another key's end of the same round.
  EXPECT_THAT(network_.OnRoundComplete(Round(1), now_ + absl::Milliseconds(10)), IsEmpty());
  EXPECT_THAT(busy_shares(), ElementsAre(0.3, 0));
  network_.OnRoundComplete(Round(2), now_ + absl::Seconds(1));
  EXPECT_THAT(busy_shares(), ElementsAre(0, 0));
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

TEST_F(PeerNetworkTest, ABusyPrimaryPathSharesWithADetour) {
  AddDetour();
  // One fits on the primary path before it counts as busy, two on the detour, and the rest waits for the primary.
  EXPECT_THAT(SendTo2(1, 7), ElementsAre(2, 3));
  EXPECT_EQ(Sent<ChunkMessage>()[1].second.route.path, (std::vector<NodeId>{NodeId(1), NodeId(3), NodeId(2)}));
}

TEST_F(PeerNetworkTest, AProbeIsACopyThatNothingWaitsFor) {
  AddDetour();
  SendTo2(1, 1);
  Receive(LinkAck{{{1, now_, now_}}});
  now_ = now_ + LinkProber::kShortestInterval;
  EXPECT_THAT(SendTo2(2, 2), ElementsAre(2));
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(2));
  EXPECT_EQ(network_.undelivered_bytes(), 2000);
  // The copy's link ack does not say that the chunk itself is on its way, and its relay may drop it.
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  Receive(Busy{{{NodeId(3), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  Receive(DeliveryAck{{{NodeId(2), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}});
  EXPECT_EQ(network_.undelivered_bytes(), 1000);
}

TEST_F(PeerNetworkTest, ADetourThatHasRoomAgainTakesWhatWaits) {
  AddDetour();
  EXPECT_THAT(SendTo2(1, 12), ElementsAre(2, 3));
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  EXPECT_THAT(Detoured(), IsEmpty());
  Receive(DeliveryAck{{{NodeId(2), NodeId(3), NodeId(1)}, 1}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  EXPECT_THAT(Detoured(), ElementsAre(4));
}

TEST_F(PeerNetworkTest, WhatARelayRefusesTakesThePrimaryPath) {
  AddDetour();
  EXPECT_THAT(SendTo2(1, 2), ElementsAre(2));
  // Each link numbers its own chunks.
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  Receive(LinkAck{{{1, now_, now_}}});
  Receive(Busy{{{NodeId(3), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  EXPECT_FALSE(Sent<ChunkMessage>()[0].second.is_auxiliary);
  EXPECT_EQ(Sent<ChunkMessage>()[0].second.route.path, (std::vector<NodeId>{NodeId(1), NodeId(2)}));
}

TEST_F(PeerNetworkTest, WithoutThePrimaryLinkEverythingTakesTheDetour) {
  AddDetour();
  StepContext step = Now();
  network_.OnConnectionDown(step, ConnectionId(17));
  EXPECT_THAT(SendTo2(1, 3), ElementsAre(1, 2));
}

TEST_F(PeerNetworkTest, ARelayThatCannotGoOnSaysSo) {
  AddDetour();
  StepContext step = Now();
  network_.OnConnectionDown(step, ConnectionId(19));
  ChunkMessage chunk = Chunk(5, {2, 1, 3});
  chunk.is_auxiliary = true;
  Receive(chunk);
  EXPECT_THAT(Sent<Busy>(), SizeIs(1));
  ChunkMessage primary = Chunk(6, {2, 1, 3});
  Receive(primary);
  EXPECT_THAT(Sent<Busy>(), IsEmpty());
}

}  // namespace
}  // namespace banyan
