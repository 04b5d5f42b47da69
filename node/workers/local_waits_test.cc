#include "node/workers/local_waits.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);

Timestamp At(int64_t seconds) { return Timestamp() + absl::Seconds(seconds); }

// The keys and barriers of a node with two workers.
class LocalWaitsTest : public ::testing::Test {
 protected:
  LocalKey& Init(WorkerId worker, const std::string& name, int64_t seconds) {
    WorkerInit init{RequestId(worker.value() + 1), worker, name, Buffer::CopyOf({1, 2})};
    return keys_.TakeInit(At(seconds), init);
  }
  LocalKey& InitBoth(const std::string& name) {
    Init(kFirst, name, 1);
    LocalKey& local = Init(kSecond, name, 1);
    local.key = KeyId(7);
    local.takes_part = true;
    local.init_requests.clear();
    return local;
  }
  static void Push(LocalKey& local, WorkerId worker, uint64_t round, int64_t seconds) {
    LocalRound& state = local.OpenRound(Round(round), RoundKind::kAggregate, 2);
    state.since = At(seconds);
    state.has_pushed[worker.value()] = true;
    ++state.pushed;
    local.last_push[worker.value()] = Round(round);
  }
  LocalWaits waits() {
    return LocalWaits(&keys_, &barriers_, [](WorkerId) { return true; });
  }

  PolicyTable policy_table_;
  LocalKeys keys_{2, &policy_table_};
  LocalBarriers barriers_{2};
};

TEST_F(LocalWaitsTest, NobodyWaitsAtFirst) {
  EXPECT_FALSE(waits().Oldest().has_value());
  EXPECT_FALSE(waits().Find(kFirst, "w").has_value());
  EXPECT_FALSE(waits().Find(kFirst, "").has_value());
  EXPECT_THAT(waits().Missing(), IsEmpty());
}

TEST_F(LocalWaitsTest, AnInitWaitsForWorkersThatHaveNotCalledIt) {
  Init(kSecond, "w", 3);
  const std::optional<LocalWait> wait = waits().Find(kSecond, "w");
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->what, "Init of key 'w'");
  EXPECT_EQ(wait->since, At(3));
  EXPECT_THAT(wait->missing, ElementsAre(kFirst));
  EXPECT_FALSE(wait->has_id);
  EXPECT_FALSE(waits().Find(kFirst, "w").has_value()) << "it does not wait";
  EXPECT_THAT(waits().Missing(), IsEmpty()) << "the scheduler knows no such key";
  keys_.Find("w")->key = KeyId(7);
  EXPECT_THAT(waits().Missing(), ElementsAre(NodeReport::Missing{KeyId(7), Round(0), {kFirst}}));
}

TEST_F(LocalWaitsTest, ARoundWaitsForWorkersThatHaveNotPushedItAndThenForOthers) {
  LocalKey& local = InitBoth("w");
  Push(local, kFirst, 1, 5);
  const std::optional<LocalWait> wait = waits().Find(kFirst, "w");
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->what, "round 1 of key 'w'");
  EXPECT_THAT(wait->missing, ElementsAre(kSecond));
  EXPECT_FALSE(waits().Find(kSecond, "w").has_value());
  Push(local, kSecond, 1, 6);
  local.rounds.at(Round(1)).contributed = true;
  EXPECT_THAT(waits().Find(kSecond, "w")->missing, IsEmpty());
  EXPECT_THAT(waits().Missing(), IsEmpty());
  local.rounds.at(Round(1)).complete = true;
  EXPECT_FALSE(waits().Oldest().has_value());
}

TEST_F(LocalWaitsTest, WhatHasWaitedLongestComesFirst) {
  Push(InitBoth("a"), kFirst, 1, 9);
  Push(InitBoth("b"), kFirst, 4, 5);
  barriers_.Enter(At(7), {kSecond, RequestId(9)});
  EXPECT_EQ(waits().Oldest()->what, "round 4 of key 'b'");
  EXPECT_EQ(waits().Find(kSecond, "")->what, "barrier 0");
  EXPECT_THAT(waits().Missing(), ElementsAre(NodeReport::Missing{KeyId(7), Round(4), {kSecond}},
                                             NodeReport::Missing{KeyId(), Round(0), {kFirst}}));
}

}  // namespace
}  // namespace banyan
