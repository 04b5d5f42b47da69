#include "sim/network/simulated_network.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sim/simulator.h"
#include "sim/testing/scripted_protocol.h"

namespace banyan {
namespace {

constexpr ConnectionId kControl = ConnectionId(1);
constexpr ConnectionId kData = ConnectionId(2);
const NodeId kA = NodeId(1);
const NodeId kB = NodeId(2);

Timestamp Ms(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

// Two nodes with a link of 8 Mbit/s (1,000 bytes take a millisecond) and 10 ms; A connects to B with one control and
// one data connection.
class SimulatedNetworkTest : public testing::Test {
 protected:
  SimulatedNetworkTest() : SimulatedNetworkTest(NetworkOptions()) {}

  explicit SimulatedNetworkTest(const NetworkOptions& options) : simulator_(7, options) {
    LinkOptions link;
    link.rate_bps = 8e6;
    link.delay = absl::Milliseconds(10);
    simulator_.network()->AddLink(kA, kB, link);
    simulator_.network()->AddLink(kB, kA, link);
    a_ = Add(kA, "a", [](Timestamp, const Event& event, Actions* actions) {
      if (std::holds_alternative<Started>(event)) {
        actions->emplace_back(Connect{kControl, "b", Channel::kControl});
        actions->emplace_back(Connect{kData, "b", Channel::kData});
      }
      if (const auto* up = std::get_if<ConnectionUp>(&event))
        actions->emplace_back(Send{up->connection, PeerHello(), {}});
    });
    b_ = Add(kB, "b", nullptr);
    Run(100);
  }

  ScriptedProtocol* Add(NodeId id, const std::string& address, ScriptedProtocol::Script script) {
    auto core = std::make_unique<ScriptedProtocol>(std::move(script));
    ScriptedProtocol* added = core.get();
    simulator_.AddProcess(id, address, ProcessOptions(), std::move(core), simulator_.now());
    return added;
  }

  void Run(int64_t until_ms) {
    simulator_.RunUntil([] { return false; }, Ms(until_ms));
  }

  void SendChunk(uint64_t sequence, int64_t payload_bytes) {
    ChunkMessage chunk;
    chunk.route.path = {kA, kB};
    chunk.link_sequence = sequence;
    // 80 bytes of header.
    simulator_.network()->SendMessage(kA, Send{kData, chunk, {Buffer::Allocate(payload_bytes - 80, DataType::kByte)}});
  }

  std::vector<std::pair<Timestamp, uint64_t>> ChunksAtB() const {
    std::vector<std::pair<Timestamp, uint64_t>> chunks;
    for (const auto& seen : b_->seen()) {
      const auto* received = std::get_if<MessageReceived>(&seen.event);
      if (received == nullptr) continue;
      const auto* chunk = std::get_if<ChunkMessage>(&received->message);
      if (chunk != nullptr) chunks.emplace_back(seen.now, chunk->link_sequence);
    }
    return chunks;
  }

  ConnectionIndex DataConnection() const { return 1; }

  Simulator simulator_;
  ScriptedProtocol* a_ = nullptr;
  ScriptedProtocol* b_ = nullptr;
};

TEST_F(SimulatedNetworkTest, AConnectionIsUpAfterARoundTripAndAcceptedUnderAnInboundId) {
  EXPECT_EQ(a_->TimesOf<ConnectionUp>(), (std::vector<Timestamp>{Ms(20), Ms(20)}));
  ASSERT_EQ(b_->TimesOf<MessageReceived>().size(), 2u);
  for (const auto& seen : b_->seen()) {
    if (const auto* received = std::get_if<MessageReceived>(&seen.event)) {
      EXPECT_GE(received->connection, kInboundConnection);
    }
  }
  EXPECT_TRUE(simulator_.violations()->empty()) << simulator_.violations()->Report();
}

TEST_F(SimulatedNetworkTest, ChunksQueueAtTheLinksRate) {
  SendChunk(1, 5000);
  SendChunk(2, 5000);
  Run(1000);
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_NEAR((ChunksAtB()[0].first - Ms(115)) / absl::Milliseconds(1), 0, 0.1);
  EXPECT_NEAR((ChunksAtB()[1].first - Ms(120)) / absl::Milliseconds(1), 0, 0.1);
}

TEST_F(SimulatedNetworkTest, APacedConnectionTakesLongerThanItsLink) {
  simulator_.network()->SetPace(kA, {kData, 2e6});
  SendChunk(1, 5000);
  SendChunk(2, 5000);
  Run(130);
  // Half of the second has gone; the other half goes as soon as it can.
  simulator_.network()->SetPace(kA, {kData, 4e6});
  Run(1000);
  simulator_.network()->SetPace(kA, {kData, std::numeric_limits<double>::infinity()});
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_NEAR((ChunksAtB()[0].first - Ms(130)) / absl::Milliseconds(1), 0, 0.1);
  EXPECT_NEAR((ChunksAtB()[1].first - Ms(145)) / absl::Milliseconds(1), 0, 0.1);
  SendChunk(3, 5000);
  Run(2000);
  ASSERT_EQ(ChunksAtB().size(), 3u);
  EXPECT_NEAR((ChunksAtB()[2].first - Ms(1015)) / absl::Milliseconds(1), 0, 0.1);
  EXPECT_TRUE(simulator_.violations()->empty()) << simulator_.violations()->Report();
  simulator_.network()->SetPace(kA, {kData, 0});
  EXPECT_FALSE(simulator_.violations()->empty());
}

TEST_F(SimulatedNetworkTest, WhatIsOnItsWayOverALostConnectionIsLostAndTheConnectionComesBack) {
  SendChunk(1, 5000);
  SendChunk(2, 5000);
  Run(117);  // the first has arrived
  simulator_.network()->Lose(DataConnection(), LossOptions());
  SendChunk(3, 1000);  // before A knows
  Run(1000);
  ASSERT_EQ(ChunksAtB().size(), 1u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>(), std::vector<Timestamp>{Ms(118)});
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 3u);
  SendChunk(4, 1000);
  Run(2000);
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_EQ(ChunksAtB()[1].second, 4u);
  EXPECT_EQ(b_->TimesOf<ConnectionDown>().size(), 0u);
}

TEST_F(SimulatedNetworkTest, SurvivorsOfALossStillArriveUnderTheOldId) {
  SendChunk(1, 5000);
  SendChunk(2, 5000);
  LossOptions loss;
  loss.survivors = absl::Milliseconds(16);
  loss.acceptor_notices = absl::Milliseconds(500);
  simulator_.network()->Lose(DataConnection(), loss);
  Run(1000);
  ASSERT_EQ(ChunksAtB().size(), 1u);
  EXPECT_EQ(b_->TimesOf<ConnectionDown>(), std::vector<Timestamp>{Ms(600)});
}

TEST_F(SimulatedNetworkTest, NothingPassesAPartitionUntilItHeals) {
  simulator_.network()->Partition(kA, kB, absl::Milliseconds(50));
  SendChunk(1, 1000);
  Run(3000);
  EXPECT_EQ(ChunksAtB().size(), 0u);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 2u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 2u);
  simulator_.network()->Heal(kA, kB);
  Run(6000);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 4u);
  SendChunk(2, 1000);
  Run(7000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
}

ConnectionId LastInbound(const ScriptedProtocol& core) {
  ConnectionId last;
  for (const auto& seen : core.seen()) {
    if (const auto* received = std::get_if<MessageReceived>(&seen.event)) last = received->connection;
  }
  return last;
}

TEST_F(SimulatedNetworkTest, ASilentConnectionStaysAndLosesWhatIsSentUntilItIsMadeAnew) {
  simulator_.network()->Silence(DataConnection(), true, false);
  SendChunk(1, 1000);
  Run(60000);
  EXPECT_EQ(ChunksAtB().size(), 0u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 0u);
  simulator_.network()->RenewConnection(kA, {kData, /*unless_moving=*/true});
  Run(61000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 1u);
  SendChunk(2, 1000);
  Run(62000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
  EXPECT_TRUE(simulator_.violations()->empty()) << simulator_.violations()->Report();
}

TEST_F(SimulatedNetworkTest, AConnectionWithSomethingOnItsWayIsMadeAnewOnlyWhenItMust) {
  SendChunk(1, 100000);
  simulator_.network()->RenewConnection(kA, {kData, /*unless_moving=*/true});
  Run(1000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
  SendChunk(2, 100000);
  simulator_.network()->RenewConnection(kA, {kData});
  Run(2000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 1u);
}

TEST_F(SimulatedNetworkTest, APathThatDropsLargeMessagesStopsTheirConnection) {
  simulator_.network()->PlaceMiddleBox(kA, kB, {.drops_from_bytes = 1500});
  for (const auto& [sequence, bytes] : {std::pair(1, 1000), std::pair(2, 2000), std::pair(3, 1000)}) {
    SendChunk(sequence, bytes);
  }
  Run(1000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
}

TEST_F(SimulatedNetworkTest, APathForgetsConnectionsThatWereIdle) {
  simulator_.network()->PlaceMiddleBox(kA, kB, {.forgets_after = absl::Seconds(1)});
  SendChunk(1, 1000);
  Run(900);
  SendChunk(2, 1000);
  Run(2500);
  SendChunk(3, 1000);
  Run(3000);
  EXPECT_EQ(ChunksAtB().size(), 2u);
  simulator_.network()->RenewConnection(kA, {kData});
  Run(3500);
  SendChunk(4, 1000);
  Run(4000);
  EXPECT_EQ(ChunksAtB().size(), 3u);
}

TEST_F(SimulatedNetworkTest, ARefusedConnectionIsDownWhenTheWordArrivesAndIsDialledAgain) {
  SendChunk(1, 1000);
  Run(200);
  simulator_.network()->CloseConnection(kB, LastInbound(*b_));
  Run(205);
  SendChunk(2, 1000);  // nobody listens
  Run(1000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>(), std::vector<Timestamp>{Ms(210)});
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 3u);
  EXPECT_EQ(b_->TimesOf<ConnectionDown>().size(), 0u) << "who closes is not told";
  SendChunk(3, 1000);
  Run(2000);
  EXPECT_EQ(ChunksAtB().size(), 2u);
}

TEST_F(SimulatedNetworkTest, ARefusalIsNotHeardWhileTheWayBackIsCut) {
  SendChunk(1, 1000);
  Run(200);
  simulator_.network()->Cut(kB, kA);
  simulator_.network()->CloseConnection(kB, LastInbound(*b_));
  Run(3000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 0u);
  SendChunk(2, 1000);
  Run(4000);
  EXPECT_EQ(ChunksAtB().size(), 1u);
  simulator_.network()->Mend(kB, kA);
  Run(6000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>(), std::vector<Timestamp>{Ms(4010)});
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 3u);
}

TEST_F(SimulatedNetworkTest, WhatIsSentWhileTheWayIsCutArrivesOnceItIsMended) {
  simulator_.network()->Cut(kA, kB);
  SendChunk(1, 1000);
  SendChunk(2, 1000);
  Run(3000);
  EXPECT_EQ(ChunksAtB().size(), 0u);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 0u);
  simulator_.network()->Mend(kA, kB);
  Run(4000);
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_EQ(ChunksAtB()[0], std::pair(Ms(3010), uint64_t{1}));
  EXPECT_EQ(ChunksAtB()[1].second, 2u);
}

TEST_F(SimulatedNetworkTest, NobodyDialsOverACutInEitherDirection) {
  simulator_.network()->Cut(kB, kA);
  simulator_.network()->Lose(DataConnection(), LossOptions());
  Run(3000);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 2u);
  simulator_.network()->Mend(kB, kA);
  Run(6000);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 3u);
}

