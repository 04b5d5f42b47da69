#include "node/workers/local_keys.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The keys of a node with two workers.
class LocalKeysTest : public ::testing::Test {
 protected:
  static WorkerInit Init(uint32_t worker, const std::string& name, const std::vector<float>& values) {
    return {RequestId(worker + 1), WorkerId(worker), name, Buffer::CopyOf(values)};
  }
  LocalKey& Take(uint32_t worker, const std::vector<float>& values = {1, 2}) {
    WorkerInit init = Init(worker, "w", values);
    EXPECT_EQ(keys_.CheckInit(init), absl::OkStatus());
    return keys_.TakeInit(Timestamp(), init);
  }
  void AddRow(int64_t elements) { ASSERT_TRUE(policy_table_.AddKeys({{KeyId(1), "w", elements}}).ok()); }
  // Of all keys.
  LocalKeys::Assigned Assign() {
    std::vector<std::string> names;
    for (const auto& [name, local] : keys_.by_name()) names.push_back(name);
    return keys_.Assign(names, [](WorkerId) { return true; });
  }
  std::string ErrorOf(const WorkerInit& init) { return std::string(keys_.CheckInit(init).message()); }

  PolicyTable policy_table_;
  LocalKeys keys_{2, &policy_table_};
};

TEST_F(LocalKeysTest, AKeyIsReadyWithItsIdAndAllWorkersInits) {
  LocalKey& local = Take(1);
  EXPECT_EQ(local.initialised(), 1u);
  EXPECT_THAT(Assign().answered, IsEmpty()) << "the scheduler has said nothing";
  EXPECT_EQ(keys_.Find(KeyId(1)), nullptr);
  AddRow(2);
  const LocalKeys::Assigned early = Assign();
  EXPECT_THAT(early.answered, ElementsAre("w"));
  EXPECT_THAT(early.ready, IsEmpty()) << "worker 0 is missing";
  EXPECT_EQ(keys_.Find(KeyId(1)), &local);
  EXPECT_EQ(&Take(0), &local);
  EXPECT_THAT(Assign().ready, ElementsAre(&local));
  EXPECT_THAT(local.init_requests,
              ElementsAre(WaitingCall{WorkerId(1), RequestId(2)}, WaitingCall{WorkerId(0), RequestId(1)}));
  local.takes_part = true;
  EXPECT_THAT(Assign().answered, IsEmpty()) << "once is enough";
}

TEST_F(LocalKeysTest, LooksAtNoOtherKeysThanThoseThatChanged) {
  LocalKey& local = Take(0);
  Take(1);
  AddRow(2);
  EXPECT_THAT(keys_.Assign({"another"}, [](WorkerId) { return true; }).answered, IsEmpty());
  EXPECT_EQ(local.key, KeyId());
  EXPECT_THAT(keys_.Assign({"another", "w"}, [](WorkerId) { return true; }).ready, ElementsAre(&local));
}

TEST_F(LocalKeysTest, OnlyAContributedKeyIsInitialised) {
  for (int step = 0; step < 3; ++step) {
    const absl::StatusOr<LocalKey*> early = keys_.FindInitialised(KeyId(1), WorkerId(0));
    EXPECT_EQ(early.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(early.status().message()), HasSubstr("key 1 was not initialised here: call Init first"));
    if (step == 0) Take(0);
    if (step == 1) AddRow(2);
    Assign();
  }
  keys_.Find(KeyId(1))->takes_part = true;
  EXPECT_EQ(*keys_.FindInitialised(KeyId(1), WorkerId(0)), keys_.Find(KeyId(1)));
}

