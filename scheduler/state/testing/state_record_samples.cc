#include "scheduler/state/testing/state_record_samples.h"

#include <cstdint>
#include <limits>

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
  return record;
}

}  // namespace

std::vector<StateRecord> StateRecordSamples() {
  return {TermRecord{Term(7), "job"},
          NodeRecord{NodeId(3), "n3", "tcp://10.0.0.3:1", Incarnation(~uint64_t{0})},
          NodeRecord{NodeId(3), "n3", "tcp://10.0.0.3:1", Incarnation(1), "a key"},
          KeysRecord{KeyId(5), {{"fc1.weight é", 784}, {"fc1.bias", int64_t{1} << 40}}},
          KeysRecord{KeyId(7), {{"g", 3, {{{"q", 3}, {"none", 0}}, DataType::kFloat16}, {1, 2}}}},
          SamplePolicyRecord(),
          BindingsRecord{{{KeyId(1), Round(0), Round(0), PolicyVersion(1), Attempt(0)},
                          {KeyId(2), Round(5), Round(9), PolicyVersion(3), Attempt(2), 1000,
                           KeyRoutes::OfBits(uint64_t{1} << 62)}}},
          BindingsRecord{},
          ClosedRecord{{{KeyId(1), Round(0)}, {KeyId(2), Round(~uint64_t{0})}}},
          ClosedRecord{},
          CutRecord{PolicyVersion(4),
                    {{KeyId(1), Round(8)},
                     {KeyId(2), Round(8)},
                     {KeyId(5), Round(8), PrecisionRoute::kFallback},
                     {KeyId(6), Round(8), PrecisionRoute::kLowBit, 4000}}},
          BarrierRecord{11, {NodeId(2), NodeId(5)}},
          EndRecord{"it was over"},
          EndRecord{"enough", JobEnd::kStopped},
          EpochRecord{Epoch(3),
                      {{NodeId(2), Incarnation(~uint64_t{0}), Epoch(1), 4}, {NodeId(4), Incarnation(7), Epoch(3)}},
                      "why"},
          LeaveRecord{NodeId(3), true},
          LeaveRecord{NodeId(3), false},
          SettingsRecord{{{"aggregation.op", "mean"}, {"nodes (n1).workers", "2"}}},
          SettingsRecord{},
          EpochRecord{},
          EpochPlanRecord{Epoch(3),
                          PolicyVersion(9),
                          {{KeyId(1), KeyId(4), Round(7)}, {KeyId(5), KeyId(5), Round(0)}},
                          {{KeyId(1), KeyId(4), Round(7), Round(9), Attempt(2), 65536, PrecisionRoute::kLowBit}}},
          EpochPlanRecord{},
          RemovedRecord{NodeId(3), false},
          RemovedRecord{NodeId(3), true},
          OverlayRecord{{"nodes: []", "o.yaml"}},
          PrecisionRecord{{true,
                           {"backbone", "encoder"},
                           true,
                           {"encoder"},
                           {{100, 4}, {2000, 2}},
                           0x0123456789abcdef,
                           LearnedControls{0.25, 0.5, 1, 0.375, true, 0.125, 6, 3}}},
          PrecisionRecord{},
          SummaryRecord{Epoch(3),
                        PolicyVersion(9),
                        {NodeId(1), NodeId(4)},
                        {{KeyId(1), {Round(7), {Round(9), Round(11)}}}, {KeyId(2), {Round(~uint64_t{0}), {}}}},
                        5,
                        OverlayText{"nodes: []", "o.yaml"},
                        {{NodeId(2), Incarnation(3), Epoch(1), 4, Departed::kForGood}},
                        Epoch(2),
                        PolicyVersion(8),
                        {NodeId(3)},
                        EndRecord{"all have left", JobEnd::kDone},
                        {{"aggregation.op", "mean"}}},
          SummaryRecord{}};
}

}  // namespace banyan
