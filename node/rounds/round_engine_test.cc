// What RoundEngine takes and refuses, seen through a node whose child is the test, and what it does by itself.
#include "node/rounds/round_engine.h"

#include <functional>
#include <utility>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "node/testing/test_cluster.h"
#include "node/testing/test_scheduler.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);

// Nodes 1 and 2 of a chain of 3; the test speaks for node 3 to node 2, and for node 1 to it.
class RoundEngineTest : public ::testing::Test {
 protected:
  RoundEngineTest() : cluster_(Config(), TestPlan::Chain(3)) {
    cluster_.Start();
    cluster_.InitEverywhere({0, 0, 0});
    cluster_.PushOnly(3, 0, kKey, {0, 0, 0});
    cluster_.PushOnly(2, 0, kKey, {0, 0, 0});
    cluster_.PushOnly(1, 0, kKey, {0, 0, 0});
    child_ = cluster_.ConnectAs(2, 3);
    parent_ = cluster_.ConnectAs(2, 1);
    cluster_.filter = [this](uint32_t from, uint32_t, const Message& message) {
      const auto* ack = std::get_if<LinkAck>(&message);
      if (from == 2 && ack != nullptr) delivery_acks_ += ack->entries[0].is_delivered;
      if (from == 2) chunks_ += std::holds_alternative<ChunkMessage>(message);
      return TestCluster::Fate::kDeliver;
    };
  }
  static JobConfig Config() {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = AggregationOp::kSum;
    config.chunk_max_elements = 2;
    return config;
  }
  // Chunk 0 (of 2 and 1 elements) of round 2 from node 3.
  static ChunkMessage Contribution() {
    ChunkMessage message;
    message.id = {Epoch(1), Attempt(0), Round(2), kKey, ChunkIndex(0), Half::kReduce};
    message.policy = PolicyVersion(3);
    message.source_incarnation = TestIncarnation(3);
    message.route.path = {NodeId(3), NodeId(2)};
    message.weight = 1;
    message.elements = 2;
    message.frames = {{CodecId::kFp32, 0, 2, 8}};
    return message;
  }
  static ChunkMessage Result() {
    ChunkMessage message = Contribution();
    message.id.half = Half::kBroadcast;
    message.made_in = Epoch(1);
    message.source_incarnation = TestIncarnation(1);
    message.route.path = {NodeId(1), NodeId(2)};
    return message;
  }
  uint64_t Rejections() {
    cluster_.Advance(absl::Seconds(1));
    return cluster_.Rejected(2);
  }
  // Whether the chunk is refused: counted and not acknowledged end to end.
  bool IsRefused(ConnectionId connection, ChunkMessage message, Payload payload = {Floats()}) {
    const uint64_t before = Rejections();
    const int acks_before = delivery_acks_;
    cluster_.Inject(2, connection, std::move(message), std::move(payload));
    return Rejections() == before + 1 && delivery_acks_ == acks_before;
  }
  static Buffer Floats() { return Buffer::CopyOf({1, 2}).AsBytes(); }

  TestCluster cluster_;
  ConnectionId child_, parent_;
  int delivery_acks_ = 0;
  int chunks_ = 0;
};

TEST_F(RoundEngineTest, TakesAContributionOnceAndAcknowledgesItsDuplicate) {
  for (int i = 0; i < 3; ++i) cluster_.Inject(2, child_, Contribution(), {Floats()});
  EXPECT_EQ(delivery_acks_, 3);
  ChunkMessage second = Contribution();
  second.id.chunk = ChunkIndex(1);
  second.elements = 1;
  second.frames = {{CodecId::kFp32, 0, 1, 4}};
  cluster_.Inject(2, child_, second, {Buffer::CopyOf({5}).AsBytes()});
  cluster_.PushOnly(2, 0, kKey, {10, 20, 30});
  const RequestId request = cluster_.Push(1, 0, kKey, {100, 200, 300});
  EXPECT_THAT(cluster_.Result(request), ElementsAre(111, 222, 335));
}

