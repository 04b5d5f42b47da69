#include "scheduler/state/state_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/field_wire.h"
#include "topology/chunk_assignment.h"

namespace banyan {

// ---- descriptions (proto/fields.h); state_record.proto is their published form ----

// Of chunks; 0: those of the policy.
inline constexpr Range kAnyElements = {int64_t{0}, std::numeric_limits<int64_t>::max()};

// A range of rounds travels as its first and how many there are.
template <typename Visitor>
void RoundsField(Visitor& v, int number, const Round& first, Round& last) {
  uint64_t rounds = last.value() - first.value() + 1;
  v(number, "rounds", rounds);
  v.Check([&](FieldReader& fields) {
    last = Round(first.value() + rounds - 1);
    fields.Expect(rounds != 0 && last >= first, "rounds", "some rounds", absl::StrCat(rounds));
  });
}

template <typename Visitor, typename Entry>
void CheckKeysOf(Visitor& v, Entry& entry) {
  v.Check([&entry](FieldReader& fields) {
    fields.Expect(entry.first_key <= entry.last_key, "last_key", absl::StrCat(entry.first_key.value(), " or above"),
                  absl::StrCat(entry.last_key.value()));
  });
}

// One half of a tree: each node with the one above it.
struct Parents {
  std::map<NodeId, NodeId>& of;
};

// The rounds of one key that are closed everywhere.
struct ClosedKey {
  KeyId key;
  ClosedRounds rounds;
};

struct Setting {
  std::string name;
  std::string value;
};

template <typename Visitor>
void Fields(Visitor& v, OverlayText& m) {
  v(1, "yaml", m.yaml);
  v(2, "file_name", m.file_name);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionState& m) {
  v(1, "is_decided", m.is_decided);
  v(2, "admitted", m.admitted);
  v(3, "is_vetoed", m.is_vetoed);
  v(4, "ordered", m.ordered);
  std::vector<int64_t> elements;
  std::vector<uint32_t> element_bytes;
  for (const GuardedSize& size : m.guarded) {
    elements.push_back(size.elements);
    element_bytes.push_back(static_cast<uint32_t>(size.element_bytes));
  }
  v(5, "guarded", elements);
  v(6, "guarded_bytes", element_bytes);
  v(7, "profile_digest", m.profile_digest);
  v(8, "learned", m.learned);
  if constexpr (Visitor::kReads) {
    // Records of a version that told tensors apart by their elements alone have no bytes.
    element_bytes.resize(elements.size(), 4);
    for (size_t i = 0; i < elements.size(); ++i) m.guarded.push_back({elements[i], element_bytes[i]});
  }
}

template <typename Visitor>
void Fields(Visitor& v, Parents& m) {
  std::vector<NodeId> nodes;
  std::vector<NodeId> parents;
  for (const auto& [node, parent] : m.of) {
    nodes.push_back(node);
    parents.push_back(parent);
  }
  v(1, "nodes", nodes);
  v(2, "parents", parents);
  v.Check([&](FieldReader& fields) {
    fields.Expect(nodes.size() == parents.size(), "parents", "one for each node", absl::StrCat(parents.size()));
    for (size_t i = 0; i < std::min(nodes.size(), parents.size()); ++i) m.of.emplace(nodes[i], parents[i]);
  });
}

template <typename Visitor>
void Fields(Visitor& v, Tree& m) {
  Parents reduce{m.reduce_parent};
  Parents broadcast{m.broadcast_parent};
  v(1, "root", m.root);
  v(2, "share", m.share);
  v(3, "reduce", reduce);
  v(4, "broadcast", broadcast);
}

template <typename Visitor>
void Fields(Visitor& v, Route& m) {
  v(1, "path", m.path, Entries{2, v.limits().max_entries});
  v(2, "share", m.share);
  v.Check([&m](FieldReader&) {
    if (m.path.empty()) return;
    m.from = m.path.front();
    m.to = m.path.back();
  });
}

template <typename Visitor>
void Fields(Visitor& v, NetworkLink& m) {
  bool is_auxiliary = m.source == LinkSource::kAuxiliary;
  bool is_believed = m.source == LinkSource::kBelieved;
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "throughput_bps", m.throughput_bps,
    Range{std::numeric_limits<double>::min(), std::numeric_limits<double>::max()});
  v(4, "delay", m.delay, kNotNegative);
  v(5, "is_auxiliary", is_auxiliary);
  v(6, "is_believed", is_believed);
  if constexpr (Visitor::kReads) {
    m.source = is_believed ? LinkSource::kBelieved : is_auxiliary ? LinkSource::kAuxiliary : LinkSource::kPrimary;
  }
}

