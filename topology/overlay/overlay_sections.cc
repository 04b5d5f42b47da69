#include "topology/overlay/overlay_sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/session_messages.h"

namespace banyan {
namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;
constexpr int64_t kMaxChunkElements = 16 * 1000 * 1000;
constexpr int64_t kMaxQueuedChunks = 10 * 1000;
constexpr int64_t kMaxConnections = 64;
constexpr int64_t kMaxRoundsInFlight = 16;
constexpr NumberRange kAboveZeroUpToOne = {.low = 0, .high = 1, .low_allowed = false};
constexpr NumberRange kShare = {.low = 0, .high = 1};
constexpr NumberRange kDecay = {.low = 0, .high = 1 - 1e-9};
constexpr NumberRange kLeaseSeconds = {.low = 0, .high = 3600, .unit = NumberUnit::kSeconds};
constexpr NumberRange kGraceSeconds = {.low = 0, .high = 3600, .unit = NumberUnit::kSeconds};
constexpr NumberRange kHeartbeatSeconds = {.low = 0.01, .high = 3600, .unit = NumberUnit::kSeconds};
constexpr NumberRange kSchedulerLostAfterSeconds = {.low = 0.01, .high = 7 * 24 * 3600.0, .unit = NumberUnit::kSeconds};
// One heartbeat may be late, another lost with a connection: only the third that does not come is silence.
constexpr double kLeastHeartbeats = 3;
// A busy machine or a retransmission is silent for longer than less.
constexpr double kLeastLostAfterSeconds = 0.1;

// A key of an optimizer's section, and the operations that have it.
struct AggregationParameter {
  const char* key;
  NumberRange range;
  double AggregationConfig::*field;
  std::vector<AggregationOp> ops;
};

std::vector<AggregationParameter> AggregationParameters() {
  using Op = AggregationOp;
  const std::vector<Op> optimizers = {Op::kSgd, Op::kMomentum, Op::kNesterov, Op::kAdam};
  const NumberRange rate = {.low = 0, .high = 1000, .low_allowed = false};
  return {
      {"learning_rate", rate, &AggregationConfig::learning_rate, optimizers},
      {"momentum", kDecay, &AggregationConfig::momentum, {Op::kMomentum, Op::kNesterov}},
      {"beta1", kDecay, &AggregationConfig::beta1, {Op::kAdam}},
      {"beta2", kDecay, &AggregationConfig::beta2, {Op::kAdam}},
      {"epsilon", kAboveZeroUpToOne, &AggregationConfig::epsilon, {Op::kAdam}},
      {"weight_decay", {.low = 0, .high = 1}, &AggregationConfig::weight_decay, optimizers},
  };
}

AggregationOp ReadOp(YamlMapReader& map, YamlProblems& problems) {
  const std::vector<std::string> names(kAggregationOpNames.begin(), kAggregationOpNames.end());
  const YamlValue* value = map.Find("op");
  if (value == nullptr) return AggregationConfig().op;
  const std::string name = ReadWord(*value, map.PathOf("op"), names, problems).value_or("mean");
  return static_cast<AggregationOp>(std::find(names.begin(), names.end(), name) - names.begin());
}

NotFiniteRule ReadNotFinite(YamlMapReader& map, YamlProblems& problems) {
  const std::vector<std::string> names = {"keep", "skip", "fail"};
  const std::vector<NotFiniteRule> rules = {NotFiniteRule::kKeep, NotFiniteRule::kSkip, NotFiniteRule::kFail};
  const YamlValue* value = map.Find("not_finite");
  if (value == nullptr) return AggregationConfig().not_finite;
  const std::string name = ReadWord(*value, map.PathOf("not_finite"), names, problems).value_or("keep");
  return rules[std::find(names.begin(), names.end(), name) - names.begin()];
}

bool ReadFixedOrder(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Find("order");
  if (value == nullptr) return AggregationConfig().fixed_order;
  return ReadWord(*value, map.PathOf("order"), {"arrival", "fixed"}, problems) == "fixed";
}

RateEstimator ReadEstimator(YamlMapReader& map, YamlProblems& problems) {
  const std::string by_delay = NameOf(RateEstimator::kOneWayDelay);
  const YamlValue* value = map.Find("estimator");
  if (value == nullptr) return AwarenessConfig().estimator;
  const auto name = ReadWord(*value, map.PathOf("estimator"), {NameOf(RateEstimator::kDelivery), by_delay}, problems);
  return name == by_delay ? RateEstimator::kOneWayDelay : RateEstimator::kDelivery;
}

TrimPolicyKind ReadTrimPolicy(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Find("policy");
  if (value == nullptr) return TrimmingConfig().policy;
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(kLastTrimPolicy); ++kind) {
    names.emplace_back(NameOf(static_cast<TrimPolicyKind>(kind)));
  }
  const std::string name = ReadWord(*value, map.PathOf("policy"), names, problems).value_or(names.front());
  return static_cast<TrimPolicyKind>(std::find(names.begin(), names.end(), name) - names.begin());
}

