#include "node/workers/fetching_workers.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "node/policy_table.h"

namespace banyan {
namespace {

constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);

// Two workers of a node with keys that take part in rounds already. What needs an engine, the tests of whole nodes
// show.
class FetchingWorkersTest : public ::testing::Test {
 protected:
  LocalKey& AddKey(uint32_t id, const std::string& name, Round first_push, Round second_push) {
    EXPECT_TRUE(policy_table_.AddKeys({{KeyId(id), name, 1}}).ok());
    WorkerInit init{RequestId(id), kFirst, name, Buffer::CopyOf({1})};
    LocalKey& local = keys_.TakeInit(Timestamp(), init);
    (void)keys_.Assign({name}, [](WorkerId) { return true; });
    local.takes_part = true;
    local.has_init = {true, true};
    local.last_push = {first_push, second_push};
    return local;
  }

  PolicyTable policy_table_;
  LocalKeys keys_{2, &policy_table_};
  FetchingWorkers fetching_{&keys_, nullptr};
};

TEST_F(FetchingWorkersTest, TellsTheLastPushesInRunsOfKeys) {
  AddKey(1, "z", Round(7), Round(8));
  AddKey(2, "b", Round(7), Round(7));
  AddKey(3, "a", Round(6), Round(7));
  EXPECT_EQ(fetching_.PushedBy(kFirst),
            (std::vector<KeysPushed>{{KeyId(1), KeyId(2), Round(7)}, {KeyId(3), KeyId(3), Round(6)}}));
  EXPECT_EQ(fetching_.PushedBy(kSecond),
            (std::vector<KeysPushed>{{KeyId(1), KeyId(1), Round(8)}, {KeyId(2), KeyId(3), Round(7)}}));
}

TEST_F(FetchingWorkersTest, AKeyThatTheWorkerDoesNotHaveEndsARun) {
  AddKey(1, "a", Round(7), Round(7));
  AddKey(2, "b", Round(7), Round(7)).has_init[0] = false;
  AddKey(3, "c", Round(7), Round(7));
  EXPECT_EQ(fetching_.PushedBy(kFirst).size(), 2u);
}

TEST_F(FetchingWorkersTest, WhoBeginsWithTheFirstRoundOfAllKeysHasMissedNothing) {
  EXPECT_TRUE(fetching_.HasMissedNothing(kFirst)) << "it has no keys";
  AddKey(1, "a", Round(0), Round(0));
  AddKey(2, "b", Round(0), Round(3));
  EXPECT_TRUE(fetching_.HasMissedNothing(kFirst));
  EXPECT_FALSE(fetching_.HasMissedNothing(kSecond));
}

TEST_F(FetchingWorkersTest, NoRoundWaitsForAWorkerThatFetches) {
  LocalKey& local = AddKey(1, "a", Round(7), Round(6));
  LocalRound& round = local.OpenRound(Round(7), RoundKind::kAggregate, 2);
  round.has_pushed[0] = true;
  round.pushed = 1;
  EXPECT_FALSE(local.IsWhole(Round(7)));
  local.last_push[1] = LocalKey::kFetching;
  EXPECT_TRUE(local.IsWhole(Round(7)));
  EXPECT_TRUE(local.HasTakers());
  EXPECT_TRUE(keys_.FindInitialised(KeyId(1), kFirst).ok());
  EXPECT_EQ(keys_.FindInitialised(KeyId(1), kSecond).status().code(), absl::StatusCode::kFailedPrecondition);
  local.last_push[0] = LocalKey::kFetching;
  EXPECT_FALSE(local.HasTakers());
  EXPECT_EQ(keys_.Progress().at(0).pushed, Round(0)) << "not the mark of those that fetch";
}

}  // namespace
}  // namespace banyan