template <typename Visitor>
void Fields(Visitor& v, PolicyRecord& m) {
  Policy& policy = m.policy;
  v(1, "version", policy.version);
  v(2, "epoch", policy.epoch);
  v(3, "key_table", policy.key_table);
  v(4, "planner", policy.planner);
  v(5, "members", policy.members);
  v(6, "trees", policy.trees);
  v(7, "routes", policy.routes);
  v(8, "auxiliary", policy.auxiliary);
  v(9, "chunk_max_elements", policy.chunk_max_elements);
  v(10, "rate_bps", policy.rate_bps);
  v(11, "bound_bps", policy.bound_bps);
  v(13, "reason", m.reason);
  // Records of a version that had no such settings leave the defaults.
  v(14, "transmission", Explicit(m.transmission));
  v(15, "measured", m.measured);
  v(16, "overlay", m.overlay);
  v(17, "auxiliary_rate_bps", policy.auxiliary_rate_bps);
  v(18, "round_time", policy.round_time);
  v(19, "source", m.source);
  v.List(20, "left_out", m.left_out, [](auto& within, std::pair<NodeId, NodeId>& link) {
    within(1, "from", link.first);
    within(2, "to", link.second);
  });
  v.Check([&policy](FieldReader& fields) {
    fields.Expect(!std::isnan(policy.rate_bps) && !std::isnan(policy.bound_bps), "rate_bps", "a number", "none");
    policy.round_time = std::max(absl::ZeroDuration(), policy.round_time);
  });
}

template <typename Visitor>
void Fields(Visitor& v, TermRecord& m) {
  v(1, "term", m.term);
  v(2, "job", m.job);
}

template <typename Visitor>
void Fields(Visitor& v, NodeRecord& m) {
  v(1, "node", m.node);
  v(2, "name", m.name);
  v(3, "address", m.address);
  v(4, "incarnation", m.incarnation);
  v(5, "public_key", m.public_key);
}

template <typename Visitor>
void Fields(Visitor& v, KeyRecord& m) {
  v(1, "name", m.name);
  v(2, "elements", m.elements);
  v.List(3, "parts", m.layout.parts, [](auto& within, TensorLayout::Part& part) {
    within(1, "name", part.name);
    within(2, "elements", part.elements);
  });
  v(4, "type", m.layout.type, UpTo{kLastElementType});
  v(5, "borders", m.borders, Entries{0, KeyRoutes::kMostSlices - 1});
  v.Check([&m](FieldReader& fields) {
    const std::optional<size_t> bad = FindBadBorder(m.elements, m.borders);
    fields.Expect(!bad.has_value(), "borders", "numbers that rise within the key", "others");
  });
}

template <typename Visitor>
void Fields(Visitor& v, KeysRecord& m) {
  v(1, "first_key", m.first_key);
  v(2, "keys", m.keys);
}

template <typename Visitor>
void Fields(Visitor& v, BoundRounds& m) {
  v(1, "key", m.key);
  v(2, "first_round", m.first_round);
  RoundsField(v, 3, m.first_round, m.last_round);
  v(4, "policy", m.policy);
  v(5, "attempt", m.attempt);
  v(6, "chunk_max_elements", m.chunk_max_elements, kAnyElements);
  v.MoreKeys(7);
  RouteField(v, 8, m.route);
}

template <typename Visitor>
void Fields(Visitor& v, BindingsRecord& m) {
  v.Runs(1, "bindings", m.bindings);
}