// The times of a section that is `membership`, each the file's or the default.
void ReadSilences(YamlMapReader& map, MembershipConfig& config, YamlProblems& problems) {
  double heartbeat_s = absl::ToDoubleSeconds(config.heartbeat);
  double lost_after_s = absl::ToDoubleSeconds(config.lost_after);
  double scheduler_lost_after_s = absl::ToDoubleSeconds(config.scheduler_lost_after);
  map.Number("heartbeat_seconds", kHeartbeatSeconds, heartbeat_s);
  map.Number("lost_after_seconds", kHeartbeatSeconds, lost_after_s);
  map.Number("scheduler_lost_after_seconds", kSchedulerLostAfterSeconds, scheduler_lost_after_s);
  if (lost_after_s < kLeastHeartbeats * heartbeat_s) {
    problems.Add(map.PlaceOf("lost_after_seconds"),
                 absl::StrCat("membership.lost_after_seconds: expected at least three heartbeats of ", heartbeat_s,
                              " s, since one that is late is no silence, got ", lost_after_s));
  }
  if (lost_after_s < kLeastLostAfterSeconds) {
    problems.Add(map.PlaceOf("lost_after_seconds"),
                 absl::StrCat("membership.lost_after_seconds: expected at least ", kLeastLostAfterSeconds,
                              " s, which a busy machine may be silent for, got ", lost_after_s));
  }
  if (scheduler_lost_after_s < lost_after_s) {
    problems.Add(map.PlaceOf("scheduler_lost_after_seconds"),
                 absl::StrCat("membership.scheduler_lost_after_seconds: expected at least ", lost_after_s,
                              " s as for any peer, got ", scheduler_lost_after_s));
  }
  config.heartbeat = absl::Seconds(heartbeat_s);
  config.lost_after = absl::Seconds(lost_after_s);
  config.scheduler_lost_after = absl::Seconds(scheduler_lost_after_s);
}

}  // namespace

AwarenessConfig ReadAwareness(const YamlValue& value, YamlProblems& problems) {
  AwarenessConfig config;
  YamlMapReader map(value, "awareness", problems);
  map.Bool("enabled", config.enabled);
  map.Bytes("probe_chunk_bytes", 1, kMaxBufferBytes, config.probe_chunk_bytes);
  map.Integer("probe_chunks", 1, kMaxQueuedChunks, config.probe_chunks);
  config.estimator = ReadEstimator(map, problems);
  map.Finish();
  return config;
}

MultipathConfig ReadMultipath(const YamlValue& value, YamlProblems& problems) {
  MultipathConfig config;
  YamlMapReader map(value, "multipath", problems);
  map.Bool("enabled", config.enabled);
  map.Integer("primary_busy_bound", 0, kMaxQueuedChunks, config.primary_busy_bound);
  map.Integer("auxiliary_queue_length", 0, kMaxQueuedChunks, config.auxiliary_queue_length);
  map.Finish();
  return config;
}

ChunksConfig ReadChunks(const YamlValue& value, YamlProblems& problems) {
  ChunksConfig config;
  YamlMapReader map(value, "chunks", problems);
  map.Integer("max_elements", 1, kMaxChunkElements, config.max_elements);
  map.Integer("min_elements", 1, kMaxChunkElements, config.min_elements);
  map.Finish();
  return config;
}

AggregationConfig ReadAggregation(const YamlValue& value, YamlProblems& problems) {
  AggregationConfig config;
  YamlMapReader map(value, "aggregation", problems);
  config.op = ReadOp(map, problems);
  if (config.op == AggregationOp::kAdam) config.learning_rate = 0.001;
  config.not_finite = ReadNotFinite(map, problems);
  map.Number("quorum", kShare, config.quorum);
  double grace_seconds = absl::ToDoubleSeconds(config.grace);
  map.Number("grace_seconds", kGraceSeconds, grace_seconds);
  config.grace = absl::Seconds(grace_seconds);
  config.fixed_order = ReadFixedOrder(map, problems);
  for (const AggregationParameter& parameter : AggregationParameters()) {
    const YamlValue* found = map.Find(parameter.key);
    if (found == nullptr) continue;
    if (std::find(parameter.ops.begin(), parameter.ops.end(), config.op) == parameter.ops.end()) {
      problems.Add(found->place, absl::StrCat(map.PathOf(parameter.key), ": the operation aggregation.op has no ",
                                              parameter.key, "; remove it or choose another operation"));
    }
    map.Number(parameter.key, parameter.range, config.*parameter.field);
  }
  map.Finish();
  return config;
}

