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
  std::vector<std::string> bytes;
  for (const StateRecord& record : records) bytes.push_back(EncodeStateRecord(record));
  return ReplayStateRecords(bytes, "test", Names());
}

PolicyRecord PolicyOf(uint64_t version, uint64_t epoch) {
  PolicyRecord record;
  record.policy.version = PolicyVersion(version);
  record.policy.epoch = Epoch(epoch);
  return record;
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
              NodeRecord{NodeId(2), "n2", "tcp://b:2", Incarnation(2)}, PolicyOf(1, 1),
              KeysRecord{KeyId(1), {{"a", 1}}}, KeysRecord{KeyId(2), {{"b", 1}, {"c", 1}}},
              BindingsRecord{{{KeyId(1), Round(0), Round(0), PolicyVersion(1), Attempt(0)}}},
              ClosedRecord{{{KeyId(1), Round(0)}}}, BarrierRecord{0}, TermRecord{Term(2), "test"}});
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->last_term, Term(2));
  EXPECT_EQ(state->last_epoch, Epoch(1));
  EXPECT_EQ(state->nodes.at(NodeId(2)).address, "tcp://b:2");
  EXPECT_THAT(state->policies, SizeIs(1));
  EXPECT_THAT(state->keys, SizeIs(3));
  EXPECT_THAT(state->bindings, SizeIs(1));
  EXPECT_THAT(state->closed, SizeIs(1));
  EXPECT_EQ(state->next_barrier, 1u);
  EXPECT_THAT(state->spent_nodes, IsEmpty());
}

TEST(RecoveredStateTest, EndLeavesOnlyWhatMustNotBeUsedAgain) {
  const absl::StatusOr<RecoveredState> state =
      Replay({TermRecord{Term(1), "test"}, NodeRecord{NodeId(1), "n1", "tcp://a:1", Incarnation(1)}, PolicyOf(4, 3),
              KeysRecord{KeyId(1), {{"a", 1}}}, BarrierRecord{0}, EndRecord{"over"}});
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
  EXPECT_FALSE(Replay({BarrierRecord{1}}).ok());
  EXPECT_FALSE(Replay({PolicyOf(2, 2), PolicyOf(2, 2)}).ok());
  EXPECT_FALSE(Replay({PolicyOf(2, 2), PolicyOf(3, 1)}).ok());
}

TEST(RecoveredStateTest, RefusesAnotherJobAndMovedNodes) {
  EXPECT_THAT(std::string(Replay({TermRecord{Term(1), "other"}}).status().message()),
              HasSubstr("of job 'other', not of 'test'"));
  EXPECT_THAT(std::string(Replay({NodeRecord{NodeId(1), "n2", "", Incarnation(1)}}).status().message()),
              HasSubstr("ids are never reused"));
  EXPECT_FALSE(Replay({NodeRecord{NodeId(3), "n3", "", Incarnation(1)}}).ok());
  EXPECT_FALSE(Replay({NodeRecord{NodeId(0), "n0", "", Incarnation(1)}}).ok());
}

}  // namespace
}  // namespace banyan
