#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proto/compression/compression_check.h"
#include "proto/compression/compression_config.h"
#include "proto/field_reader.h"
#include "proto/message_wire.h"
#include "proto/policy.pb.h"
#include "proto/precision/key_routes.h"

namespace banyan {
namespace {

// ---- compression ----

static_assert(static_cast<int>(RatioControllerKind::kFixed) == wire::RATIO_CONTROLLER_FIXED);
static_assert(static_cast<int>(RatioControllerKind::kNetSense) == wire::RATIO_CONTROLLER_NET_SENSE);
static_assert(static_cast<int>(RatioControllerKind::kDa1) == wire::RATIO_CONTROLLER_DA1);
static_assert(static_cast<int>(RatioControllerKind::kDa2) == wire::RATIO_CONTROLLER_DA2);
static_assert(static_cast<int>(RatioControllerKind::kDa3) == wire::RATIO_CONTROLLER_DA3);
static_assert(static_cast<int>(RatioControllerKind::kDa4) == wire::RATIO_CONTROLLER_DA4);
static_assert(static_cast<int>(RatioControllerKind::kDa5) == wire::RATIO_CONTROLLER_DA5);
static_assert(static_cast<int>(RatioControllerKind::kBudget) == wire::RATIO_CONTROLLER_BUDGET);
static_assert(static_cast<int>(TopKSelection::kExact) == wire::SELECTION_EXACT);
static_assert(static_cast<int>(TopKSelection::kSampled) == wire::SELECTION_SAMPLED);

// More than any controller has.
constexpr int kMaxNumbers = 64;

void WriteRule(const CompressionRule& from, wire::CompressionRule& to) {
  to.set_keys(from.keys);
  to.set_codec(static_cast<wire::CodecId>(from.codec));
  to.set_controller(static_cast<wire::RatioController>(from.controller));
  for (const ControllerNumber& number : from.numbers) {
    wire::ControllerNumber& written = *to.add_numbers();
    written.set_name(number.name);
    written.set_value(number.value);
  }
  to.set_selection(static_cast<wire::TopKSelection>(from.selection));
  if (from.error_feedback.has_value()) to.set_error_feedback(*from.error_feedback);
}

CompressionRule ReadRule(const wire::CompressionRule& from, FieldReader fields) {
  CompressionRule rule;
  rule.keys = fields.Name("keys", from.keys());
  rule.codec = fields.OneOf("codec", from.codec(), CodecId::kTrimTopK);
  rule.controller = fields.OneOf("controller", from.controller(), RatioControllerKind::kBudget);
  const int count = fields.Count("numbers", from.numbers_size(), 0, kMaxNumbers);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("numbers", i);
    rule.numbers.push_back(
        {within.Name("name", from.numbers(i).name()), within.Finite("value", from.numbers(i).value())});
  }
  rule.selection = fields.OneOf("selection", from.selection(), TopKSelection::kSampled);
  if (from.has_error_feedback()) rule.error_feedback = from.error_feedback();
  if (const std::optional<FieldProblem> problem = FindRuleProblem(rule); problem.has_value()) {
    fields.Refuse(problem->field, problem->expected, problem->came);
  }
  return rule;
}

void WriteCompression(const CompressionConfig& from, wire::CompressionConfig& to) {
  for (const CompressionRule& rule : from.rules) WriteRule(rule, *to.add_rules());
  to.set_least_elements(from.least_elements);
}

CompressionConfig ReadCompression(const wire::CompressionConfig& from, FieldReader fields) {
  CompressionConfig config;
  const int count = fields.Count("rules", from.rules_size(), 0, kMaxCompressionRules);
  for (int i = 0; i < count; ++i) config.rules.push_back(ReadRule(from.rules(i), fields.Within("rules", i)));
  config.least_elements = fields.Between("least_elements", from.least_elements(), int64_t{0}, kMostLeastElements);
  return config;
}

// ---- all of it ----

static_assert(static_cast<int>(AggregationOp::kSum) == wire::AGGREGATION_OP_SUM);
static_assert(static_cast<int>(AggregationOp::kMean) == wire::AGGREGATION_OP_MEAN);
static_assert(static_cast<int>(AggregationOp::kSgd) == wire::AGGREGATION_OP_SGD);
static_assert(static_cast<int>(AggregationOp::kMomentum) == wire::AGGREGATION_OP_MOMENTUM);
static_assert(static_cast<int>(AggregationOp::kNesterov) == wire::AGGREGATION_OP_NESTEROV);
static_assert(static_cast<int>(AggregationOp::kAdam) == wire::AGGREGATION_OP_ADAM);
static_assert(static_cast<int>(NotFiniteRule::kKeep) == wire::NOT_FINITE_RULE_KEEP);
static_assert(static_cast<int>(NotFiniteRule::kSkip) == wire::NOT_FINITE_RULE_SKIP);
static_assert(static_cast<int>(NotFiniteRule::kFail) == wire::NOT_FINITE_RULE_FAIL);
static_assert(static_cast<int>(RateEstimator::kDelivery) == wire::RATE_ESTIMATOR_DELIVERY);
static_assert(static_cast<int>(RateEstimator::kOneWayDelay) == wire::RATE_ESTIMATOR_ONE_WAY_DELAY);

constexpr uint32_t kMaxRoundsInFlight = 1024;
constexpr uint32_t kMaxConnectionsPerLink = 1024;
constexpr int64_t kMaxMemoryBytes = int64_t{1} << 50;
// Of probes and queues.
constexpr uint32_t kMaxChunkCount = 1u << 20;
// Less is no time at all.
constexpr double kLeastBudgetShare = 1e-12;

void WriteAggregation(const AggregationConfig& from, wire::AggregationConfig& to) {
  to.set_op(static_cast<wire::AggregationOp>(from.op));
  to.set_learning_rate(from.learning_rate);
  to.set_momentum(from.momentum);
  to.set_beta1(from.beta1);
  to.set_beta2(from.beta2);
  to.set_epsilon(from.epsilon);
  to.set_weight_decay(from.weight_decay);
  to.set_not_finite(static_cast<wire::NotFiniteRule>(from.not_finite));
  to.set_quorum(from.quorum);
  to.set_grace_ns(absl::ToInt64Nanoseconds(from.grace));
  to.set_fixed_order(from.fixed_order);
}

AggregationConfig ReadAggregation(const wire::AggregationConfig& from, FieldReader fields) {
  AggregationConfig config;
  config.op = fields.OneOf("op", from.op(), AggregationOp::kAdam);
  config.learning_rate = fields.Finite("learning_rate", from.learning_rate());
  config.momentum = fields.Finite("momentum", from.momentum());
  config.beta1 = fields.Finite("beta1", from.beta1());
  config.beta2 = fields.Finite("beta2", from.beta2());
  config.epsilon = fields.Finite("epsilon", from.epsilon());
  config.weight_decay = fields.Finite("weight_decay", from.weight_decay());
  config.not_finite = fields.OneOf("not_finite", from.not_finite(), NotFiniteRule::kFail);
  config.quorum = fields.FiniteBetween("quorum", from.quorum(), 0.0, 1.0);
  config.grace = fields.Duration("grace", from.grace_ns(), absl::ZeroDuration());
  config.fixed_order = from.fixed_order();
  return config;
}

void WriteNodes(const std::vector<NodeId>& from, google::protobuf::RepeatedField<uint32_t>& to) {
  to.Reserve(static_cast<int>(from.size()));
  for (NodeId node : from) to.Add(node.value());
}

std::vector<NodeId> ReadChildren(absl::string_view field, const google::protobuf::RepeatedField<uint32_t>& from,
                                 FieldReader& fields) {
  std::vector<NodeId> children;
  const int count = fields.Count(field, from.size());
  children.reserve(count);
  for (int i = 0; i < count; ++i) children.push_back(fields.NonZero<NodeId>(field, from.Get(i)));
  const bool rising = std::adjacent_find(children.begin(), children.end(), std::greater_equal<>()) == children.end();
  fields.Expect(rising, field, "ids in rising order", "others");
  return children;
}

void WriteTree(const TreeSlice& from, wire::TreeSlice& to) {
  to.set_root(from.root.value());
  to.set_share(from.share);
  if (from.reduce_parent.has_value()) to.set_reduce_parent(from.reduce_parent->value());
  WriteNodes(from.reduce_children, *to.mutable_reduce_children());
  if (from.broadcast_parent.has_value()) to.set_broadcast_parent(from.broadcast_parent->value());
  WriteNodes(from.broadcast_children, *to.mutable_broadcast_children());
}

TreeSlice ReadTree(const wire::TreeSlice& from, FieldReader fields) {
  TreeSlice tree;
  tree.root = fields.NonZero<NodeId>("root", from.root());
  tree.share = fields.FiniteBetween("share", from.share(), 0.0, 1.0);
  if (from.has_reduce_parent()) tree.reduce_parent = fields.NonZero<NodeId>("reduce_parent", from.reduce_parent());
  tree.reduce_children = ReadChildren("reduce_children", from.reduce_children(), fields);
  if (from.has_broadcast_parent()) {
    tree.broadcast_parent = fields.NonZero<NodeId>("broadcast_parent", from.broadcast_parent());
  }
  tree.broadcast_children = ReadChildren("broadcast_children", from.broadcast_children(), fields);
  fields.Expect(from.has_reduce_parent() == from.has_broadcast_parent(), "broadcast_parent",
                "a parent in both halves, or in none at the root", "one in one half");
  return tree;
}

double ReadRate(double rate_bps, FieldReader& fields) {
  return fields.FiniteBetween("rate_bps", rate_bps, 0.0, std::numeric_limits<double>::max());
}

using RouteList = google::protobuf::RepeatedPtrField<wire::RouteSlice>;

void WriteRoutes(const std::vector<RouteSlice>& from, RouteList& to) {
  to.Reserve(static_cast<int>(from.size()));
  for (const RouteSlice& route : from) {
    wire::RouteSlice& written = *to.Add();
    WriteNodes(route.path, *written.mutable_path());
    written.set_rate_bps(route.rate_bps);
    written.set_round_trip_ns(absl::ToInt64Nanoseconds(route.round_trip));
    written.set_share(route.share);
    written.set_spare(route.spare);
    written.set_crosses_idle_link(route.crosses_idle_link);
  }
}

std::vector<RouteSlice> ReadRoutes(absl::string_view field, const RouteList& from, FieldReader& fields) {
  std::vector<RouteSlice> routes;
  const int count = fields.Count(field, from.size());
  routes.reserve(count);
  for (int i = 0; i < count; ++i) {
    const wire::RouteSlice& route = from.Get(i);
    FieldReader within = fields.Within(field, i);
    routes.push_back({ReadPath(route.path(), within), ReadRate(route.rate_bps(), within),
                      within.Duration("round_trip", route.round_trip_ns(), absl::ZeroDuration()),
                      within.FiniteBetween("share", route.share(), 0.0, 1.0),
                      within.FiniteBetween("spare", route.spare(), 0.0, 1.0), route.crosses_idle_link()});
  }
  return routes;
}

void WriteTransmission(const TransmissionSettings& from, wire::TransmissionSettings& to) {
  to.set_measures(from.measures);
  to.set_probe_chunk_bytes(from.probe_chunk_bytes);
  to.set_probe_chunks(from.probe_chunks);
  to.set_uses_auxiliary_paths(from.uses_auxiliary_paths);
  to.set_primary_busy_bound(from.primary_busy_bound);
  to.set_auxiliary_queue_length(from.auxiliary_queue_length);
  to.set_estimator(static_cast<wire::RateEstimator>(from.estimator));
}

TransmissionSettings ReadTransmission(const wire::TransmissionSettings& from, FieldReader fields) {
  TransmissionSettings settings;
  settings.measures = from.measures();
  settings.probe_chunk_bytes =
      fields.Between("probe_chunk_bytes", from.probe_chunk_bytes(), int64_t{1}, kMaxMemoryBytes);
  settings.probe_chunks = fields.Between("probe_chunks", from.probe_chunks(), 1u, kMaxChunkCount);
  settings.uses_auxiliary_paths = from.uses_auxiliary_paths();
  settings.primary_busy_bound = fields.Between("primary_busy_bound", from.primary_busy_bound(), 0u, kMaxChunkCount);
  settings.auxiliary_queue_length =
      fields.Between("auxiliary_queue_length", from.auxiliary_queue_length(), 0u, kMaxChunkCount);
  settings.estimator = fields.OneOf("estimator", from.estimator(), RateEstimator::kOneWayDelay);
  return settings;
}

void WriteNeighbour(const NeighbourSlice& from, wire::NeighbourSlice& to) {
  to.set_node(from.node.value());
  to.set_name(from.name);
  to.set_address(from.address);
  to.set_incarnation(from.incarnation.value());
  to.set_rate_bps(from.rate_bps);
  to.set_rate_is_guessed(from.rate_is_guessed);
  to.set_round_trip_ns(absl::ToInt64Nanoseconds(from.round_trip));
  if (from.budget_share < 1) to.set_budget_share(from.budget_share);
  if (from.capped_bps.has_value()) to.set_capped_bps(*from.capped_bps);
}

NeighbourSlice ReadNeighbour(const wire::NeighbourSlice& from, FieldReader fields) {
  NeighbourSlice neighbour;
  neighbour.node = fields.NonZero<NodeId>("node", from.node());
  neighbour.name = fields.Name("name", from.name());
  neighbour.address = fields.Name("address", from.address());
  neighbour.incarnation = fields.NonZero<Incarnation>("incarnation", from.incarnation());
  neighbour.rate_bps = ReadRate(from.rate_bps(), fields);
  neighbour.rate_is_guessed = from.rate_is_guessed();
  neighbour.round_trip = fields.Duration("round_trip", from.round_trip_ns(), absl::ZeroDuration());
  if (from.budget_share() != 0) {
    neighbour.budget_share = fields.FiniteBetween("budget_share", from.budget_share(), kLeastBudgetShare, 1);
  }
  if (from.has_capped_bps()) {
    neighbour.capped_bps =
        fields.FiniteBetween("capped_bps", from.capped_bps(), 0.0, std::numeric_limits<double>::max());
  }
  return neighbour;
}

void WriteTrimming(const TrimmingConfig& from, wire::TrimmingConfig& to) {
  to.set_policy(static_cast<wire::TrimPolicyKind>(from.policy));
  to.set_queue_bytes(from.queue_bytes);
  to.set_share(from.share);
}

TrimmingConfig ReadTrimming(const wire::TrimmingConfig& from, FieldReader fields) {
  TrimmingConfig config;
  config.policy = fields.OneOf("policy", from.policy(), kLastTrimPolicy);
  config.queue_bytes = fields.Between("queue_bytes", from.queue_bytes(), int64_t{0}, kMaxMemoryBytes);
  config.share = fields.FiniteBetween("share", from.share(), 0.0, 1.0);
  return config;
}

}  // namespace

