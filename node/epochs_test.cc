// Changes of membership seen from nodes: rounds are tried again among those who stay, results that any of them holds
// stand, and who joins takes part without holding anybody up.
#include <set>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/epochs_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Fate = TestCluster::Fate;

class EpochsTest : public EpochsFixture {};

TEST_F(EpochsTest, TheOthersFinishTheRoundOfANodeThatDied) {
  Start(3);
  const RequestId first = Push(1, 1);
  cluster_->Kill(2);
  const RequestId third = Push(3, 4);
  EXPECT_FALSE(cluster_->IsDone(first));
  cluster_->ChangeMembers({1, 3}, ChainOf({3, 1}));
  EXPECT_THAT(cluster_->Result(first), Sum(5));
  EXPECT_THAT(cluster_->Result(third), Sum(5));
  EXPECT_EQ(cluster_->Completion(first).round, Round(1));
  const RequestId next = Push(1, 1);
  EXPECT_THAT(cluster_->Result(Push(3, 1)), Sum(2));
  EXPECT_THAT(cluster_->Result(next), Sum(2));
  ExpectNothingRejected();
}

// Whoever is the root of the new attempt, and whether or not it holds the result.
TEST_F(EpochsTest, AResultThatASurvivorHoldsStands) {
  for (const std::vector<uint32_t>& chain : std::vector<std::vector<uint32_t>>{{2, 3}, {3, 2}}) {
    Start(3);
    Drop(Half::kBroadcast, 1, {3});
    Push(1, 1);
    const RequestId second = Push(2, 2);
    const RequestId third = Push(3, 4);
    EXPECT_THAT(cluster_->Result(second), Sum(7));
    EXPECT_FALSE(cluster_->IsDone(third));
    cluster_->Kill(1);
    cluster_->ChangeMembers({2, 3}, ChainOf(chain));
    EXPECT_THAT(cluster_->Result(third), Sum(7));
    const RequestId next = Push(2, 1);
    EXPECT_THAT(cluster_->Result(Push(3, 1)), Sum(2));
    EXPECT_TRUE(cluster_->IsDone(next));
    ExpectNothingRejected();
  }
}

TEST_F(EpochsTest, AResultPassesThroughThoseWhoDoNotHoldIt) {
  Start(4);
  Drop(Half::kBroadcast, 1, {2, 3});
  for (uint32_t node = 1; node <= 4; ++node) Push(node, node);
  cluster_->Kill(1);
  const RequestId pull_2 = cluster_->Pull(2, 0, kKey);
  const RequestId pull_3 = cluster_->Pull(3, 0, kKey);
  cluster_->ChangeMembers({2, 3, 4}, ChainOf({2, 3, 4}));
  EXPECT_THAT(cluster_->Result(pull_2), Sum(10));
  EXPECT_THAT(cluster_->Result(pull_3), Sum(10));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, EachChunkStandsForItself) {
  Start(3);
  // Of chunk 0 node 2 has the result, of chunk 1 nobody but the root.
  cluster_->filter = [](uint32_t from, uint32_t to, const Message& message) {
    const auto* chunk = std::get_if<ChunkMessage>(&message);
    const bool is_result = chunk != nullptr && chunk->id.half == Half::kBroadcast && from == 1;
    return is_result && (to == 3 || chunk->id.chunk == ChunkIndex(1)) ? Fate::kDrop : Fate::kDeliver;
  };
  Push(1, 1);
  const RequestId second = Push(2, 2);
  const RequestId third = Push(3, 4);
  cluster_->filter = nullptr;
  cluster_->Kill(1);
  cluster_->ChangeMembers({2, 3}, ChainOf({3, 2}));
  EXPECT_THAT(cluster_->Result(second), ElementsAre(7, 70, 600));
  EXPECT_THAT(cluster_->Result(third), ElementsAre(7, 70, 600));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ARoundThatIsCompleteHereButNotClosedIsGivenToTheOthers) {
  Start(3);
  cluster_->scheduler().hold_closed = true;
  Drop(Half::kBroadcast, 1, {2});
  const RequestId first = Push(1, 1);
  const RequestId second = Push(2, 2);
  const RequestId third = Push(3, 4);
  EXPECT_TRUE(cluster_->IsDone(first));
  EXPECT_TRUE(cluster_->IsDone(third));
  cluster_->filter = nullptr;
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({2, 1, 3}));
  EXPECT_THAT(cluster_->Result(second), Sum(7));
  cluster_->scheduler().ReleaseClosed();
  cluster_->Run();
  cluster_->Advance(absl::Seconds(1));
  for (uint32_t node : {1, 2, 3}) EXPECT_EQ(cluster_->Memory(node, "contributions"), 0u);
  ExpectNothingRejected();
}