TEST_F(LocalKeysTest, SaysWhatIsWrongWithAnInit) {
  EXPECT_THAT(ErrorOf(Init(0, "", {1})), HasSubstr("1 to 256 bytes, got 0"));
  EXPECT_THAT(ErrorOf(Init(0, std::string(257, 'x'), {1})), HasSubstr("got 257"));
  EXPECT_THAT(ErrorOf(Init(0, "w", {})), HasSubstr("at least one"));
  Take(0);
  EXPECT_EQ(keys_.CheckInit(Init(0, "w", {1, 2})).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(ErrorOf(Init(1, "w", {1, 2, 3})),
              HasSubstr("key 'w' has 2 elements, but worker 1 initialises it with 3"));
  EXPECT_TRUE(keys_.HasInit("w", WorkerId(0)));
  EXPECT_FALSE(keys_.HasInit("w", WorkerId(1)));
  EXPECT_FALSE(keys_.HasInit("v", WorkerId(0)));
}

TEST_F(LocalKeysTest, AGroupOfOtherTensorsIsAnotherShape) {
  const auto group = [](uint32_t worker, const TensorLayout& layout) {
    WorkerInit init = Init(worker, "g", {1, 2, 3});
    init.layout = layout;
    return init;
  };
  const TensorLayout layout{{{"q", 1}, {"v", 2}}};
  WorkerInit first = group(0, layout);
  LocalKey& local = keys_.TakeInit(Timestamp(), first);
  EXPECT_EQ(
      ErrorOf(group(1, {{{"q", 1}, {"k", 2}}})),
      "key 'g' has 'v' with 2 elements as tensor 2, but worker 1 initialises it with 'k' with 2 elements as tensor 2");
  EXPECT_THAT(ErrorOf(Init(1, "g", {1, 2, 3})), HasSubstr("with 3 elements as a single tensor"));
  EXPECT_TRUE(keys_.CheckInit(group(1, layout)).ok());
  EXPECT_FALSE(local.HasShapeOf(KeySlice{KeyId(1), "g", 3}));
  EXPECT_TRUE(local.HasShapeOf(KeySlice{KeyId(1), "g", 3, layout.Hash()}));
  ASSERT_TRUE(policy_table_.AddKeys({{KeyId(1), "g", 3, layout.Hash() + 1}}).ok());
  EXPECT_THAT(Assign().answered, IsEmpty()) << "the job has another group";
}

TEST_F(LocalKeysTest, AnInitThatContradictsTheJobsKeyWaitsForTheSchedulersRefusal) {
  AddRow(3);
  Take(0);
  Take(1);
  const LocalKeys::Assigned assigned = Assign();
  EXPECT_THAT(assigned.answered, IsEmpty());
  EXPECT_THAT(assigned.ready, IsEmpty());
  EXPECT_EQ(keys_.Find(KeyId(1)), nullptr);
  EXPECT_THAT(keys_.Remove("w"), ElementsAre(RequestId(1), RequestId(2)));
}

TEST_F(LocalKeysTest, RemovesNoKeyThatIsContributed) {
  EXPECT_THAT(keys_.Remove("w"), IsEmpty());
  LocalKey& local = Take(0);
  AddRow(2);
  Assign();
  local.takes_part = true;
  EXPECT_THAT(keys_.Remove("w"), IsEmpty());
  EXPECT_EQ(keys_.Find(KeyId(1)), &local);
}

TEST_F(LocalKeysTest, DropsRoundsThatAllWorkersHaveLeftBehind) {
  Take(1);
  LocalKey& local = Take(0);
  for (uint64_t round = 0; round <= 3; ++round) local.OpenRound(Round(round), RoundKind::kAggregate, 2);
  local.rounds.at(Round(0)).complete = true;
  local.rounds.at(Round(2)).complete = true;
  local.last_push = {Round(3), Round(1)};
  local.DropOldRounds();
  EXPECT_EQ(local.rounds.begin()->first, Round(1)) << "a worker may still ask for it";
  local.last_push[1] = Round(3);
  local.DropOldRounds();
  EXPECT_EQ(local.rounds.begin()->first, Round(1)) << "it is not complete";
  local.rounds.at(Round(1)).complete = true;
  local.DropOldRounds();
  EXPECT_EQ(local.rounds.begin()->first, Round(3));
}

TEST_F(LocalKeysTest, AKeyWaitsOnlyForWorkersThatAreAwaited) {
  LocalKey& local = Take(1);
  AddRow(2);
  EXPECT_THAT(Assign().ready, IsEmpty());
  EXPECT_THAT(keys_.Assign({"w"}, [](WorkerId worker) { return worker == WorkerId(1); }).ready, ElementsAre(&local));
}

TEST_F(LocalKeysTest, AWorkerThatDiesTakesItsShareOutOfWhatIsNotContributed) {
  LocalKey& local = Take(0);
  Take(1);
  for (uint64_t round = 1; round <= 3; ++round) {
    LocalRound& state = local.OpenRound(Round(round), RoundKind::kAggregate, 2);
    const uint32_t pushes = round < 3 ? 2 : 1;
    for (uint32_t worker = 0; worker < pushes; ++worker) {
      state.has_pushed[worker] = true;
      state.gradients[worker] = Buffer::CopyOf({1, 2});
      state.waiting.push_back({WorkerId(worker), RequestId(10 * round + worker)});
      ++state.pushed;
      local.last_push[worker] = Round(round);
    }
  }
  local.rounds.at(Round(1)).contributed = true;
  EXPECT_TRUE(local.IsWhole(Round(2)));
  EXPECT_FALSE(local.IsWhole(Round(3)));
  EXPECT_THAT(local.DropWorker(WorkerId(0), false),
              ElementsAre(RequestId(1), RequestId(10), RequestId(20), RequestId(30)));
  EXPECT_FALSE(local.has_init[0]);
  EXPECT_EQ(local.rounds.at(Round(1)).pushed, 2u) << "it is contributed";
  EXPECT_FALSE(local.rounds.at(Round(1)).HasPart(WorkerId(0))) << "another one may come";
  EXPECT_EQ(local.rounds.at(Round(2)).pushed, 1u);
  EXPECT_TRUE(local.IsWhole(Round(2)));
  EXPECT_FALSE(local.rounds.contains(Round(3)));
}

TEST_F(LocalKeysTest, AWorkerThatSaysGoodByeLeavesItsPushes) {
  LocalKey& local = Take(0);
  Take(1);
  LocalRound& state = local.OpenRound(Round(1), RoundKind::kAggregate, 2);
  state.has_pushed[0] = true;
  state.pushed = 1;
  local.last_push[0] = Round(1);
  EXPECT_FALSE(local.IsWhole(Round(1)));
  local.DropWorker(WorkerId(0), true);
  EXPECT_EQ(state.pushed, 1u);
  EXPECT_FALSE(local.IsWhole(Round(1))) << "the other one is still to push";
  local.DropWorker(WorkerId(1), true);
  EXPECT_TRUE(local.IsWhole(Round(1)));
}

TEST_F(LocalKeysTest, OpensARoundOnce) {
  LocalKey& local = Take(0);
  local.OpenRound(Round(1), RoundKind::kFlush, 2).pushed = 1;
  const LocalRound& again = local.OpenRound(Round(1), RoundKind::kAggregate, 2);
  EXPECT_EQ(again.kind, RoundKind::kFlush);
  EXPECT_EQ(again.pushed, 1u);
  EXPECT_EQ(again.asked.size(), 2u);
}

TEST_F(LocalKeysTest, CountsElementsAndProgress) {
  EXPECT_EQ(keys_.SegmentBytes(1), 0);
  LocalKey& local = Take(0);
  // Two gradient slots and one of results, for each worker.
  EXPECT_EQ(keys_.SegmentBytes(1), 2 * 3 * int64_t{sizeof(float)});
  Take(1);
  EXPECT_EQ(keys_.SegmentBytes(1), 4 * 3 * int64_t{sizeof(float)});
  EXPECT_EQ(keys_.SegmentBytes(2), 4 * 5 * int64_t{sizeof(float)});
  EXPECT_THAT(keys_.Progress(), IsEmpty()) << "the key has no id";
  AddRow(2);
  Assign();
  local.last_push = {Round(4), Round(5)};
  local.last_complete = Round(3);
  ASSERT_EQ(keys_.Progress().size(), 1u);
  EXPECT_EQ(keys_.Progress()[0].key, KeyId(1));
  EXPECT_EQ(keys_.Progress()[0].round, Round(3));
  EXPECT_EQ(keys_.Progress()[0].pushed, Round(5));
}

TEST_F(LocalKeysTest, NamesAndRoundNumbersOutliveTheJob) {
  LocalKey& local = Take(0);
  AddRow(2);
  Assign();
  local.OpenRound(Round(1), RoundKind::kAggregate, 2);
  local.last_push[0] = Round(1);
  keys_.DropRounds();
  EXPECT_THAT(local.rounds, IsEmpty());
  EXPECT_THAT(local.init_requests, IsEmpty());
  EXPECT_EQ(keys_.Find(KeyId(1))->last_push[0], Round(1));
  EXPECT_EQ(local.name, "w");
}

}  // namespace
}  // namespace banyan