void WriteJobConfig(const JobConfig& from, wire::JobConfig& to) {
  to.set_job(from.job);
  WriteAggregation(from.aggregation, *to.mutable_aggregation());
  to.set_chunk_max_elements(from.chunk_max_elements);
  to.set_workers(from.workers);
  to.set_rounds_in_flight(from.rounds_in_flight);
  to.set_connections_per_link(from.connections_per_link);
  to.set_bytes_per_connection(from.bytes_per_connection);
  to.set_window_bytes(from.window_bytes);
  to.set_early_bytes(from.early_bytes);
  to.set_relay_bytes(from.relay_bytes);
  to.set_heartbeat_ns(absl::ToInt64Nanoseconds(from.heartbeat));
  to.set_lost_after_ns(absl::ToInt64Nanoseconds(from.lost_after));
  to.set_scheduler_lost_after_ns(absl::ToInt64Nanoseconds(from.scheduler_lost_after));
  to.set_resend_after_ns(absl::ToInt64Nanoseconds(from.resend_after));
  WriteCompression(from.compression, *to.mutable_compression());
  WriteTrimming(from.trimming, *to.mutable_trimming());
  if (from.low_bit.has_value()) WriteVoteRules(*from.low_bit, *to.mutable_low_bit());
  for (const std::string& address : from.schedulers) to.add_schedulers(address);
}