TEST_F(RoundEngineTest, EveryWrongFieldOfAContributionIsRefused) {
  const std::vector<std::function<void(ChunkMessage&)>> mistakes = {
      [](ChunkMessage& chunk) { chunk.id.attempt = Attempt(1); },
      [](ChunkMessage& chunk) { chunk.id.round = Round(5); },
      [](ChunkMessage& chunk) { chunk.id.round = Round(UINT64_MAX); },
      [](ChunkMessage& chunk) { chunk.id.chunk = ChunkIndex(2); },
      [](ChunkMessage& chunk) { chunk.id.chunk = ChunkIndex(1); },
      [](ChunkMessage& chunk) { chunk.id.half = Half::kBroadcast; },
      [](ChunkMessage& chunk) { chunk.policy = PolicyVersion(4); },
      [](ChunkMessage& chunk) { chunk.tree = TreeIndex(1); },
      [](ChunkMessage& chunk) { chunk.source_incarnation = Incarnation(5); },
      [](ChunkMessage& chunk) { chunk.made_in = Epoch(1); },
      [](ChunkMessage& chunk) { chunk.made_in = Epoch(2); },
      [](ChunkMessage& chunk) { chunk.weight = 0; },
      [](ChunkMessage& chunk) { chunk.frames.clear(); },
      [](ChunkMessage& chunk) { chunk.elements = 3; },
      [](ChunkMessage& chunk) { chunk.frames[0].first_element = 1; },
      [](ChunkMessage& chunk) { chunk.frames[0].elements = 3; },
      [](ChunkMessage& chunk) {
        chunk.route.path = {NodeId(4), NodeId(3), NodeId(2)}, chunk.route.hop = 1;
      },
      [](ChunkMessage& chunk) {
        chunk.route.path = {NodeId(4), NodeId(2)};
      },
      [](ChunkMessage& chunk) {
        chunk.route.path = {NodeId(3), NodeId(4)};
      },
  };
  for (size_t i = 0; i < mistakes.size(); ++i) {
    ChunkMessage chunk = Contribution();
    mistakes[i](chunk);
    EXPECT_TRUE(IsRefused(child_, chunk)) << i;
  }
  cluster_.Inject(2, child_, Contribution(), {Floats()});
  EXPECT_EQ(delivery_acks_, 1);
}

TEST_F(RoundEngineTest, AChunkThatIsRefusedTwiceForTheSameReasonBreaksItsRound) {
  const RequestId push = cluster_.Push(2, 0, kKey, {10, 20, 30});
  ChunkMessage unknown_codec = Contribution();
  unknown_codec.frames[0].codec = static_cast<CodecId>(200);
  EXPECT_TRUE(IsRefused(child_, unknown_codec));
  EXPECT_FALSE(cluster_.IsDone(push));
  cluster_.Inject(2, child_, unknown_codec, {Floats()});
  const std::vector<RoundBroken> said = cluster_.scheduler().Said<RoundBroken>(2);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].key, kKey);
  EXPECT_EQ(said[0].round, Round(2));
  EXPECT_EQ(said[0].culprit, NodeId(3));
  const std::string why = "its contribution to chunk 0 is refused: frame 0: expected a codec that this version knows";
  EXPECT_THAT(said[0].reason, HasSubstr(why));
  EXPECT_THAT(std::string(cluster_.StatusOf(push).message()),
              HasSubstr("n2 cannot finish round 2 of key 'w': n3: " + why));
}

TEST_F(RoundEngineTest, ARoundThatAnotherBrokeIsTriedAgainWithoutIt) {
  cluster_.scheduler().ends_broken = false;
  const RequestId push = cluster_.Push(2, 0, kKey, {10, 20, 30});
  cluster_.PushOnly(1, 0, kKey, {1, 1, 1});
  ChunkMessage broadcast = Contribution();
  broadcast.kind = RoundKind::kBroadcast;
  for (int i = 0; i < 3; ++i) cluster_.Inject(2, child_, broadcast, {Floats()});
  EXPECT_EQ(cluster_.scheduler().Said<RoundBroken>(2).size(), 1u);
  EXPECT_FALSE(cluster_.IsDone(push));
  cluster_.ChangeMembers({1, 2}, TestPlan::Chain(2));
  EXPECT_THAT(cluster_.Result(push), ElementsAre(11, 21, 31));
}

