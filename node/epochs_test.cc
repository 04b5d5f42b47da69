// Changes of membership seen from nodes: rounds are tried again among those who stay, results that any of them holds
// stand, and who joins takes part without holding anybody up.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Fate = TestCluster::Fate;

constexpr KeyId kKey(1);

JobConfig Config(uint32_t rounds_in_flight = 1) {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = AggregationOp::kSum;
  config.chunk_max_elements = 2;
  config.rounds_in_flight = rounds_in_flight;
  return config;
}

// A tree in which the first of `members` is the root and the others hang on the one before them.
TestPlan ChainOf(const std::vector<uint32_t>& members) {
  TestTree tree;
  tree.root = members.front();
  uint32_t most = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    most = std::max(most, members[i]);
    if (i > 0) tree.reduce[members[i]] = tree.broadcast[members[i]] = members[i - 1];
  }
  return {most, {tree}, {}};
}

class EpochsTest : public ::testing::Test {
 protected:
  // All members of a star around node 1, with "w" initialised.
  void Start(uint32_t nodes, JobConfig config = Config()) {
    cluster_.emplace(std::move(config), TestPlan::Star(nodes));
    cluster_->Start();
    cluster_->InitEverywhere({0, 0, 0});
  }
  RequestId Push(uint32_t node, float value) { return cluster_->Push(node, 0, kKey, {value, 10 * value, 100 * value}); }
  static auto Sum(float value) { return ElementsAre(value, 10 * value, 100 * value); }
  // Nothing of this half passes between these nodes.
  void Drop(Half half, uint32_t from, std::set<uint32_t> to, std::set<uint32_t> chunks = {0, 1}) {
    cluster_->filter = [=](uint32_t source, uint32_t destination, const Message& message) {
      const auto* chunk = std::get_if<ChunkMessage>(&message);
      const bool is_dropped = chunk != nullptr && chunk->id.half == half && source == from &&
                              to.contains(destination) && chunks.contains(chunk->id.chunk.value());
      return is_dropped ? Fate::kDrop : Fate::kDeliver;
    };
  }
  void ExpectNothingRejected() {
    cluster_->Advance(absl::Seconds(1));
    for (uint32_t node = 1; node <= 3; ++node) EXPECT_EQ(cluster_->Rejected(node), 0u) << node;
    EXPECT_THAT(cluster_->scheduler().unequal_hashes, IsEmpty());
    EXPECT_THAT(cluster_->job_ends(), IsEmpty());
  }

  std::optional<TestCluster> cluster_;
};

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
  Start(3, Config(2));
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
    JobConfig config = Config();
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