JobConfig ReadJobConfig(const wire::JobConfig& from, FieldReader fields) {
  const absl::Duration shortest = absl::Nanoseconds(1);
  JobConfig config;
  config.job = fields.Name("job", from.job());
  config.aggregation = ReadAggregation(from.aggregation(), fields.Within("aggregation"));
  config.chunk_max_elements =
      fields.Between("chunk_max_elements", from.chunk_max_elements(), int64_t{1}, fields.limits().max_chunk_elements);
  config.workers = fields.Between("workers", from.workers(), 1u, kMaxWorkersPerNode);
  config.rounds_in_flight = fields.Between("rounds_in_flight", from.rounds_in_flight(), 1u, kMaxRoundsInFlight);
  config.connections_per_link =
      fields.Between("connections_per_link", from.connections_per_link(), 1u, kMaxConnectionsPerLink);
  config.bytes_per_connection =
      fields.Between("bytes_per_connection", from.bytes_per_connection(), int64_t{0}, kMaxMemoryBytes);
  config.window_bytes = fields.Between("window_bytes", from.window_bytes(), int64_t{0}, kMaxMemoryBytes);
  config.early_bytes = fields.Between("early_bytes", from.early_bytes(), int64_t{0}, kMaxMemoryBytes);
  config.relay_bytes = fields.Between("relay_bytes", from.relay_bytes(), int64_t{0}, kMaxMemoryBytes);
  config.heartbeat = fields.Duration("heartbeat", from.heartbeat_ns(), shortest);
  config.lost_after = fields.Duration("lost_after", from.lost_after_ns(), shortest);
  config.scheduler_lost_after = fields.Duration("scheduler_lost_after", from.scheduler_lost_after_ns(), shortest);
  config.resend_after = fields.Duration("resend_after", from.resend_after_ns(), shortest);
  config.compression = ReadCompression(from.compression(), fields.Within("compression"));
  config.trimming = ReadTrimming(from.trimming(), fields.Within("trimming"));
  if (from.has_low_bit()) config.low_bit = ReadVoteRules(from.low_bit(), fields.Within("low_bit"));
  const int schedulers = fields.Count("schedulers", from.schedulers_size(), 0, kMaxSchedulers);
  for (int i = 0; i < schedulers; ++i) {
    config.schedulers.push_back(fields.Within("schedulers", i).Name("address", from.schedulers(i)));
  }
  return config;
}