// What the culprit said of the round goes with it.
TEST_F(RoundEngineTest, ARoundWhoseKindAnotherGotWrongFirstIsTriedAgainWithoutIt) {
  cluster_.scheduler().ends_broken = false;
  ChunkMessage broadcast = Contribution();
  broadcast.kind = RoundKind::kBroadcast;
  cluster_.Inject(2, child_, broadcast, {Floats()});
  const RequestId push = cluster_.Push(2, 0, kKey, {10, 20, 30});
  cluster_.PushOnly(1, 0, kKey, {1, 1, 1});
  EXPECT_EQ(cluster_.scheduler().Said<RoundBroken>(2).size(), 1u);
  cluster_.ChangeMembers({1, 2}, TestPlan::Chain(2));
  EXPECT_THAT(cluster_.Result(push), ElementsAre(11, 21, 31));
}

TEST_F(RoundEngineTest, ARoundWithRefusalsWithoutEndIsBroken) {
  ChunkMessage wrong = Contribution();
  for (int64_t i = 0; i < 100; ++i) {
    wrong.elements = 3 + i;
    cluster_.Inject(2, child_, wrong, {Floats()});
  }
  EXPECT_EQ(cluster_.scheduler().Said<RoundBroken>(2).size(), 1u);
}

// No hello says who is behind a relay.
TEST(RoundEngineRelayTest, AChunkOfAnotherStartOfARelayedChildIsRefused) {
  JobConfig config;
  config.job = "job";
  // 3 hangs on 1, but only over 2.
  TestCluster cluster(config, {3, {{1, {{2, 1}, {3, 1}}, {{2, 1}, {3, 1}}}}, {{1, 2, 3}, {3, 2, 1}}});
  cluster.Start();
  cluster.InitEverywhere({0, 0});
  int acks = 0;
  cluster.filter = [&acks](uint32_t from, uint32_t, const Message& message) {
    acks += from == 1 && std::holds_alternative<DeliveryAck>(message);
    return TestCluster::Fate::kDeliver;
  };
  cluster.PushOnly(1, 0, kKey, {1, 1});
  ChunkMessage message;
  message.id = {Epoch(1), Attempt(0), Round(1), kKey, ChunkIndex(0), Half::kReduce};
  message.policy = PolicyVersion(3);
  message.source_incarnation = Incarnation(5);
  message.route.path = {NodeId(3), NodeId(2), NodeId(1)};
  message.route.hop = 1;
  message.weight = 1;
  message.elements = 2;
  message.frames = {{CodecId::kFp32, 0, 2, 8}};
  const ConnectionId relay = cluster.ConnectAs(1, 2);
  cluster.Inject(1, relay, message, {Buffer::CopyOf({1, 2}).AsBytes()});
  EXPECT_EQ(acks, 0);
  message.source_incarnation = TestIncarnation(3);
  cluster.Inject(1, relay, message, {Buffer::CopyOf({1, 2}).AsBytes()});
  EXPECT_EQ(acks, 1);
}

// Nobody waits for what is not a part of any round.
TEST_F(RoundEngineTest, AnImpossibleRoundAndAnotherStartOfTheSourceBreakNothing) {
  ChunkMessage too_far = Contribution();
  too_far.id.round = Round(5);
  ChunkMessage former = Contribution();
  former.source_incarnation = Incarnation(5);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(IsRefused(child_, too_far));
    EXPECT_TRUE(IsRefused(child_, former));
  }
  EXPECT_TRUE(cluster_.scheduler().Said<RoundBroken>(2).empty());
}

TEST_F(RoundEngineTest, AChunkThatStaysTooFarAheadBreaksItsRoundAndThatOfAFormerStartDoesNot) {
  ChunkMessage former = Contribution();
  former.source_incarnation = Incarnation(5);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(IsRefused(child_, former));
  EXPECT_TRUE(cluster_.scheduler().Said<RoundBroken>(2).empty());
  ChunkMessage too_far = Contribution();
  too_far.id.round = Round(5);
  for (int i = 0; i < 10; ++i) {
    cluster_.Inject(2, child_, too_far, {Floats()});
    cluster_.Advance(absl::Seconds(1));
  }
  const std::vector<RoundBroken> said = cluster_.scheduler().Said<RoundBroken>(2);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].key, kKey);
  EXPECT_EQ(said[0].round, Round(5));
  EXPECT_EQ(said[0].culprit, NodeId(3));
  EXPECT_EQ(said[0].reason, "chunk 0 of round 5 from n3 is refused: round 2 is not complete here yet");
}

