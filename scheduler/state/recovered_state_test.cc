#include "scheduler/state/recovered_state.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string>& Names() {
  static const auto& names = *new std::vector<std::string>{"n1", "n2"};
  return names;
}

absl::StatusOr<RecoveredState> Replay(const std::vector<StateRecord>& records) {
  StoredRecords stored;
  for (const StateRecord& record : records) stored.tail.push_back(EncodeStateRecord(record));
  return ReplayStateRecords(stored, "test", Names());
}

PolicyRecord PolicyOf(uint64_t version, uint64_t epoch, std::vector<NodeId> members = {NodeId(1)}) {
  PolicyRecord record;
  record.policy.version = PolicyVersion(version);
  record.policy.epoch = Epoch(epoch);
  record.policy.members = std::move(members);
  return record;
}

BindingsRecord BindingOf(uint32_t key, uint64_t first, uint64_t last, uint64_t policy) {
  return {{{KeyId(key), Round(first), Round(last), PolicyVersion(policy), Attempt(0)}}};
}

EpochRecord EpochOf(uint64_t epoch, const std::vector<uint32_t>& nodes = {1}) {
  EpochRecord record = {Epoch(epoch), {}, "the start"};
  for (const uint32_t node : nodes) record.members.push_back({NodeId(node), Incarnation(1), Epoch(1)});
  return record;
}

EpochPlanRecord PlanOf(uint64_t epoch, uint64_t policy) { return {Epoch(epoch), PolicyVersion(policy), {}, {}}; }

// A running job of one node and one key under policy 1, and `more`.
std::vector<StateRecord> RunningJob(const std::vector<StateRecord>& more) {
  std::vector<StateRecord> records = {TermRecord{Term(1), "test"},
                                      NodeRecord{NodeId(1), "n1", "tcp://a:1", Incarnation(1)},
                                      EpochOf(1),
                                      PolicyOf(1, 1),
                                      PlanOf(1, 1),
                                      KeysRecord{KeyId(1), {{"a", 1}}}};
  records.insert(records.end(), more.begin(), more.end());
  return records;
}

TEST(RecoveredStateTest, ACutMovesTheRestOfLeasesAndKeepsTheOldPolicyWhileItGovernsOpenRounds) {
  const std::vector<StateRecord> cut = {BindingOf(1, 1, 9, 1), PolicyOf(2, 1),
                                        CutRecord{PolicyVersion(2), {{KeyId(1), Round(4), {}, 4000}}}};
  const absl::StatusOr<RecoveredState> state = Replay(RunningJob(cut));
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(state->policies, SizeIs(2));
  EXPECT_EQ(state->rounds.OpenBindings().back(),
            (BoundRounds{KeyId(1), Round(4), Round(9), PolicyVersion(2), Attempt(0), 4000}));
  for (const CutRecord& wrong :
       {CutRecord{PolicyVersion(3), {{KeyId(1), Round(4)}}}, CutRecord{PolicyVersion(2), {{KeyId(2), Round(4)}}},
        CutRecord{PolicyVersion(2), {{KeyId(1), Round(10)}}}}) {
    const absl::Status refused = Replay(RunningJob({BindingOf(1, 1, 9, 1), PolicyOf(2, 1), wrong})).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("the end of a lease "));
  }
}

TEST(RecoveredStateTest, NothingGivesNothing) {
  const absl::StatusOr<RecoveredState> state = Replay({});
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->last_term, Term(0));
  EXPECT_THAT(state->policies, IsEmpty());
}

TEST(RecoveredStateTest, CollectsARunningJob) {
  const absl::StatusOr<RecoveredState> state =
      Replay({TermRecord{Term(1), "test"}, NodeRecord{NodeId(2), "n2", "tcp://b:1", Incarnation(1)},
              NodeRecord{NodeId(2), "n2", "tcp://b:2", Incarnation(2)}, EpochOf(1, {2}), PolicyOf(1, 1, {NodeId(2)}),
              PlanOf(1, 1), KeysRecord{KeyId(1), {{"a", 1}}}, KeysRecord{KeyId(2), {{"b", 1}, {"c", 1}}},
              BindingsRecord{{{KeyId(1), Round(0), Round(0), PolicyVersion(1), Attempt(0)}}}, BindingOf(2, 0, 0, 1),
              ClosedRecord{{{KeyId(1), Round(0)}}}, BarrierRecord{0, {}}, TermRecord{Term(2), "test"}});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->last_term, Term(2));
  EXPECT_EQ(state->last_epoch, Epoch(1));
  EXPECT_EQ(state->nodes.at(NodeId(2)).address, "tcp://b:2");
  EXPECT_THAT(state->policies, SizeIs(1));
  EXPECT_THAT(state->keys, SizeIs(3));
  EXPECT_THAT(state->rounds.OpenBindings(), SizeIs(1));
  EXPECT_EQ(state->rounds.closed().at(KeyId(1)).first_open, Round(1));
  EXPECT_EQ(state->next_barrier, 1u);
  EXPECT_THAT(state->spent_nodes, IsEmpty());
}

