#include "scheduler/state/state_record.h"

#include <limits>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

Policy SamplePolicy() {
  Policy policy;
  policy.version = PolicyVersion(3);
  policy.epoch = Epoch(2);
  policy.key_table = KeyTableVersion(9);
  policy.planner = "fapt";
  policy.members = {NodeId(1), NodeId(2), NodeId(4)};
  policy.trees = {Tree{NodeId(1),
                       1.0 / 3,
                       {{NodeId(2), NodeId(1)}, {NodeId(4), NodeId(2)}},
                       {{NodeId(2), NodeId(4)}, {NodeId(4), NodeId(1)}}},
                  Tree{NodeId(4),
                       2.0 / 3,
                       {{NodeId(1), NodeId(4)}, {NodeId(2), NodeId(4)}},
                       {{NodeId(1), NodeId(4)}, {NodeId(2), NodeId(1)}}}};
  policy.routes = {Route{NodeId(1), NodeId(4), {NodeId(1), NodeId(2), NodeId(4)}}};
  policy.auxiliary = {Route{NodeId(2), NodeId(4), {NodeId(2), NodeId(1), NodeId(4)}}};
  policy.chunk_max_elements = 65536;
  policy.rate_bps = std::numeric_limits<double>::infinity();
  policy.auxiliary_rate_bps = 1.1e8;
  policy.bound_bps = 1.25e8;
  return policy;
}

PolicyRecord SamplePolicyRecord() {
  PolicyRecord record;
  record.policy = SamplePolicy();
  record.reason = "a link changed";
  record.transmission = TransmissionSettings{false, 1234, 9, false, 3, 7, RateEstimator::kOneWayDelay};
  for (const LinkSource source : {LinkSource::kPrimary, LinkSource::kAuxiliary, LinkSource::kBelieved}) {
    NetworkLink& link = record.measured.emplace_back();
    link.from = NodeId(source == LinkSource::kPrimary ? 1 : 2);
    link.to = NodeId(4);
    link.throughput_bps = 1.5e6;
    link.delay = absl::Microseconds(1500);
    link.source = source;
  }
  record.overlay = OverlayText{"nodes: []", "o.yaml"};
  record.source = NodeId(4);
  record.left_out = {{NodeId(1), NodeId(3)}, {NodeId(3), NodeId(1)}};
  record.precision = {true, {"backbone", "encoder"}, true};
  return record;
}

std::vector<StateRecord> Samples() {
  return {TermRecord{Term(7), "job"},
          NodeRecord{NodeId(3), "n3", "tcp://10.0.0.3:1", Incarnation(~uint64_t{0})},
          KeysRecord{KeyId(5), {{"fc1.weight é", 784}, {"fc1.bias", int64_t{1} << 40}}},
          KeysRecord{KeyId(7), {{"g", 3, {{{"q", 3}, {"none", 0}}}}}},
          SamplePolicyRecord(),
          BindingsRecord{{{KeyId(1), Round(0), Round(0), PolicyVersion(1), Attempt(0)},
                          {KeyId(2), Round(5), Round(9), PolicyVersion(3), Attempt(2), 1000, PrecisionRoute::kLowBit}}},
          BindingsRecord{},
          ClosedRecord{{{KeyId(1), Round(0)}, {KeyId(2), Round(~uint64_t{0})}}},
          ClosedRecord{},
          CutRecord{PolicyVersion(4),
                    {{KeyId(1), Round(8)}, {KeyId(2), Round(8)}, {KeyId(5), Round(8), PrecisionRoute::kFallback}}},
          BarrierRecord{11, {NodeId(2), NodeId(5)}},
          EndRecord{"it was over"},
          EndRecord{"enough", JobEnd::kStopped},
          EpochRecord{Epoch(3),
                      {{NodeId(2), Incarnation(~uint64_t{0}), Epoch(1), 4}, {NodeId(4), Incarnation(7), Epoch(3)}},
                      "why"},
          EpochRecord{},
          EpochPlanRecord{Epoch(3),
                          PolicyVersion(9),
                          {{KeyId(1), KeyId(4), Round(7)}, {KeyId(5), KeyId(5), Round(0)}},
                          {{KeyId(1), KeyId(4), Round(7), Round(9), Attempt(2), 65536, PrecisionRoute::kLowBit}}},
          EpochPlanRecord{},
          RemovedRecord{NodeId(3), false},
          RemovedRecord{NodeId(3), true},
          SummaryRecord{Epoch(3),
                        PolicyVersion(9),
                        {NodeId(1), NodeId(4)},
                        {{KeyId(1), {Round(7), {Round(9), Round(11)}}}, {KeyId(2), {Round(~uint64_t{0}), {}}}},
                        5,
                        OverlayText{"nodes: []", "o.yaml"},
                        {{NodeId(2), Incarnation(3), Epoch(1), 4}},
                        Epoch(2),
                        PolicyVersion(8),
                        {NodeId(3)},
                        EndRecord{"all have left", JobEnd::kDone}},
          SummaryRecord{}};
}

TEST(StateRecordTest, ComesBackAsItWas) {
  for (const StateRecord& record : Samples()) {
    const absl::StatusOr<StateRecord> decoded = DecodeStateRecord(EncodeStateRecord(record));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, record);
  }
}

TEST(StateRecordTest, RefusesWhatIsNoRecord) {
  EXPECT_EQ(DecodeStateRecord("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeStateRecord("\xff\xff").status().code(), absl::StatusCode::kDataLoss);
  // A field that a later version might have.
  EXPECT_EQ(DecodeStateRecord(std::string("\x7a\x00", 2)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StateRecordTest, ACutOfAllKeysHasTheSizeOfOneOfOne) {
  CutRecord cut = {PolicyVersion(4), {}};
  for (KeyId key(1); key <= KeyId(5000); key = key.Next()) cut.rounds.push_back({key, Round(8)});
  EXPECT_LT(EncodeStateRecord(cut).size(), 16u);
  EXPECT_EQ(DecodeStateRecord(EncodeStateRecord(cut)).value(), StateRecord(cut));
}

TEST(StateRecordTest, ASnapshotKeepsItsRecords) {
  std::vector<std::string> records;
  for (const StateRecord& record : Samples()) records.push_back(EncodeStateRecord(record));
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
  for (const StateRecord& record : Samples()) {
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