// Members stay the same and trees change in the middle of rounds: each contribution is in each result exactly once.
TEST_F(EpochsTest, WhateverIsUnderWayWhenAnEpochEndsEveryContributionCountsOnce) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const uint32_t nodes = static_cast<uint32_t>(random.Between(2, 5));
    const uint32_t in_flight = static_cast<uint32_t>(random.Between(1, 2));
    Start(nodes, Config(in_flight));
    const double hold = 0.5 * random.Unit();
    const double drop = 0.3 * random.Unit();
    cluster_->filter = [&](uint32_t, uint32_t, const Message& message) {
      if (!std::holds_alternative<ChunkMessage>(message)) return Fate::kDeliver;
      if (random.Chance(hold)) return Fate::kHold;
      return random.Chance(drop) ? Fate::kDrop : Fate::kDeliver;
    };
    std::map<uint32_t, std::vector<RequestId>> pushes;
    std::set<uint32_t> members;
    for (uint32_t node = 1; node <= nodes; ++node) members.insert(node);
    for (int step = 0; step < 60; ++step) {
      const uint32_t node = static_cast<uint32_t>(random.Between(1, nodes));
      std::vector<RequestId>& own = pushes[node];
      const bool has_room = own.size() < in_flight || cluster_->IsDone(own[own.size() - in_flight]);
      if (has_room && own.size() < 8) own.push_back(Push(node, static_cast<float>(1 << (3 * (node - 1)))));
      if (random.Chance(0.15)) cluster_->ReleaseHeld();
      if (!random.Chance(0.2)) continue;
      std::vector<uint32_t> chain(members.begin(), members.end());
      for (size_t i = chain.size() - 1; i > 0; --i) std::swap(chain[i], chain[random.Between(0, i)]);
      cluster_->scheduler().hold_plans = random.Chance(0.2);
      cluster_->ChangeMembers(members, ChainOf(chain));
    }
    cluster_->filter = nullptr;
    cluster_->ReleaseHeld();
    cluster_->scheduler().hold_plans = false;
    cluster_->ChangeMembers(members, TestPlan::Star(nodes));
    for (int turn = 0; turn < 20; ++turn) {
      for (uint32_t node : members) {
        if (pushes[node].size() < 8) pushes[node].push_back(Push(node, static_cast<float>(1 << (3 * (node - 1)))));
      }
      cluster_->Advance(absl::Seconds(3));
    }
    float all = 0;
    for (uint32_t node : members) all += static_cast<float>(1 << (3 * (node - 1)));
    for (uint32_t node : members) {
      ASSERT_EQ(pushes[node].size(), 8u);
      for (RequestId push : pushes[node]) {
        ASSERT_TRUE(cluster_->IsDone(push)) << node;
        ASSERT_THAT(cluster_->Result(push), Sum(all)) << node << " " << cluster_->StatusOf(push);
      }
    }
    EXPECT_THAT(cluster_->scheduler().unequal_hashes, IsEmpty());
    EXPECT_THAT(cluster_->job_ends(), IsEmpty());
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

// Nodes die and come back in the middle of rounds. Each result is the same for all who get it, and holds each node's
// contribution once or not at all, and that of whoever gets it once.
class DyingNodesTest : public EpochsTest {
 protected:
  struct Worker {
    std::optional<RequestId> init;  // of a restarted node
    std::vector<RequestId> pushes;
  };

  static float ValueOf(uint32_t node) { return static_cast<float>(1 << (3 * (node - 1))); }
  void ChangeMembers() {
    std::vector<uint32_t> chain(live_.begin(), live_.end());
    for (size_t i = chain.size() - 1; i > 0; --i) std::swap(chain[i], chain[random_->Between(0, i)]);
    cluster_->ChangeMembers(live_, ChainOf(chain));
  }
  bool MayPush(uint32_t node) {
    const Worker& worker = workers_[node];
    if (worker.init.has_value() && !cluster_->IsDone(*worker.init)) return false;
    const size_t pushes = worker.pushes.size();
    return pushes < in_flight_ || cluster_->IsDone(worker.pushes[pushes - in_flight_]);
  }
  bool HasAllResults(uint32_t node) {
    return MayPush(node) && (workers_[node].pushes.empty() || cluster_->IsDone(workers_[node].pushes.back()));
  }
  // The round of the node's last push, or the one after which it begins.
  Round RoundOf(uint32_t node) {
    const Worker& worker = workers_[node];
    const Round base = worker.init.has_value() ? cluster_->Completion(*worker.init).round : Round(0);
    return Round(base.value() + worker.pushes.size());
  }
  void PushOne(uint32_t node) { workers_[node].pushes.push_back(Push(node, ValueOf(node))); }
  void KillOne() {
    auto victim = live_.begin();
    std::advance(victim, random_->Between(0, live_.size() - 1));
    cluster_->Kill(*victim);
    CheckResults(*victim, /*is_survivor=*/false);
    workers_[*victim] = {};
    live_.erase(victim);
    ChangeMembers();
  }
  void ReviveOne(uint32_t nodes) {
    uint32_t node = 1;
    while (live_.contains(node)) ++node;
    if (node > nodes) return;
    cluster_->Restart(node);
    live_.insert(node);
    const bool is_early = random_->Chance(0.5);
    if (!is_early) ChangeMembers();
    cluster_->Attach(node);
    workers_[node] = {cluster_->Init(node, 0, "w", {0, 0, 0}), {}};
    if (is_early) ChangeMembers();
  }
  // What a node got that has died since may be lost with it: another result takes its place.
  void CheckResults(uint32_t node, bool is_survivor) {
    for (RequestId push : workers_[node].pushes) {
      if (!cluster_->IsDone(push)) continue;
      ASSERT_TRUE(cluster_->StatusOf(push).ok()) << cluster_->StatusOf(push);
      const std::vector<float> result = cluster_->Result(push);
      ASSERT_EQ(result.size(), 3u);
      if (is_survivor) {
        const auto [known, is_new] = results_.try_emplace(cluster_->Completion(push).round, result);
        ASSERT_EQ(known->second, result) << "round " << known->first;
      }
      for (size_t i = 0; i < result.size(); ++i) {
        const auto sum = static_cast<uint32_t>(result[i] / (i == 0 ? 1 : i == 1 ? 10 : 100));
        for (uint32_t other = 1; other <= 5; ++other) ASSERT_LE((sum >> (3 * (other - 1))) & 7, 1u);
        ASSERT_EQ((sum >> (3 * (node - 1))) & 7, 1u) << "node " << node;
      }
    }
  }