// It is acknowledged before anybody can know that it is wrong, and so it does not come again.
TEST_F(RoundEngineTest, AnEarlyChunkThatTurnsOutToBeWrongBreaksItsRound) {
  cluster_.scheduler().hold_policies = {2};
  ChunkMessage early = Contribution();
  early.id.round = Round(3);
  early.elements = 3;
  for (uint32_t node : {1, 2, 3}) cluster_.PushOnly(node, 0, kKey, {1, 1, 1});
  cluster_.Advance(absl::Seconds(1));
  const int acks_before = delivery_acks_;
  cluster_.Inject(2, child_, early, {Floats()});
  EXPECT_EQ(delivery_acks_, acks_before + 1);
  cluster_.scheduler().ReleasePolicies();
  cluster_.Run();
  const std::vector<RoundBroken> said = cluster_.scheduler().Said<RoundBroken>(2);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].round, Round(3));
  EXPECT_EQ(said[0].culprit, NodeId(3));
  EXPECT_THAT(said[0].reason, HasSubstr("3 elements came, expected 2"));
}

class RoundEngineEarlyTest : public testing::TestWithParam<std::pair<KeyId, Epoch>> {};

TEST_P(RoundEngineEarlyTest, WhatNeverComesMakesRoomForOthers) {
  JobConfig config;
  config.job = "job";
  config.early_bytes = 2000;
  config.scheduler_lost_after = absl::Seconds(5);
  TestCluster cluster(config, TestPlan::Star(2));
  cluster.Start();
  const ConnectionId child = cluster.ConnectAs(1, 2);
  int acks = 0;
  cluster.filter = [&acks](uint32_t from, uint32_t, const Message& message) {
    const auto* ack = std::get_if<LinkAck>(&message);
    if (from == 1 && ack != nullptr) acks += ack->entries[0].is_delivered;
    return TestCluster::Fate::kDeliver;
  };
  cluster.InitEverywhere({0, 0});
  acks = 0;
  ChunkMessage message;
  message.id = {GetParam().second, Attempt(0), Round(1), GetParam().first, ChunkIndex(0), Half::kReduce};
  message.policy = PolicyVersion(3);
  message.source_incarnation = TestIncarnation(2);
  message.route.path = {NodeId(2), NodeId(1)};
  message.weight = 1;
  message.elements = 100;
  message.frames = {{CodecId::kFp32, 0, 100, 400}};
  const auto inject = [&](uint32_t chunk) {
    message.id.chunk = ChunkIndex(chunk);
    const int before = acks;
    cluster.Inject(1, child, message, {Buffer::Allocate(400, DataType::kByte)});
    return acks > before;
  };
  uint32_t kept = 0;
  while (inject(kept)) ++kept;
  EXPECT_GT(kept, 0u);
  message.id.key = KeyId(2);
  message.id.epoch = Epoch(1);
  message.id.round = Round(0);
  EXPECT_FALSE(inject(0));
  cluster.Advance(2 * config.scheduler_lost_after + absl::Seconds(1));
  EXPECT_TRUE(inject(0));
}

INSTANTIATE_TEST_SUITE_P(KeyAndEpoch, RoundEngineEarlyTest,
                         testing::Values(std::pair(KeyId(9), Epoch(1)), std::pair(kKey, Epoch(uint64_t{1} << 60))));