template <typename Visitor>
void Fields(Visitor& v, CutRecord::Entry& m) {
  v(1, "key", m.key);
  v(2, "round", m.round);
  v.MoreKeys(3);
  RouteField(v, 4, m.route);
  v(5, "chunk_max_elements", m.chunk_max_elements, kAnyElements);
}

template <typename Visitor>
void Fields(Visitor& v, CutRecord& m) {
  v(1, "policy", m.policy);
  v.Runs(2, "rounds", m.rounds);
}

template <typename Visitor>
void Fields(Visitor& v, ClosedRecord& m) {
  v.Runs(1, "rounds", m.rounds);
}

template <typename Visitor>
void Fields(Visitor& v, BarrierRecord& m) {
  v(1, "barrier", m.barrier);
  v(2, "left_out", m.left_out);
}

template <typename Visitor>
void Fields(Visitor& v, EndRecord& m) {
  v(1, "reason", m.reason);
  v(2, "end", m.end, UpTo{JobEnd::kStopped});
}

template <typename Visitor>
void Fields(Visitor& v, EpochMember& m) {
  v(1, "node", m.node);
  v(2, "incarnation", m.incarnation);
  v(3, "joined_in", m.joined_in);
  v(4, "barriers_before", m.barriers_before);
  v(5, "departed", m.departed, UpTo{Departed::kForGood});
}

template <typename Visitor>
void Fields(Visitor& v, EpochRecord& m) {
  v(1, "epoch", m.epoch);
  v(2, "members", m.members);
  v(3, "reason", m.reason);
}

template <typename Visitor>
void Fields(Visitor& v, EpochPlanRecord& m) {
  v(1, "epoch", m.epoch);
  v(2, "policy", m.policy);
  v.List(3, "frontiers", m.frontiers, [](auto& within, EpochPlan::Frontier& frontier) {
    within(1, "first_key", frontier.first_key);
    within(2, "last_key", frontier.last_key);
    within(3, "first_open", frontier.first_open);
    CheckKeysOf(within, frontier);
  });
  v.List(4, "bindings", m.bindings, [](auto& within, EpochPlan::Binding& binding) {
    within(1, "first_key", binding.first_key);
    within(2, "last_key", binding.last_key);
    within(3, "first_round", binding.first_round);
    RoundsField(within, 4, binding.first_round, binding.last_round);
    within(5, "attempt", binding.attempt);
    within(6, "chunk_max_elements", binding.chunk_max_elements, Range{int64_t{1}, kAnyElements.high});
    RouteField(within, 7, binding.route);
    CheckKeysOf(within, binding);
  });
}

template <typename Visitor>
void Fields(Visitor& v, RemovedRecord& m) {
  v(1, "node", m.node);
  v(2, "is_back", m.is_back);
}

template <typename Visitor>
void Fields(Visitor& v, OverlayRecord& m) {
  Fields(v, m.overlay);
}

template <typename Visitor>
void Fields(Visitor& v, PrecisionRecord& m) {
  Fields(v, m.state);
}

template <typename Visitor>
void Fields(Visitor& v, LeaveRecord& m) {
  v(1, "node", m.node);
  v(2, "is_asked_for", m.is_asked_for);
}

template <typename Visitor>
void Fields(Visitor& v, Setting& m) {
  v(1, "name", m.name);
  v(2, "value", m.value);
}

template <typename Visitor>
void Fields(Visitor& v, SettingsRecord& m) {
  std::vector<Setting> settings;
  for (const auto& [name, value] : m.settings) settings.push_back({name, value});
  v(1, "settings", settings);
  if constexpr (Visitor::kReads) {
    for (Setting& setting : settings) m.settings[setting.name] = std::move(setting.value);
  }
}

template <typename Visitor>
void Fields(Visitor& v, ClosedKey& m) {
  v(1, "key", m.key);
  v(2, "first_open", m.rounds.first_open);
  v(3, "beyond", m.rounds.beyond);
}