  std::optional<Random> random_;
  size_t in_flight_ = 1;
  std::set<uint32_t> live_;
  std::map<uint32_t, Worker> workers_;
  std::map<Round, std::vector<float>> results_;
};

TEST_F(DyingNodesTest, SurvivorsGoOnAndCountEverybodyOnce) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    random_.emplace(seed);
    results_.clear();
    workers_.clear();
    live_.clear();
    const uint32_t nodes = static_cast<uint32_t>(random_->Between(2, 5));
    in_flight_ = static_cast<size_t>(random_->Between(1, 2));
    Start(nodes, Config(static_cast<uint32_t>(in_flight_)));
    for (uint32_t node = 1; node <= nodes; ++node) live_.insert(node);
    const double hold = 0.5 * random_->Unit();
    const double drop = 0.2 * random_->Unit();
    cluster_->filter = [&](uint32_t, uint32_t, const Message& message) {
      if (!std::holds_alternative<ChunkMessage>(message)) return Fate::kDeliver;
      if (random_->Chance(hold)) return Fate::kHold;
      return random_->Chance(drop) ? Fate::kDrop : Fate::kDeliver;
    };
    for (int step = 0; step < 80; ++step) {
      for (uint32_t node : live_) {
        if (random_->Chance(0.4) && MayPush(node)) PushOne(node);
      }
      if (random_->Chance(0.15)) cluster_->ReleaseHeld();
      if (random_->Chance(0.1) && live_.size() > 1) KillOne();
      if (random_->Chance(0.15)) ReviveOne(nodes);
      if (random_->Chance(0.2)) cluster_->Advance(absl::Seconds(random_->Between(1, 4)));
    }
    cluster_->filter = nullptr;
    cluster_->ReleaseHeld();
    cluster_->Advance(absl::Seconds(10));
    Round last;
    for (uint32_t node : live_) {
      ASSERT_TRUE(!workers_[node].init.has_value() || cluster_->IsDone(*workers_[node].init)) << node;
      last = std::max(last, RoundOf(node));
    }
    last = Round(last.value() + 2);
    for (int turn = 0; turn < 200; ++turn) {
      bool is_over = true;
      for (uint32_t node : live_) {
        if (RoundOf(node) < last && MayPush(node)) PushOne(node);
        is_over = is_over && HasAllResults(node) && RoundOf(node) >= last;
      }
      if (is_over) break;
      cluster_->Advance(absl::Seconds(1));
    }
    for (uint32_t node : live_) {
      ASSERT_TRUE(HasAllResults(node)) << node;
      ASSERT_EQ(RoundOf(node), last) << node;
      CheckResults(node, /*is_survivor=*/true);
    }
    float all = 0;
    for (uint32_t node : live_) all += ValueOf(node);
    ASSERT_THAT(results_.at(last), Sum(all));
    ASSERT_THAT(cluster_->scheduler().unequal_hashes, IsEmpty());
    ASSERT_THAT(cluster_->job_ends(), IsEmpty());
  }
}

}  // namespace
}  // namespace banyan