TEST_F(EpochsTest, SeveralEpochsMayPassBeforeAPlanComes) {
  Start(3);
  const RequestId first = Push(1, 1);
  cluster_->scheduler().hold_plans = true;
  cluster_->Kill(3);
  cluster_->ChangeMembers({1, 2}, ChainOf({1, 2}));
  const RequestId second = Push(2, 2);
  cluster_->ChangeMembers({1, 2}, ChainOf({1, 2}));
  EXPECT_FALSE(cluster_->IsDone(first));
  cluster_->scheduler().hold_plans = false;
  cluster_->ChangeMembers({1, 2}, ChainOf({2, 1}));
  EXPECT_THAT(cluster_->Result(first), Sum(3));
  EXPECT_THAT(cluster_->Result(second), Sum(3));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ANodeThatWasAwayTakesThePlanWithItsNextJoin) {
  Start(3);
  const RequestId second = Push(2, 2);
  cluster_->Step(2, ConnectionDown{kSchedulerConnection});
  cluster_->scheduler().hold_plans = true;
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({2, 1, 3}));
  const RequestId first = Push(1, 1);
  cluster_->scheduler().hold_plans = false;
  cluster_->Step(2, ConnectionUp{kSchedulerConnection});
  cluster_->Run();
  Push(3, 4);
  EXPECT_THAT(cluster_->Result(first), Sum(7));
  EXPECT_THAT(cluster_->Result(second), Sum(7));
  // The same plan once more changes nothing.
  cluster_->BreakSchedulerConnection(2);
  cluster_->Run();
  for (uint32_t node : {1, 2}) Push(node, 1);
  EXPECT_THAT(cluster_->Result(Push(3, 1)), Sum(3));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, TwoRoundsInFlightAreTriedAgain) {
  Start(3, EpochConfig(2));
  const RequestId first_1 = Push(1, 1);
  const RequestId first_3 = Push(3, 1);
  Push(1, 4);
  const RequestId second_3 = Push(3, 4);
  cluster_->Kill(2);
  cluster_->ChangeMembers({1, 3}, ChainOf({3, 1}));
  EXPECT_THAT(cluster_->Result(first_1), Sum(2));
  EXPECT_THAT(cluster_->Result(first_3), Sum(2));
  EXPECT_THAT(cluster_->Result(second_3), Sum(8));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ABroadcastTakesTheValuesOfTheNewSource) {
  Start(3);
  cluster_->Kill(1);
  const RequestId second = cluster_->Broadcast(2, 0, kKey, {2, 2, 2});
  const RequestId third = cluster_->Broadcast(3, 0, kKey, {3, 3, 3});
  cluster_->scheduler().source = NodeId(3);
  cluster_->ChangeMembers({2, 3}, ChainOf({2, 3}));
  EXPECT_THAT(cluster_->Result(second), ElementsAre(3, 3, 3));
  EXPECT_THAT(cluster_->Result(third), ElementsAre(3, 3, 3));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ANodeWhoseWorkerHasDiedSaysThatItHasTheValuesOfAnOpenBroadcast) {
  Start(3);
  cluster_->Broadcast(3, 0, kKey, {3, 3, 3});
  const auto says = [this](uint32_t node) { return cluster_->scheduler().Said<WorkerLost>(node).back().has_values; };
  for (uint32_t node : {3, 1}) cluster_->Detach(node, 0, false);
  EXPECT_TRUE(says(3));
  EXPECT_FALSE(says(1));
  const RequestId second = cluster_->Broadcast(2, 0, kKey, {2, 2, 2});
  EXPECT_FALSE(cluster_->IsDone(second));
  cluster_->scheduler().source = NodeId(3);
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({1, 2, 3}));
  EXPECT_THAT(cluster_->Result(second), ElementsAre(3, 3, 3));
  cluster_->Advance(absl::Seconds(10));
  EXPECT_FALSE(says(3)) << "it is asked for what it has not";
}