// Each node's inputs come before those that are added before them, and there is room for few that wait.
TEST(RoundEngineInputsTest, InAFixedOrderARefusedInputIsSentAgainWhenItIsItsTurn) {
  constexpr int kChunks = 40;
  JobConfig config;
  config.job = "job";
  config.aggregation.op = AggregationOp::kSum;
  config.aggregation.fixed_order = true;
  config.chunk_max_elements = 10;
  config.early_bytes = 120;
  TestCluster cluster(config, TestPlan::Star(9));
  cluster.Start();
  const std::vector<float> ones(10 * kChunks, 1.0f);
  cluster.InitEverywhere(ones);
  int sent = 0;
  int busy = 0;
  cluster.filter = [&](uint32_t from, uint32_t to, const Message& message) {
    sent += to == 1 && std::holds_alternative<ChunkMessage>(message);
    busy += from == 1 && std::holds_alternative<Busy>(message);
    return TestCluster::Fate::kDeliver;
  };
  for (uint32_t child = 9; child >= 2; --child) cluster.PushOnly(child, 0, kKey, ones);
  const RequestId push = cluster.Push(1, 0, kKey, ones);
  EXPECT_EQ(cluster.Result(push), std::vector<float>(10 * kChunks, 9.0f));
  EXPECT_GT(busy, 7 * kChunks / 2);
  EXPECT_LE(sent, 8 * kChunks + busy);
  EXPECT_LE(busy, 8 * kChunks);
}

TEST(RoundEngineInputsTest, WhatWaitsToBeAddedIsCountedAndBounded) {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = AggregationOp::kSum;
  config.early_bytes = 1000;
  TestCluster cluster(config, TestPlan::Star(9));
  cluster.Start();
  const std::vector<float> ones(100, 1.0f);
  cluster.InitEverywhere(ones);
  int busy = 0;
  cluster.filter = [&busy](uint32_t from, uint32_t, const Message& message) {
    busy += from == 1 && std::holds_alternative<Busy>(message);
    return TestCluster::Fate::kDeliver;
  };
  cluster.hold_computations = {1};
  const RequestId push = cluster.Push(1, 0, kKey, ones);
  for (uint32_t child = 2; child <= 9; ++child) cluster.PushOnly(child, 0, kKey, ones);
  // The first child's values are being added to this node's own, and there is room for two that wait.
  EXPECT_EQ(busy, 5);
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Memory(1, "waiting inputs"), 800u);
  cluster.hold_computations.clear();
  cluster.ReleaseHeld();
  EXPECT_EQ(cluster.Result(push), std::vector<float>(100, 9.0f));
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Memory(1, "waiting inputs"), 0u);
}

// Weights that wrap around would divide the sum by too little, or by nothing.
TEST_F(RoundEngineTest, AWeightThatTheJobCannotHaveIsRefused) {
  ChunkMessage heavy = Contribution();
  heavy.weight = 2 * kMaxWorkersPerNode + 1;
  EXPECT_TRUE(IsRefused(child_, heavy));
  heavy.weight = uint32_t{1} << 31;
  EXPECT_TRUE(IsRefused(child_, heavy));
  heavy.weight = 2 * kMaxWorkersPerNode;
  cluster_.Inject(2, child_, heavy, {Floats()});
  EXPECT_EQ(delivery_acks_, 1);
}

TEST_F(RoundEngineTest, AResultOfMoreWorkersThanTheJobCanHaveIsRefused) {
  cluster_.PushOnly(3, 0, kKey, {1, 1, 1});
  cluster_.PushOnly(2, 0, kKey, {1, 1, 1});
  ChunkMessage heavy = Result();
  heavy.weight = 3 * kMaxWorkersPerNode + 1;
  EXPECT_TRUE(IsRefused(parent_, heavy));
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {1, 1, 1})), ElementsAre(3, 3, 3));
}

// Each of them could be: both together cannot.
TEST(RoundEngineWeightsTest, TheWeightsOfAllChildrenTogetherAreBounded) {
  JobConfig config;
  config.job = "job";
  TestCluster cluster(config, TestPlan::Star(3));
  cluster.Start();
  cluster.InitEverywhere({0, 0});
  cluster.PushOnly(1, 0, kKey, {1, 1});
  for (uint32_t child : {2, 3}) {
    ChunkMessage message;
    message.id = {Epoch(1), Attempt(0), Round(1), kKey, ChunkIndex(0), Half::kReduce};
    message.policy = PolicyVersion(3);
    message.source_incarnation = TestIncarnation(child);
    message.route.path = {NodeId(child), NodeId(1)};
    message.weight = 2 * kMaxWorkersPerNode;
    message.elements = 2;
    message.frames = {{CodecId::kFp32, 0, 2, 8}};
    cluster.Inject(1, cluster.ConnectAs(1, child), std::move(message), {Buffer::CopyOf({1, 2}).AsBytes()});
  }
  cluster.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster.Rejected(1), 1u);
}