TEST_F(SimulatedNetworkTest, AProcessThatStandsStillAnswersNoDialling) {
  simulator_.process(kB)->PauseUntil(Ms(3000));
  simulator_.network()->Lose(DataConnection(), LossOptions());
  Run(3000);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 2u);
  Run(5000);
  EXPECT_EQ(a_->TimesOf<ConnectionUp>().size(), 3u);
}

TEST_F(SimulatedNetworkTest, ConnectingWithoutAnOverlayLinkIsAViolation) {
  Add(NodeId(3), "c", [](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<Started>(event)) actions->emplace_back(Connect{ConnectionId(1), "a", Channel::kControl});
  });
  Run(200);
  EXPECT_TRUE(simulator_.violations()->Has("overlay links"));
}

TEST_F(SimulatedNetworkTest, MixedUpConnectionsAreViolations) {
  simulator_.network()->SendMessage(kA, Send{kData, PeerHeartbeat(), {}});
  EXPECT_TRUE(simulator_.violations()->Has("use of connections"));
  simulator_.network()->SendMessage(kB, Send{ConnectionId(99), PeerHeartbeat(), {}});
  EXPECT_TRUE(simulator_.violations()->Has("connection ids"));
}

TEST_F(SimulatedNetworkTest, AnUnknownAddressIsDialledUntilItAnswers) {
  ScriptedProtocol* d = Add(NodeId(4), "d", [](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<Started>(event))
      actions->emplace_back(Connect{ConnectionId(1), "late", Channel::kControl});
  });
  Run(5000);
  EXPECT_EQ(d->TimesOf<ConnectionUp>().size(), 0u);
  Add(kSchedulerNode, "late", nullptr);
  Run(7000);
  EXPECT_EQ(d->TimesOf<ConnectionUp>().size(), 1u);
}