void WriteKeySlice(const KeySlice& from, wire::KeySlice& to) {
  to.set_key(from.key.value());
  to.set_name(from.name);
  to.set_elements(from.elements);
  to.set_layout(from.layout);
  to.set_type(static_cast<uint32_t>(from.type));
  to.mutable_borders()->Add(from.borders.begin(), from.borders.end());
}

KeySlice ReadKeySlice(const wire::KeySlice& from, FieldReader fields) {
  KeySlice key;
  key.key = fields.NonZero<KeyId>("key", from.key());
  key.name = fields.Name("name", from.name());
  key.elements = fields.Between("elements", from.elements(), int64_t{1}, fields.limits().max_key_elements);
  key.layout = from.layout();
  key.type = fields.OneOf("type", static_cast<int>(from.type()), kLastElementType);
  fields.Between("borders", from.borders_size(), 0, static_cast<int>(KeyRoutes::kMostSlices) - 1);
  int64_t least = 1;
  for (const int64_t border : from.borders()) {
    key.borders.push_back(fields.Between("borders", border, least, key.elements - 1));
    least = key.borders.back() + 1;
  }
  return key;
}

void WritePolicySlice(const PolicySlice& from, wire::PolicySlice& to) {
  to.set_version(from.version.value());
  to.set_epoch(from.epoch.value());
  to.set_key_table(from.key_table.value());
  to.set_chunk_max_elements(from.chunk_max_elements);
  to.set_member_count(from.member_count);
  to.set_source(from.source.value());
  for (const TreeSlice& tree : from.trees) WriteTree(tree, *to.add_trees());
  WriteRoutes(from.routes, *to.mutable_routes());
  WriteRoutes(from.auxiliary, *to.mutable_auxiliary());
  for (const NeighbourSlice& neighbour : from.neighbours) WriteNeighbour(neighbour, *to.add_neighbours());
  for (const RelayedSlice& relayed : from.relayed) {
    wire::RelayedSlice& written = *to.add_relayed();
    written.set_node(relayed.node.value());
    written.set_incarnation(relayed.incarnation.value());
  }
  WriteTransmission(from.transmission, *to.mutable_transmission());
}