template <typename Visitor>
void Fields(Visitor& v, SummaryRecord& m) {
  v(1, "last_epoch", m.last_epoch);
  v(2, "last_policy", m.last_policy);
  v(3, "spent_nodes", m.spent_nodes);
  std::vector<ClosedKey> closed;
  for (const auto& [key, rounds] : m.closed) closed.push_back({key, rounds});
  v(4, "closed", closed);
  if constexpr (Visitor::kReads) {
    for (ClosedKey& key : closed) m.closed[key.key] = std::move(key.rounds);
  }
  v(5, "next_barrier", m.next_barrier);
  v(6, "overlay", m.overlay);
  v(7, "members", m.members);
  v(8, "planned_epoch", m.planned_epoch);
  v(9, "removed_nodes", m.removed_nodes);
  v(10, "plan_policy", m.plan_policy);
  v(11, "end", m.end);
  SettingsRecord settings{m.settings};
  v(12, "settings", settings);
  if constexpr (Visitor::kReads) m.settings = std::move(settings.settings);
}

namespace {

// The alternatives of StateRecord, in their order, with their numbers in state_record.proto.
constexpr std::array<MessageKind, std::variant_size_v<StateRecord>> kKinds = {{{1, "term"},
                                                                               {2, "node"},
                                                                               {3, "keys"},
                                                                               {4, "policy"},
                                                                               {5, "bindings"},
                                                                               {6, "closed"},
                                                                               {7, "barrier"},
                                                                               {8, "end"},
                                                                               {10, "summary"},
                                                                               {11, "epoch_start"},
                                                                               {12, "epoch_plan"},
                                                                               {13, "removed"},
                                                                               {14, "cut"},
                                                                               {15, "left"},
                                                                               {16, "settings"},
                                                                               {17, "overlay"},
                                                                               {18, "precision"}}};

// Many more entries than a record of this scheduler has: one for each key, for each request that waited, or for each
// lease of a part of a snapshot. What is none takes no more memory.
WireLimits RecordLimits() {
  WireLimits limits;
  limits.max_entries = 1 << 21;
  return limits;
}

}  // namespace

void ClosedRounds::AdvanceTo(Round open) {
  if (open <= first_open) return;
  first_open = open;
  beyond.erase(beyond.begin(), beyond.lower_bound(open));
  while (!beyond.empty() && *beyond.begin() == first_open) {
    beyond.erase(beyond.begin());
    first_open = first_open.Next();
  }
}

void ClosedRounds::Add(Round round) {
  beyond.insert(round);
  while (!beyond.empty() && *beyond.begin() == first_open) {
    beyond.erase(beyond.begin());
    first_open = first_open.Next();
  }
}

std::string EncodeStateRecord(const StateRecord& record) { return EncodeOneOf(record, kKinds); }

absl::StatusOr<StateRecord> DecodeStateRecord(const std::string& bytes) {
  const Enveloped envelope = OpenEnvelope(bytes);
  const MessageKind* const kind = KindOfNumber(kKinds, envelope.number);
  if (kind == nullptr || envelope.length != envelope.body.size()) {
    return absl::DataLossError(
        absl::StrCat("malformed state record: ", bytes.size(), " bytes of a kind that this version does not know"));
  }
  const WireLimits limits = RecordLimits();
  absl::Status error;
  StateRecord record;
  ReadOneOf(envelope, kKinds, FieldReader(limits, error), record);
  if (error.ok()) return record;
  return absl::DataLossError(absl::StrCat("malformed state record: ", kind->name, ": ", error.message()));
}

std::string EncodeSnapshot(std::vector<std::string> records) {
  std::string snapshot;
  for (const std::string& record : records) snapshot += SealEnvelope(1, record);
  return snapshot;
}

absl::StatusOr<std::vector<std::string>> DecodeSnapshot(const std::string& bytes) {
  FieldIndex index;
  if (!index.Parse(bytes)) return absl::DataLossError("malformed snapshot of the state");
  std::vector<std::string> records;
  index.Each(1, [&records](absl::string_view record) { records.emplace_back(record); });
  return records;
}

}  // namespace banyan