TEST_F(SimulatedNetworkTest, AProcessThatEndsClosesItsConnectionsUnlessItsHostIsGone) {
  simulator_.process(kB)->Kill(/*silently=*/true);
  Run(5000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 0u);
}

TEST_F(SimulatedNetworkTest, AKilledProcessIsNoticed) {
  simulator_.process(kB)->Kill(/*silently=*/false);
  Run(5000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>(), (std::vector<Timestamp>{Ms(110), Ms(110)}));
}

TEST_F(SimulatedNetworkTest, TheReceiversCapHoldsBackWhatArrivesTooFast) {
  // Half the link's rate: the second 5,000 bytes are through 10 ms after the first.
  simulator_.network()->SetHostCaps(kB, 0, 4e6);
  SendChunk(1, 5000);
  SendChunk(2, 5000);
  Run(1000);
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_NEAR((ChunksAtB()[1].first - ChunksAtB()[0].first) / absl::Milliseconds(1), 10, 0.5);
}

TEST_F(SimulatedNetworkTest, AKilledOpenerIsNoticedAfterWhatItHadSent) {
  SendChunk(1, 5000);
  simulator_.process(kA)->Kill(/*silently=*/false);
  Run(5000);
  ASSERT_EQ(ChunksAtB().size(), 1u);
  const std::vector<Timestamp> ends = b_->TimesOf<ConnectionDown>();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0], Ms(110));
  EXPECT_EQ(ends[1], ChunksAtB()[0].first);
}

