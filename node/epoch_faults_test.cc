// Epochs that change in the middle of random rounds, with messages lost and late, and nodes that die and come back.
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/epochs_fixture.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using Fate = TestCluster::Fate;

class ChangingTreesTest : public EpochsFixture {};

// Members stay the same and trees change in the middle of rounds: each contribution is in each result exactly once.
TEST_F(ChangingTreesTest, WhateverIsUnderWayWhenAnEpochEndsEveryContributionCountsOnce) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const uint32_t nodes = static_cast<uint32_t>(random.Between(2, 5));
    const uint32_t in_flight = static_cast<uint32_t>(random.Between(1, 2));
    Start(nodes, EpochConfig(in_flight));
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

// Nodes die and come back in the middle of rounds. Each result is the same for all who get it, and holds each node's
// contribution once or not at all, and that of whoever gets it once.
class DyingNodesTest : public EpochsFixture {
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
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    random_.emplace(seed);
    results_.clear();
    workers_.clear();
    live_.clear();
    const uint32_t nodes = static_cast<uint32_t>(random_->Between(2, 5));
    in_flight_ = static_cast<size_t>(random_->Between(1, 2));
    Start(nodes, EpochConfig(static_cast<uint32_t>(in_flight_)));
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