TEST_F(RoundEngineTest, AResultBeforeThisNodesContributionIsRefused) { EXPECT_TRUE(IsRefused(parent_, Result())); }

TEST_F(RoundEngineTest, AResultOfAnotherKindOrWithoutFramesIsRefused) {
  cluster_.PushOnly(3, 0, kKey, {1, 1, 1});
  cluster_.PushOnly(2, 0, kKey, {1, 1, 1});
  ChunkMessage other_kind = Result();
  other_kind.kind = RoundKind::kBroadcast;
  EXPECT_TRUE(IsRefused(parent_, other_kind));
  ChunkMessage empty = Result();
  empty.frames.clear();
  empty.weight = 0;
  EXPECT_TRUE(IsRefused(parent_, empty, {}));
  EXPECT_TRUE(IsRefused(child_, Result()));
  EXPECT_THAT(cluster_.Result(cluster_.Push(1, 0, kKey, {1, 1, 1})), ElementsAre(3, 3, 3));
}

// The source has yet to hear of the epoch, or this node has: nobody breaks a rule.
TEST_F(RoundEngineTest, ChunksOfOtherEpochsAreDroppedOrKeptAndNeverRefused) {
  ChunkMessage later = Contribution();
  later.id.epoch = Epoch(2);
  later.id.round = Round(1'000'000);
  cluster_.Inject(2, child_, later, {Floats()});
  EXPECT_EQ(delivery_acks_, 1);
  ChunkMessage earlier = Contribution();
  earlier.id.epoch = Epoch(0);
  cluster_.Inject(2, child_, earlier, {Floats()});
  EXPECT_EQ(delivery_acks_, 2);
  EXPECT_EQ(Rejections(), 0u);
  EXPECT_GT(cluster_.Memory(2, "early"), 0u);
  cluster_.Inject(2, kSchedulerConnection, EpochBegin{Term(7), Epoch(3), "n4 joins"});
  cluster_.Advance(absl::Seconds(1));
  EXPECT_EQ(cluster_.Memory(2, "early"), 0u);
}

TEST_F(RoundEngineTest, ARoundThatIsOverIsAcknowledgedAndForgotten) {
  ChunkMessage old = Contribution();
  old.id.round = Round(0);
  cluster_.Inject(2, child_, old, {Floats()});
  EXPECT_EQ(delivery_acks_, 1);
  EXPECT_EQ(Rejections(), 0u);
}

TEST_F(RoundEngineTest, AnUnknownKeyIsKeptUntilItsRoundIsKnown) {
  ChunkMessage early = Contribution();
  early.id.key = KeyId(2);
  early.id.round = Round(1'000'000);
  cluster_.Inject(2, child_, early, {Floats()});
  EXPECT_EQ(delivery_acks_, 1);
  cluster_.Advance(absl::Seconds(1));
  EXPECT_GT(cluster_.Memory(2, "early"), 0u);
  // Once the key is known the round turns out to be impossible; nobody asks for its policy.
  for (uint32_t node : {1, 2, 3}) cluster_.Init(node, 0, "x", {0, 0, 0});
  EXPECT_EQ(Rejections(), 1u);
  EXPECT_EQ(cluster_.Memory(2, "early"), 0u);
  for (const PolicyRequest& request : cluster_.scheduler().Said<PolicyRequest>(2)) {
    for (const PolicyRequest::Entry& entry : request.entries) EXPECT_LT(entry.round, Round(10));
  }
}