PolicySlice ReadPolicySlice(const wire::PolicySlice& from, FieldReader fields) {
  PolicySlice slice;
  slice.version = fields.NonZero<PolicyVersion>("version", from.version());
  slice.epoch = Epoch(from.epoch());
  slice.key_table = KeyTableVersion(from.key_table());
  slice.chunk_max_elements =
      fields.Between("chunk_max_elements", from.chunk_max_elements(), int64_t{1}, fields.limits().max_chunk_elements);
  slice.member_count =
      fields.Between("member_count", from.member_count(), 1u, static_cast<uint32_t>(fields.limits().max_entries));
  slice.source = fields.NonZero<NodeId>("source", from.source());
  const int trees = fields.Count("trees", from.trees_size(), 1, fields.limits().max_entries);
  for (int i = 0; i < trees; ++i) slice.trees.push_back(ReadTree(from.trees(i), fields.Within("trees", i)));
  slice.routes = ReadRoutes("routes", from.routes(), fields);
  slice.auxiliary = ReadRoutes("auxiliary", from.auxiliary(), fields);
  const int neighbours = fields.Count("neighbours", from.neighbours_size());
  for (int i = 0; i < neighbours; ++i) {
    slice.neighbours.push_back(ReadNeighbour(from.neighbours(i), fields.Within("neighbours", i)));
  }
  const int relayed = fields.Count("relayed", from.relayed_size());
  for (int i = 0; i < relayed; ++i) {
    FieldReader within = fields.Within("relayed", i);
    slice.relayed.push_back({within.NonZero<NodeId>("node", from.relayed(i).node()),
                             within.NonZero<Incarnation>("incarnation", from.relayed(i).incarnation())});
  }
  slice.transmission = ReadTransmission(from.transmission(), fields.Within("transmission"));
  return slice;
}

}  // namespace banyan