TransportConfig ReadTransport(const YamlValue& value, YamlProblems& problems) {
  TransportConfig config;
  YamlMapReader map(value, "transport", problems);
  map.IntegerOr("connections", "auto", 1, kMaxConnections, config.connections);
  map.Bytes("bytes_per_connection", 0, kMaxBufferBytes, config.bytes_per_connection);
  map.BytesOr("window_bytes", "auto", 1, kMaxBufferBytes, config.window_bytes);
  map.Bytes("early_bytes", 0, kMaxBufferBytes, config.early_bytes);
  map.Bytes("relay_bytes", 0, kMaxBufferBytes, config.relay_bytes);
  map.Finish();
  return config;
}

TrimmingConfig ReadTrimming(const YamlValue& value, YamlProblems& problems) {
  TrimmingConfig config;
  YamlMapReader map(value, "trimming", problems);
  config.policy = ReadTrimPolicy(map, problems);
  const auto only_with = [&](const char* key, TrimPolicyKind kind) {
    const YamlValue* found = map.Find(key);
    if (found == nullptr || config.policy == kind) return;
    problems.Add(found->place, absl::StrCat(map.PathOf(key), ": only with policy: ", NameOf(kind), ", got policy: ",
                                            NameOf(config.policy), "; remove it or change the policy"));
  };
  only_with("queue_bytes", TrimPolicyKind::kQueue);
  only_with("share", TrimPolicyKind::kRandom);
  map.Bytes("queue_bytes", 0, kMaxBufferBytes, config.queue_bytes);
  map.Number("share", kShare, config.share);
  map.Finish();
  return config;
}

MembershipConfig ReadMembership(const YamlValue& value, int nodes, YamlProblems& problems) {
  MembershipConfig config;
  YamlMapReader map(value, "membership", problems);
  map.IntegerOr("start_with", "all", 1, nodes, config.start_with);
  ReadSilences(map, config, problems);
  map.Integer("least", 1, nodes, config.least);
  map.Finish();
  return config;
}

PolicyConfig ReadPolicy(const YamlValue& value, YamlProblems& problems) {
  PolicyConfig config;
  YamlMapReader map(value, "policy", problems);
  double lease_s = absl::ToDoubleSeconds(config.lease);
  map.Number("lease_seconds", kLeaseSeconds, lease_s);
  config.lease = absl::Seconds(lease_s);
  map.Integer("rounds_in_flight", 1, kMaxRoundsInFlight, config.rounds_in_flight);
  map.Finish();
  return config;
}

PrecisionConfig ReadPrecision(const YamlValue& value, YamlProblems& problems) {
  PrecisionConfig config;
  config.place = value.place;
  YamlMapReader map(value, "precision", problems);
  for (const auto& [key, file] : {std::pair("profile", &config.profile), {"binding", &config.binding}}) {
    const YamlValue* const name = map.Require(key);
    if (name != nullptr) *file = ReadText(*name, map.PathOf(key), problems).value_or("");
  }
  map.Finish();
  return config;
}

void CheckPrecision(const OverlayConfig& overlay, YamlProblems& problems) {
  if (overlay.precision.profile.empty()) return;
  const auto refuse = [&](bool is_wrong, const std::string& why) {
    if (is_wrong) problems.Add(overlay.precision.place, "precision: " + why);
  };
  refuse(overlay.aggregation.op == AggregationOp::kSum,
         "a low-bit round makes a mean, but aggregation.op is sum; take another operation");
  refuse(
      overlay.aggregation.fixed_order,
      "each worker of a node is a part of its own, which aggregation.order: fixed does not know; remove one of them");
  refuse(overlay.aggregation.quorum > 0, "late workers have no votes; remove aggregation.quorum");
  refuse(std::any_of(overlay.compression.rules.begin(), overlay.compression.rules.end(),
                     [](const CompressionRule& rule) { return rule.codec != CodecId::kFp32; }),
         "rounds that are not low-bit are of full precision; remove compression, or this section");
}

}  // namespace banyan