// The engine of a node that is alone in its job, and hears nothing from it.
class LoneRoundEngineTest : public ::testing::Test, private RoundEngine::Listener, private PeerNetwork::Listener {
 protected:
  LoneRoundEngineTest() {
    PolicySlice slice = TestPlan::Star(1).Slice(1, config_);
    slice.version = PolicyVersion(3);
    EXPECT_TRUE(policy_table_.AddKeys({{kKey, "w", 3}}).ok());
    EXPECT_TRUE(policy_table_.AddSlice(slice).ok());
    EXPECT_TRUE(policy_table_.AddBinding({kKey, Round(0), Round(9), PolicyVersion(3), Attempt(1)}).ok());
  }
  // Runs what was started before; what that starts waits for the next call.
  void RunComputations() {
    for (Action& action : std::exchange(actions_, {})) {
      auto* start = std::get_if<StartComputation>(&action);
      if (start == nullptr) continue;
      start->computation->Run();
      ComputationFinished finished{start->id, std::move(start->computation)};
      computations_.OnFinished(step_, finished);
    }
  }

  PeerNetwork::Verdict OnChunk(StepContext&, ChunkMessage, Payload) override { return PeerNetwork::Verdict::kTaken; }
  void OnStateMessage(StepContext&, const Message&) override {}
  void OnPeerLost(StepContext&, const PeerLost&) override {}
  void OnValues(StepContext&, KeyId, Round, int64_t, const Buffer& values) override { got_ += values.elements(); }
  void OnRoundComplete(StepContext&, KeyId, Round, uint64_t) override { ++complete_; }
  void OnPolicyWanted(StepContext&, KeyId, Round) override {}
  void OnRoundBroken(StepContext&, KeyId, Round, NodeId, const std::string&) override { FAIL(); }

  JobConfig config_;
  PolicyTable policy_table_;
  ComputationTable computations_;
  RoundRecorder recorder_;
  PeerNetwork network_{{"job", Term(7), NodeId(1), TestIncarnation(1)}, config_, {}, this, &recorder_};
  RoundEngine engine_{NodeId(1), TestIncarnation(1), config_, &policy_table_, &network_, &computations_, this, nullptr};
  Actions actions_;
  RejectionLog rejections_;
  StepContext step_{Timestamp(), actions_, rejections_};
  int64_t got_ = 0;
  int complete_ = 0;
};

TEST_F(LoneRoundEngineTest, ItsOwnContributionIsTheResult) {
  engine_.Contribute(step_, kKey, Round(0), {RoundKind::kAggregate, Buffer::CopyOf({1, 2, 3}), 1, 0});
  EXPECT_FALSE(engine_.IsIdle());
  for (int i = 0; i < 3; ++i) RunComputations();
  EXPECT_EQ(got_, 3);
  EXPECT_EQ(complete_, 1);
  EXPECT_EQ(rejections_.total(), 0u);
  engine_.OnClosedEverywhere(step_, kKey, Round(0));
  EXPECT_TRUE(engine_.IsIdle());
}

TEST_F(LoneRoundEngineTest, LooksAtNoOtherKeysThanThoseThatChanged) {
  ASSERT_TRUE(policy_table_.AddKeys({{KeyId(2), "v", 3}}).ok());
  engine_.Contribute(step_, KeyId(2), Round(0), {RoundKind::kAggregate, Buffer::CopyOf({1, 2, 3}), 1, 0});
  ASSERT_TRUE(policy_table_.AddBinding({KeyId(2), Round(0), Round(0), PolicyVersion(3), Attempt(1)}).ok());
  engine_.OnBookChanged(step_, {kKey});
  EXPECT_TRUE(actions_.empty());
  engine_.OnBookChanged(step_, {kKey, KeyId(2)});
  for (int i = 0; i < 3; ++i) RunComputations();
  EXPECT_EQ(complete_, 1);
}

// Whether it was adding, finishing or reading: what comes back for a round that is gone is counted and dropped.
TEST_F(LoneRoundEngineTest, ALateComputationIsCountedAndDropped) {
  for (int finished = 0; finished < 3; ++finished) {
    engine_.Contribute(step_, kKey, Round(0), {RoundKind::kAggregate, Buffer::CopyOf({1, 2, 3}), 1, 0});
    for (int i = 0; i < finished; ++i) RunComputations();
    engine_.Clear();
    RunComputations();
    EXPECT_EQ(rejections_.total(), static_cast<uint64_t>(finished + 1));
  }
  EXPECT_EQ(got_, 0);
  EXPECT_EQ(complete_, 0);
}

}  // namespace
}  // namespace banyan
