#include "topology/overlay/overlay_sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {
namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;
constexpr int64_t kMaxChunkElements = 16 * 1000 * 1000;
constexpr int64_t kMaxQueuedChunks = 10 * 1000;
constexpr int64_t kMaxConnections = 64;
constexpr int64_t kMaxLeaseRounds = 1000;
constexpr int64_t kMaxRoundsInFlight = 16;
constexpr NumberRange kAboveZeroUpToOne = {.low = 0, .high = 1, .low_allowed = false};
constexpr NumberRange kDecay = {.low = 0, .high = 1 - 1e-9};
constexpr NumberRange kHeartbeatSeconds = {.low = 0.01, .high = 3600};
constexpr NumberRange kSchedulerLostAfterSeconds = {.low = 0.01, .high = 7 * 24 * 3600.0};

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
  const std::vector<std::string> names = {"sum", "mean", "sgd", "momentum", "nesterov", "adam"};
  const std::vector<AggregationOp> ops = {AggregationOp::kSum,      AggregationOp::kMean,     AggregationOp::kSgd,
                                          AggregationOp::kMomentum, AggregationOp::kNesterov, AggregationOp::kAdam};
  const YamlValue* value = map.Find("op");
  if (value == nullptr) return AggregationConfig().op;
  const std::string name = ReadWord(*value, map.PathOf("op"), names, problems).value_or("mean");
  return ops[std::find(names.begin(), names.end(), name) - names.begin()];
}

RateEstimator ReadEstimator(YamlMapReader& map, YamlProblems& problems) {
  const std::string by_delay = NameOf(RateEstimator::kOneWayDelay);
  const YamlValue* value = map.Find("estimator");
  if (value == nullptr) return AwarenessConfig().estimator;
  const auto name = ReadWord(*value, map.PathOf("estimator"), {NameOf(RateEstimator::kDelivery), by_delay}, problems);
  return name == by_delay ? RateEstimator::kOneWayDelay : RateEstimator::kDelivery;
}

}  // namespace

SchedulerConfig ReadScheduler(const YamlValue& value, YamlProblems& problems) {
  SchedulerConfig config;
  YamlMapReader map(value, "scheduler", problems);
  if (const YamlValue* address = map.Find("address"); address != nullptr) {
    config.address = ReadText(*address, "scheduler.address", problems).value_or("");
    const absl::Status status = CheckConnectAddress(config.address);
    if (!status.ok()) problems.Add(address->line, absl::StrCat("scheduler.address: ", status.message()));
  }
  if (const YamlValue* http = map.Find("http"); http != nullptr) {
    config.http = ReadText(*http, "scheduler.http", problems).value_or("");
    const absl::Status status = CheckHttpAddress(config.http);
    if (!status.ok()) problems.Add(http->line, absl::StrCat("scheduler.http: ", status.message()));
  }
  map.Finish();
  return config;
}

AwarenessConfig ReadAwareness(const YamlValue& value, YamlProblems& problems) {
  AwarenessConfig config;
  YamlMapReader map(value, "awareness", problems);
  map.Bool("enabled", config.enabled);
  map.Integer("probe_chunk_bytes", 1, kMaxBufferBytes, config.probe_chunk_bytes);
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
  for (const AggregationParameter& parameter : AggregationParameters()) {
    const YamlValue* found = map.Find(parameter.key);
    if (found == nullptr) continue;
    if (std::find(parameter.ops.begin(), parameter.ops.end(), config.op) == parameter.ops.end()) {
      problems.Add(found->line, absl::StrCat(map.PathOf(parameter.key), ": the operation aggregation.op has no ",
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
  map.Integer("bytes_per_connection", 0, kMaxBufferBytes, config.bytes_per_connection);
  map.IntegerOr("window_bytes", "auto", 1, kMaxBufferBytes, config.window_bytes);
  map.Integer("early_bytes", 0, kMaxBufferBytes, config.early_bytes);
  map.Integer("relay_bytes", 0, kMaxBufferBytes, config.relay_bytes);
  map.Finish();
  return config;
}

MembershipConfig ReadMembership(const YamlValue& value, int nodes, YamlProblems& problems) {
  MembershipConfig config;
  YamlMapReader map(value, "membership", problems);
  map.IntegerOr("start_with", "all", 1, nodes, config.start_with);
  double heartbeat_seconds = absl::ToDoubleSeconds(config.heartbeat);
  double lost_after_seconds = absl::ToDoubleSeconds(config.lost_after);
  map.Number("heartbeat_seconds", kHeartbeatSeconds, heartbeat_seconds);
  map.Number("lost_after_seconds", kHeartbeatSeconds, lost_after_seconds);
  if (lost_after_seconds < 2 * heartbeat_seconds) {
    problems.Add(map.line(), absl::StrCat("membership.lost_after_seconds: expected at least two heartbeats of ",
                                          heartbeat_seconds, " s, got ", lost_after_seconds));
  }
  double scheduler_lost_after_seconds = absl::ToDoubleSeconds(config.scheduler_lost_after);
  map.Number("scheduler_lost_after_seconds", kSchedulerLostAfterSeconds, scheduler_lost_after_seconds);
  if (scheduler_lost_after_seconds < lost_after_seconds) {
    problems.Add(map.line(),
                 absl::StrCat("membership.scheduler_lost_after_seconds: expected at least ", lost_after_seconds,
                              " s as for any peer, got ", scheduler_lost_after_seconds));
  }
  map.Integer("least", 1, nodes, config.least);
  config.heartbeat = absl::Seconds(heartbeat_seconds);
  config.lost_after = absl::Seconds(lost_after_seconds);
  config.scheduler_lost_after = absl::Seconds(scheduler_lost_after_seconds);
  map.Finish();
  return config;
}

PolicyConfig ReadPolicy(const YamlValue& value, YamlProblems& problems) {
  PolicyConfig config;
  YamlMapReader map(value, "policy", problems);
  map.Integer("lease_rounds", 1, kMaxLeaseRounds, config.lease_rounds);
  map.Integer("rounds_in_flight", 1, kMaxRoundsInFlight, config.rounds_in_flight);
  map.Finish();
  return config;
}

}  // namespace banyan
