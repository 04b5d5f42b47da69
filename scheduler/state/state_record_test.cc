#include "scheduler/state/state_record.h"

#include <limits>
#include <numeric>

#include "absl/strings/escaping.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "scheduler/state/state_record.pb.h"
#include "scheduler/state/testing/state_record_samples.h"

namespace banyan {
namespace {

TEST(StateRecordTest, ComesBackAsItWas) {
  for (const StateRecord& record : StateRecordSamples()) {
    const absl::StatusOr<StateRecord> decoded = DecodeStateRecord(EncodeStateRecord(record));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, record);
  }
}

TEST(StateRecordTest, BytesAreThoseOfBefore) {
  std::vector<std::string> bytes;
  for (const StateRecord& record : StateRecordSamples())
    bytes.push_back(absl::BytesToHexString(EncodeStateRecord(record)));
  EXPECT_EQ(bytes, GoldenLines("scheduler/state/testing/golden_records.txt"));
}

TEST(StateRecordTest, WhatIsWrittenIsWhatTheFileDescribes) {
  for (const StateRecord& record : StateRecordSamples()) {
    const std::string bytes = EncodeStateRecord(record);
    state::StateRecord message;
    ASSERT_TRUE(message.ParseFromString(bytes));
    message.DiscardUnknownFields();
    EXPECT_EQ(message.SerializeAsString(), bytes);
  }
}

TEST(StateRecordTest, RefusesWhatIsNoRecord) {
  EXPECT_EQ(DecodeStateRecord("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeStateRecord("\xff\xff").status().code(), absl::StatusCode::kDataLoss);
  // A field that a later version might have.
  EXPECT_EQ(DecodeStateRecord(std::string("\x9a\x01\x00", 3)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StateRecordTest, ACutOfAllKeysHasTheSizeOfOneOfOne) {
  CutRecord cut = {PolicyVersion(4), {}};
  for (KeyId key(1); key <= KeyId(5000); key = key.Next()) cut.rounds.push_back({key, Round(8)});
  EXPECT_LT(EncodeStateRecord(cut).size(), 16u);
  EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(cut)).value(), StateRecord(cut));
}

TEST(StateRecordTest, ASnapshotKeepsItsRecords) {
  std::vector<std::string> records;
  for (const StateRecord& record : StateRecordSamples()) records.push_back(EncodeStateRecord(record));
  const absl::StatusOr<std::vector<std::string>> decoded = DecodeSnapshot(EncodeSnapshot(records));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, records);
  EXPECT_EQ(DecodeSnapshot("\xff\xff").status().code(), absl::StatusCode::kDataLoss);
}

TEST(StateRecordTest, RefusesBindingsOfNoRounds) {
  // A binding's last round must not come before its first.
  const BindingsRecord record = {{{KeyId(1), Round(5), Round(4), PolicyVersion(1), Attempt(0)}}};
  EXPECT_FALSE(DecodeStateRecord(EncodeStateRecord(record)).ok());
}

TEST(StateRecordTest, RefusesAnEndOfAnUnknownKind) {
  const EndRecord odd{"over", static_cast<JobEnd>(3)};
  SummaryRecord summary;
  summary.end = odd;
  for (const StateRecord& record : {StateRecord(odd), StateRecord(summary)}) {
    EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(record)).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(StateRecordTest, RefusesMoreEntriesThanASchedulerWritesBeforeItHasRoomForThem) {
  // Some bytes stand for gigabytes: as fuzzing had it, a binding for sixteen million keys.
  state::StateRecord bindings, closed, cut;
  state::Binding* binding = bindings.mutable_bindings()->add_bindings();
  binding->set_key(1);
  binding->set_rounds(1);
  binding->set_more_keys(16'395'518);
  closed.mutable_closed()->add_rounds()->set_more_keys(16'395'518);
  cut.mutable_cut()->add_rounds()->set_more_keys(16'395'518);
  for (const state::StateRecord& record : {bindings, closed, cut}) {
    EXPECT_EQ(DecodeStateRecord(record.SerializeAsString()).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(StateRecordTest, RefusesAnUnknownRoute) {
  constexpr auto kUnknown = static_cast<PrecisionRoute>(3);
  const BindingsRecord bindings = {{{KeyId(1), Round(5), Round(6), PolicyVersion(1), Attempt(0), 0, kUnknown}}};
  const CutRecord cut = {PolicyVersion(4), {{KeyId(1), Round(8), kUnknown}}};
  const EpochPlanRecord plan = {
      Epoch(2), PolicyVersion(2), {}, {{KeyId(1), KeyId(1), Round(1), Round(2), Attempt(1), 10, kUnknown}}};
  for (const StateRecord& record : {StateRecord(bindings), StateRecord(cut), StateRecord(plan)}) {
    EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(record)).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(StateRecordTest, RefusesACutToChunksOfNoElements) {
  const CutRecord cut = {PolicyVersion(4), {{KeyId(1), Round(8), {}, -1}}};
  EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(cut)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StateRecordTest, RefusesAnUnknownTypeOfElements) {
  const KeysRecord keys = {KeyId(1), {{"w", 3, {{}, static_cast<DataType>(static_cast<int>(kLastElementType) + 1)}}}};
  EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(keys)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StateRecordTest, RefusesSlicesThatDoNotRiseWithinTheirKeyOrAreTooMany) {
  std::vector<int64_t> many(KeyRoutes::kMostSlices);
  std::iota(many.begin(), many.end(), 1);
  for (const std::vector<int64_t>& borders : {std::vector<int64_t>{0}, {100}, {7, 5}, many}) {
    const KeysRecord keys = {KeyId(1), {{"w", 100, {}, borders}}};
    EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(keys)).status().code(), absl::StatusCode::kDataLoss);
  }
  many.pop_back();
  EXPECT_TRUE(DecodeStateRecord(EncodeStateRecord(KeysRecord{KeyId(1), {{"w", 100, {}, many}}})).ok());
}

TEST(StateRecordTest, ReadsWhatTheGuardRefusedBeforeItKnewTheWidthOfElements) {
  int records = 0;
  for (const StateRecord& record : StateRecordSamples()) {
    state::StateRecord message;
    ASSERT_TRUE(message.ParseFromString(EncodeStateRecord(record)));
    if (message.precision().guarded_bytes_size() == 0) continue;
    message.mutable_precision()->clear_guarded_bytes();
    const absl::StatusOr<StateRecord> decoded = DecodeStateRecord(message.SerializeAsString());
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const std::vector<GuardedSize> expected = {{100, 4}, {2000, 4}};
    EXPECT_EQ(std::get<PrecisionRecord>(*decoded).state.guarded, expected);
    ++records;
  }
  EXPECT_EQ(records, 1);
}

TEST(StateRecordTest, RefusesAPlanOfNothing) {
  const EpochPlan::Binding good = {KeyId(1), KeyId(2), Round(1), Round(2), Attempt(1), 10};
  EXPECT_TRUE(DecodeStateRecord(EncodeStateRecord(EpochPlanRecord{Epoch(2), PolicyVersion(2), {}, {good}})).ok());
  for (const EpochPlan::Binding& bad : {EpochPlan::Binding{KeyId(2), KeyId(1), Round(1), Round(2), Attempt(1), 10},
                                        EpochPlan::Binding{KeyId(1), KeyId(2), Round(2), Round(1), Attempt(1), 10},
                                        EpochPlan::Binding{KeyId(1), KeyId(2), Round(1), Round(2), Attempt(1), 0}}) {
    EXPECT_FALSE(DecodeStateRecord(EncodeStateRecord(EpochPlanRecord{Epoch(2), PolicyVersion(2), {}, {bad}})).ok());
  }
  const EpochPlanRecord no_keys = {Epoch(2), PolicyVersion(2), {{KeyId(2), KeyId(1), Round(1)}}, {}};
  EXPECT_FALSE(DecodeStateRecord(EncodeStateRecord(no_keys)).ok());
}

TEST(StateRecordTest, ClosedRoundsAdvanceOverThoseBeyond) {
  ClosedRounds closed = {Round(2), {Round(4), Round(6), Round(7), Round(9)}};
  closed.AdvanceTo(Round(1));
  EXPECT_EQ(closed, (ClosedRounds{Round(2), {Round(4), Round(6), Round(7), Round(9)}}));
  closed.AdvanceTo(Round(6));
  EXPECT_EQ(closed, (ClosedRounds{Round(8), {Round(9)}}));
}

TEST(StateRecordTest, SurvivesDamage) {
  Random random(5);
  for (const StateRecord& record : StateRecordSamples()) {
    const std::string bytes = EncodeStateRecord(record);
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = bytes.substr(0, random.Below(bytes.size() + 1));
      for (int flips = 0; flips < 3 && !damaged.empty(); ++flips) {
        damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
      }
      const absl::StatusOr<StateRecord> decoded = DecodeStateRecord(damaged);
      EXPECT_TRUE(decoded.ok() || decoded.status().code() == absl::StatusCode::kDataLoss);
    }
  }
}

}  // namespace
}  // namespace banyan