TEST_F(EpochsTest, ANewMemberHoldsNobodyUpAndTakesPartOnceItsWorkerIsThere) {
  Start(3);
  cluster_->Kill(3);
  cluster_->ChangeMembers({1, 2}, ChainOf({1, 2}));
  for (int round = 1; round <= 3; ++round) {
    const RequestId first = Push(1, 1);
    EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(3));
    EXPECT_TRUE(cluster_->IsDone(first));
  }
  // One of the two has contributed when it comes.
  const RequestId first = Push(1, 1);
  cluster_->Restart(3);
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({3, 1, 2}));
  const RequestId second = Push(2, 2);
  EXPECT_THAT(cluster_->Result(first), Sum(3));
  EXPECT_THAT(cluster_->Result(second), Sum(3));
  EXPECT_EQ(cluster_->Completion(second).round, Round(4));
  cluster_->Attach(3);
  const RequestId init = cluster_->Init(3, 0, "w", {9, 9, 9});
  ASSERT_TRUE(cluster_->StatusOf(init).ok());
  EXPECT_EQ(cluster_->Completion(init).key, kKey);
  EXPECT_EQ(cluster_->Completion(init).round, Round(5)) << "it has abstained from round 5 already";
  Push(1, 1);
  EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(3));
  Push(1, 1);
  Push(2, 2);
  const RequestId third = Push(3, 4);
  EXPECT_THAT(cluster_->Result(third), Sum(7));
  EXPECT_EQ(cluster_->Completion(third).round, Round(6));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, AWorkerOfANewMemberMayBeThereBeforeThePlan) {
  Start(2);
  Push(1, 1);
  Push(2, 2);
  cluster_->Kill(2);
  cluster_->ChangeMembers({1}, ChainOf({1}));
  cluster_->Restart(2);
  cluster_->Attach(2);
  const RequestId init = cluster_->Init(2, 0, "w", {9, 9, 9});
  EXPECT_FALSE(cluster_->IsDone(init));
  cluster_->ChangeMembers({1, 2}, ChainOf({2, 1}));
  ASSERT_TRUE(cluster_->StatusOf(init).ok());
  const Round begins_after = cluster_->Completion(init).round;
  EXPECT_GE(begins_after, Round(1));
  for (Round round(2); round <= begins_after; round = round.Next()) Push(1, 1);
  Push(1, 1);
  EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(3));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ANewMemberTakesNoPartInWhatIsClosedAfterAnOpenRound) {
  Start(3, EpochConfig(2));
  cluster_->Kill(3);
  cluster_->ChangeMembers({1, 2}, ChainOf({1, 2}));
  cluster_->filter = [](uint32_t, uint32_t, const Message& message) {
    const auto* chunk = std::get_if<ChunkMessage>(&message);
    const bool is_dropped = chunk != nullptr && chunk->id.half == Half::kBroadcast && chunk->id.round == Round(1);
    return is_dropped ? Fate::kDrop : Fate::kDeliver;
  };
  Push(1, 1);
  Push(1, 1);
  const RequestId open = Push(2, 2);
  const RequestId closed = Push(2, 2);
  EXPECT_FALSE(cluster_->IsDone(open));
  EXPECT_THAT(cluster_->Result(closed), Sum(3));
  cluster_->filter = nullptr;
  cluster_->Restart(3);
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({3, 1, 2}));
  EXPECT_THAT(cluster_->Result(open), Sum(3));
  cluster_->Attach(3);
  const RequestId init = cluster_->Init(3, 0, "w", {9, 9, 9});
  ASSERT_TRUE(cluster_->StatusOf(init).ok());
  const Round begins_after = cluster_->Completion(init).round;
  EXPECT_GE(begins_after, Round(2));
  for (Round round(3); round <= begins_after; round = round.Next()) {
    Push(1, 1);
    EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(3));
  }
  Push(1, 1);
  Push(2, 2);
  EXPECT_THAT(cluster_->Result(Push(3, 4)), Sum(7));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, ANodeWhoseWorkerDiedAbstainsUntilAnotherOneAttaches) {
  Start(3);
  const RequestId first = Push(1, 1);
  Push(3, 4);
  cluster_->Detach(2, 0, false);
  EXPECT_THAT(cluster_->Result(first), Sum(5));
  ASSERT_EQ(cluster_->scheduler().Said<WorkerLost>(2).size(), 1u);
  Push(1, 1);
  EXPECT_THAT(cluster_->Result(Push(3, 4)), Sum(5));
  cluster_->Attach(2);
  const RequestId init = cluster_->Init(2, 0, "w", {9, 9, 9});
  EXPECT_EQ(cluster_->Completion(init).round, Round(3));
  for (int round = 3; round <= 4; ++round) {
    Push(1, 1);
    const RequestId third = Push(3, 4);
    if (round == 3) {
      EXPECT_THAT(cluster_->Result(third), Sum(5));
    } else {
      EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(7));
    }
  }
  ExpectNothingRejected();
}