TEST(RecoveredStateTest, EndLeavesOnlyWhatMustNotBeUsedAgain) {
  const absl::StatusOr<RecoveredState> state =
      Replay({TermRecord{Term(1), "test"}, NodeRecord{NodeId(1), "n1", "tcp://a:1", Incarnation(1)}, EpochOf(3),
              PolicyOf(4, 3), PlanOf(3, 4), KeysRecord{KeyId(1), {{"a", 1}}}, BarrierRecord{0, {}}, EndRecord{"over"}});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->last_policy, PolicyVersion(4));
  EXPECT_EQ(state->last_epoch, Epoch(3));
  EXPECT_THAT(state->keys, IsEmpty());
  EXPECT_THAT(state->policies, IsEmpty());
  EXPECT_EQ(state->next_barrier, 0u);
  EXPECT_THAT(state->spent_nodes, SizeIs(1));
}

TEST(RecoveredStateTest, NamesTheRecordThatDoesNotFit) {
  const absl::Status status = Replay({TermRecord{Term(1), "test"}, TermRecord{Term(1), "test"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("state record 2 of 2: "));
  EXPECT_FALSE(Replay({KeysRecord{KeyId(2), {{"a", 1}}}}).ok());
  EXPECT_FALSE(Replay({BarrierRecord{1, {}}}).ok());
  EXPECT_FALSE(Replay({BarrierRecord{0, {NodeId(1)}}}).ok()) << "of nobody";
  EXPECT_FALSE(Replay({PolicyOf(2, 2), PolicyOf(2, 2)}).ok());
}

TEST(RecoveredStateTest, RefusesRoundsThatContradict) {
  EXPECT_TRUE(Replay(RunningJob({BindingOf(1, 0, 0, 1), ClosedRecord{{{KeyId(1), Round(0)}}}})).ok());
  EXPECT_FALSE(Replay(RunningJob({BindingOf(1, 0, 3, 1), BindingOf(1, 3, 4, 1)})).ok());
  EXPECT_FALSE(Replay(RunningJob({BindingOf(2, 0, 0, 1)})).ok()) << "an unknown key";
  EXPECT_FALSE(Replay(RunningJob({BindingOf(1, 0, 0, 2)})).ok()) << "an unknown policy";
  EXPECT_FALSE(Replay(RunningJob({BindingOf(1, 0, 0, 1), ClosedRecord{{{KeyId(1), Round(1)}}}})).ok());
  const ClosedRecord closed = {{{KeyId(1), Round(0)}}};
  EXPECT_FALSE(Replay(RunningJob({BindingOf(1, 0, 1, 1), closed, closed})).ok());
  SummaryRecord older;  // knows of no epoch
  older.last_policy = PolicyVersion(1);
  EXPECT_FALSE(Replay(RunningJob({older})).ok());
}

TEST(RecoveredStateTest, KeepsThePoliciesOfOpenRoundsAndTheNewest) {
  const std::vector<StateRecord> history = RunningJob({BindingOf(1, 0, 0, 1), PolicyOf(2, 1), PolicyOf(3, 1)});
  EXPECT_THAT(Replay(history)->policies, SizeIs(3));
  std::vector<StateRecord> later = history;
  later.push_back(BindingOf(1, 1, 1, 3));
  later.push_back(ClosedRecord{{{KeyId(1), Round(0)}}});
  ASSERT_THAT(Replay(later)->policies, SizeIs(1));
  EXPECT_EQ(Replay(later)->policies[0].policy.version, PolicyVersion(3));
}

TEST(RecoveredStateTest, KeepsTheOverlayOfTheLastReconfiguration) {
  PolicyRecord first = PolicyOf(2, 1);
  first.overlay = OverlayText{"nodes: []", "first.yaml"};
  PolicyRecord second = PolicyOf(3, 1);
  second.overlay = OverlayText{"nodes: []", "second.yaml"};
  EXPECT_EQ(Replay(RunningJob({first, second, PolicyOf(4, 1)}))->overlay->file_name, "second.yaml");
  EXPECT_FALSE(Replay(RunningJob({first, EndRecord{"over"}}))->overlay.has_value());
}

TEST(RecoveredStateTest, ASnapshotOfManyOpenLeasesHasThemInSeveralRecords) {
  RecoveredState state;
  for (KeyId key(1); key <= KeyId(20'000); key = key.Next()) {
    for (uint64_t round = 1; round <= 4; ++round) {
      ASSERT_TRUE(state.rounds.Bind({key, Round(round), Round(round), PolicyVersion(1), Attempt(0)}));
    }
  }
  const std::vector<BoundRounds> open = state.rounds.OpenBindings();
  ASSERT_THAT(open, SizeIs(80'000));
  const absl::StatusOr<std::vector<std::string>> records = DecodeSnapshot(MakeSnapshot(std::move(state)));
  ASSERT_TRUE(records.ok()) << records.status();
  std::vector<size_t> sizes;
  std::vector<BoundRounds> kept;
  for (const std::string& bytes : *records) {
    const absl::StatusOr<StateRecord> record = DecodeStateRecord(bytes);
    ASSERT_TRUE(record.ok()) << record.status();
    const auto* bindings = std::get_if<BindingsRecord>(&*record);
    if (bindings == nullptr) continue;
    sizes.push_back(bindings->bindings.size());
    kept.insert(kept.end(), bindings->bindings.begin(), bindings->bindings.end());
  }
  EXPECT_THAT(sizes, testing::ElementsAre(65'536, 14'464));
  EXPECT_TRUE(kept == open);
}

TEST(RecoveredStateTest, KnowsAChangeThatWasUnderWay) {
  const NodeRecord other = {NodeId(2), "n2", "tcp://b:1", Incarnation(1)};
  const std::vector<StateRecord> begun = RunningJob({BindingOf(1, 0, 1, 1), other, EpochOf(2, {1, 2})});
  EXPECT_TRUE(Replay(begun)->is_changing());
  EXPECT_THAT(Replay(begun)->members, SizeIs(2));
  std::vector<StateRecord> planned = begun;
  planned.push_back(PolicyOf(2, 2, {NodeId(1), NodeId(2)}));
  EXPECT_TRUE(Replay(planned)->is_changing()) << "the bindings are still the old ones";
  EpochPlanRecord plan = PlanOf(2, 2);
  plan.frontiers = {{KeyId(1), KeyId(1), Round(1)}};
  plan.bindings = {{KeyId(1), KeyId(1), Round(1), Round(1), Attempt(1), 10}};
  planned.push_back(plan);
  const absl::StatusOr<RecoveredState> done = Replay(planned);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_FALSE(done->is_changing());
  EXPECT_EQ(done->plan_policy, PolicyVersion(2));
  EXPECT_THAT(done->policies, SizeIs(1));
  EXPECT_THAT(done->rounds.OpenBindings(),
              testing::ElementsAre(BoundRounds{KeyId(1), Round(1), Round(1), PolicyVersion(2), Attempt(1), 10}));
}

TEST(RecoveredStateTest, RefusesEpochsThatContradict) {
  const auto is_loss = [](const std::vector<StateRecord>& more) {
    return Replay(RunningJob(more)).status().code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_TRUE(is_loss({EpochOf(1)})) << "an epoch that does not rise";
  EXPECT_TRUE(is_loss({EpochOf(2, {2})})) << "it never joined";
  EXPECT_TRUE(is_loss({EpochOf(2, {1, 1})}));
  EXPECT_TRUE(is_loss({PolicyOf(2, 2)})) << "a policy of no epoch";
  EXPECT_TRUE(is_loss({PolicyOf(2, 1, {NodeId(2)})})) << "of other members";
  EXPECT_TRUE(is_loss({PlanOf(1, 1)})) << "a second plan";
  EXPECT_TRUE(is_loss({EpochOf(2), PlanOf(2, 7)})) << "without its policy";
  EpochPlanRecord unknown = PlanOf(2, 2);
  unknown.frontiers = {{KeyId(1), KeyId(2), Round(1)}};
  EXPECT_TRUE(is_loss({EpochOf(2), PolicyOf(2, 2), unknown})) << "an unknown key";
  EXPECT_FALSE(is_loss({EpochOf(2), PolicyOf(2, 2), PlanOf(2, 2)}));
  // What a release before epochs has written.
  EXPECT_EQ(Replay({TermRecord{Term(1), "test"}, PolicyOf(1, 1)}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecoveredStateTest, KnowsWhoWasRemoved) {
  const RemovedRecord removed = {NodeId(2), false};
  const RemovedRecord back = {NodeId(2), true};
  EXPECT_THAT(Replay(RunningJob({removed}))->removed_nodes, testing::ElementsAre(NodeId(2)));
  EXPECT_THAT(Replay(RunningJob({removed, back}))->removed_nodes, IsEmpty());
  EXPECT_THAT(Replay(RunningJob({removed, EndRecord{"over"}}))->removed_nodes, IsEmpty());
  EXPECT_FALSE(Replay(RunningJob({removed, removed})).ok());
  EXPECT_FALSE(Replay(RunningJob({back})).ok());
}

TEST(RecoveredStateTest, AnOverlayMayCountWithoutAPolicy) {
  const OverlayRecord record = {{"nodes: []", "o.yaml"}};
  EXPECT_EQ(Replay(RunningJob({record}))->overlay, record.overlay);
  EXPECT_EQ(Replay({TermRecord{Term(1), "test"}, record}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecoveredStateTest, RefusesAnotherJobAndMovedNodes) {
  EXPECT_THAT(std::string(Replay({TermRecord{Term(1), "other"}}).status().message()),
              HasSubstr("of job 'other', not of 'test'"));
  EXPECT_THAT(std::string(Replay({NodeRecord{NodeId(1), "n2", "", Incarnation(1)}}).status().message()),
              HasSubstr("ids are never reused"));
  EXPECT_FALSE(Replay({NodeRecord{NodeId(3), "n3", "", Incarnation(1)}}).ok());
  EXPECT_FALSE(Replay({NodeRecord{NodeId(0), "n0", "", Incarnation(1)}}).ok());
}

TEST(RecoveredStateTest, NodesOfAJobThatIsOverMayBeAnywhere) {
  const auto state = Replay({TermRecord{Term(1), "test"}, NodeRecord{NodeId(3), "n3", "", Incarnation(1)},
                             NodeRecord{NodeId(1), "n2", "", Incarnation(1)}, EndRecord{"over", JobEnd::kDone},
                             TermRecord{Term(2), "test"}, NodeRecord{NodeId(2), "n2", "", Incarnation(2)}});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(state->spent_nodes, testing::ElementsAre(NodeId(1), NodeId(3)));
}

TEST(RecoveredStateTest, KnowsWhoHasLeft) {
  EXPECT_EQ(Replay(RunningJob({LeaveRecord{NodeId(1), false}}))->members.at(0).departed, Departed::kForGood);
  EXPECT_EQ(Replay(RunningJob({LeaveRecord{NodeId(1), true}}))->members.at(0).departed, Departed::kAsked);
  EXPECT_FALSE(Replay(RunningJob({LeaveRecord{NodeId(9), true}})).ok());
}

TEST(RecoveredStateTest, SettingsStayWhileTheJobRuns) {
  const SettingsRecord mean = {{{"op", "mean"}}};
  const SettingsRecord sum = {{{"op", "sum"}}};
  const auto joining =
      Replay({TermRecord{Term(1), "test"}, mean, NodeRecord{NodeId(1), "n1", "", Incarnation(1)}, sum});
  ASSERT_TRUE(joining.ok()) << joining.status();
  EXPECT_EQ(joining->settings, sum.settings);
  EXPECT_THAT(joining->spent_nodes, testing::ElementsAre(NodeId(1))) << "it has joined under other settings";
  EXPECT_EQ(Replay(RunningJob({mean, SettingsRecord{{{"least", "2"}}}}))->settings,
            (JobSettings{{"least", "2"}, {"op", "mean"}}));
  EXPECT_FALSE(Replay(RunningJob({mean, sum})).ok());
  EXPECT_THAT(Replay(RunningJob({mean, EndRecord{"over"}}))->settings, IsEmpty());
}

}  // namespace
}  // namespace banyan