TEST_F(SimulatedNetworkTest, ANewStartDialsUnderTheIdsOfTheOneBeforeAndHearsNothingOfIt) {
  simulator_.process(kA)->Kill(/*silently=*/false);
  auto core = std::make_unique<ScriptedProtocol>([](Timestamp, const Event& event, Actions* actions) {
    if (std::holds_alternative<Started>(event)) actions->emplace_back(Connect{kData, "b", Channel::kData});
  });
  ScriptedProtocol* again = core.get();
  simulator_.StartAgain(kA, std::move(core));
  Run(5000);
  EXPECT_EQ(again->TimesOf<ConnectionUp>().size(), 1u);
  EXPECT_EQ(again->TimesOf<ConnectionDown>().size(), 0u);
  EXPECT_TRUE(simulator_.violations()->empty()) << simulator_.violations()->Report();
}

TEST_F(SimulatedNetworkTest, AnAcceptorsNewStartHearsNothingOfTheConnectionsToTheOneBefore) {
  simulator_.network()->Cut(kB, kA);
  simulator_.process(kB)->Kill(/*silently=*/false);
  auto core = std::make_unique<ScriptedProtocol>(nullptr);
  ScriptedProtocol* again = core.get();
  simulator_.StartAgain(kB, std::move(core));
  SendChunk(1, 1000);
  Run(2000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 0u);
  EXPECT_EQ(again->TimesOf<MessageReceived>().size(), 0u);
  simulator_.network()->Mend(kB, kA);
  Run(5000);
  EXPECT_EQ(a_->TimesOf<ConnectionDown>().size(), 2u);
  EXPECT_EQ(again->TimesOf<MessageReceived>().size(), 2u) << "the greetings";
}

class ScaledNetworkTest : public SimulatedNetworkTest {
 protected:
  static NetworkOptions Scaled() {
    NetworkOptions options;
    options.scale = 1000;
    options.duplicate_chance = 1;
    return options;
  }
  ScaledNetworkTest() : SimulatedNetworkTest(Scaled()) {}
};

TEST_F(ScaledNetworkTest, PayloadsCountTimesTheScaleAndDuplicatesComeTwice) {
  SendChunk(1, 85);
  Run(1000);
  ASSERT_EQ(ChunksAtB().size(), 2u);
  EXPECT_NEAR((ChunksAtB()[0].first - Ms(115)) / absl::Milliseconds(1), 0, 0.1);
  EXPECT_NEAR((ChunksAtB()[1].first - Ms(120)) / absl::Milliseconds(1), 0, 0.2);
}

}  // namespace
}  // namespace banyan