// What an encoding has dropped is made up for once, whichever attempt its result comes of.
TEST_F(EpochsTest, ResidualsAreThoseOfTheAttemptThatMadeTheResult) {
  for (const bool has_result : {true, false}) {
    JobConfig config = EpochConfig();
    config.compression.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.5}}}};
    config.compression.least_elements = 1;
    config.chunk_max_elements = 4;
    cluster_.emplace(config, TestPlan::Star(3));
    cluster_->Start();
    cluster_->InitEverywhere({0, 0, 0, 0});
    // Of the first attempt's result one survivor hears, or nobody.
    Drop(Half::kBroadcast, 1, has_result ? std::set<uint32_t>{3} : std::set<uint32_t>{2, 3});
    const std::vector<float> gradient = {1, 2, 4, 8};
    for (uint32_t node : {1, 2, 3}) cluster_->Push(node, 0, kKey, gradient);
    const RequestId pull = cluster_->Pull(3, 0, kKey);
    cluster_->filter = nullptr;
    cluster_->Kill(1);
    cluster_->ChangeMembers({2, 3}, ChainOf({2, 3}));
    ASSERT_TRUE(cluster_->IsDone(pull));
    std::vector<float> total = cluster_->Result(pull);
    cluster_->Flush(2, 0, kKey, {0, 0, 0, 0});
    const RequestId flush = cluster_->Flush(3, 0, kKey, {0, 0, 0, 0});
    ASSERT_TRUE(cluster_->IsDone(flush));
    for (size_t i = 0; i < total.size(); ++i) total[i] += cluster_->Result(flush)[i];
    // The large two of node 1, which was the root, are in its result; what it kept back is lost with it.
    const float large = has_result ? 3 : 2;
    EXPECT_THAT(total, ElementsAre(2, 4, 4 * large, 8 * large)) << has_result;
  }
}

TEST_F(EpochsTest, ALinkThatIsCutIsNotTheEndOfANode) {
  Start(3);
  cluster_->Cut(1, 3);
  const RequestId first = Push(1, 1);
  Push(2, 2);
  const RequestId third = Push(3, 4);
  cluster_->Advance(absl::Seconds(8));
  ASSERT_EQ(cluster_->scheduler().Said<PeerLost>(1).size(), 1u);
  EXPECT_EQ(cluster_->scheduler().Said<PeerLost>(1)[0].peer, NodeId(3));
  EXPECT_EQ(cluster_->scheduler().Said<PeerLost>(3).size(), 1u);
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({1, 2, 3}));
  EXPECT_THAT(cluster_->Result(first), Sum(7));
  EXPECT_THAT(cluster_->Result(third), Sum(7));
  // Long enough for connections that no policy names to be closed.
  cluster_->Advance(absl::Seconds(30));
  EXPECT_EQ(cluster_->scheduler().Said<PeerLost>(1).size(), 1u);
  cluster_->Heal(1, 3);
  cluster_->ChangeMembers({1, 2, 3}, TestPlan::Star(3));
  Push(1, 1);
  Push(2, 2);
  EXPECT_THAT(cluster_->Result(Push(3, 4)), Sum(7));
  ExpectNothingRejected();
}

TEST_F(EpochsTest, AJobWhoseWorkersAllDiedAtTheStartBeginsFromTheValuesOfTheNextOne) {
  cluster_.emplace(EpochConfig(), TestPlan::Star(2));
  cluster_->Start();
  for (uint32_t node : {1, 2}) cluster_->Attach(node);
  cluster_->Detach(2, 0, false);
  Drop(Half::kReduce, 2, {1});
  cluster_->Init(1, 0, "w", {1, 1, 1});
  cluster_->filter = nullptr;
  cluster_->Kill(1);
  cluster_->ChangeMembers({2}, ChainOf({2}));
  cluster_->Advance(absl::Seconds(20));
  cluster_->Attach(2);
  const RequestId init = cluster_->Init(2, 0, "w", {3, 3, 3});
  cluster_->Advance(absl::Seconds(20));
  EXPECT_THAT(cluster_->Result(init), ElementsAre(3, 3, 3));
  EXPECT_EQ(cluster_->Completion(init).round, Round(0));
  EXPECT_THAT(cluster_->Result(Push(2, 1)), Sum(1));
  ExpectNothingRejected();
}

}  // namespace
}  // namespace banyan
