// A policy as far as one node needs to know it: its own place in every tree, all shares, its auxiliary paths, its
// neighbours' addresses. Immutable once published. Values; thread-compatible.
#ifndef BANYAN_PROTO_POLICY_SLICE_H_
#define BANYAN_PROTO_POLICY_SLICE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/data_type.h"
#include "core/ids.h"
#include "proto/fields.h"
#include "proto/precision/key_routes.h"

namespace banyan {

// The choice of the estimate that decides about a link's rate. A value; thread-compatible.
enum class RateEstimator : uint8_t {
  kDelivery,     // what arrives between two acknowledgements (awareness/delivery_rate_estimator.h)
  kOneWayDelay,  // NETSTORM's Eq. 14: a chunk's size over its time under way (awareness/one_way_delay_estimator.h)
};

// Returns the name of `estimator` in the overlay's file.
inline constexpr const char* NameOf(RateEstimator estimator) {
  return estimator == RateEstimator::kDelivery ? "delivery" : "one_way_delay";
}

// Less of a round's time is no time at all.
inline constexpr double kLeastBudgetShare = 1e-12;
inline constexpr Range kAnyRate = {0.0, std::numeric_limits<double>::max()};

// The nodes below one in a tree.
template <typename Visitor>
void ChildrenField(Visitor& v, int number, const char* name, std::vector<NodeId>& children) {
  v(number, name, children, kNonZero);
  v.Check([&, name](FieldReader& fields) {
    const bool rises = std::adjacent_find(children.begin(), children.end(), std::greater_equal<>()) == children.end();
    fields.Expect(rises, name, "ids in rising order", "others");
  });
}

// One node's place in one tree. At the root both parents are absent.
struct TreeSlice {
  NodeId root;
  double share = 0;
  std::optional<NodeId> reduce_parent;
  std::vector<NodeId> reduce_children;  // in rising order
  std::optional<NodeId> broadcast_parent;
  std::vector<NodeId> broadcast_children;  // in rising order

  friend bool operator==(const TreeSlice&, const TreeSlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TreeSlice& m) {
  v(1, "root", m.root, kNonZero);
  v(2, "share", m.share, Range{0.0, 1.0});
  v(3, "reduce_parent", m.reduce_parent, kNonZero);
  ChildrenField(v, 4, "reduce_children", m.reduce_children);
  v(5, "broadcast_parent", m.broadcast_parent, kNonZero);
  ChildrenField(v, 6, "broadcast_children", m.broadcast_children);
  v.Check([&m](FieldReader& fields) {
    fields.Expect(m.reduce_parent.has_value() == m.broadcast_parent.has_value(), "broadcast_parent",
                  "a parent in both halves, or in none at the root", "one in one half");
  });
}

// The way to a tree neighbour over other nodes: a route where there is no direct link, or an auxiliary path. Both ends
// included.
struct RouteSlice {
  std::vector<NodeId> path;
  double rate_bps = 0;  // of its slowest link, 0 when unknown
  absl::Duration round_trip = absl::ZeroDuration();
  double share = 0;  // of an auxiliary path: the part of its tree edge's traffic that the plan means it to carry
  // On an auxiliary path: the least part that the trees leave of its links and relays when rounds are as planned.
  double spare = 0;
  // The path is an auxiliary path over a link that no tree uses, and that nothing would measure without it.
  bool crosses_idle_link = false;

  friend bool operator==(const RouteSlice&, const RouteSlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RouteSlice& m) {
  PathField(v, 1, m.path);
  v(2, "rate_bps", m.rate_bps, kAnyRate);
  v(3, "round_trip", m.round_trip, kNotNegative);
  v(4, "share", m.share, Range{0.0, 1.0});
  v(5, "spare", m.spare, Range{0.0, 1.0});
  v(6, "crosses_idle_link", m.crosses_idle_link);
}

// A node to which this one keeps connections: tree neighbours, relays of its routes, and those for whom it relays.
struct NeighbourSlice {
  NodeId node;
  std::string name;
  std::string address;
  Incarnation incarnation;
  double rate_bps = 0;  // of the link to it, 0 when unknown
  absl::Duration round_trip = absl::ZeroDuration();
  // The part that the link to it may take of the time that a user gives a round, in (0, 1]; for the ratio controller
  // `budget`.
  double budget_share = 1;
  // The rate that the link to it reaches while both ends use their links as planned. Present where a host's cap makes
  // that less than the link's rate; 0 where no tree uses the link.
  std::optional<double> capped_bps;
  bool rate_is_guessed = false;  // nobody has told or measured it

  friend bool operator==(const NeighbourSlice&, const NeighbourSlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, NeighbourSlice& m) {
  v(1, "node", m.node, kNonZero);
  v(2, "name", m.name, kName);
  v(3, "address", m.address, kName);
  v(4, "incarnation", m.incarnation, kNonZero);
  v(5, "rate_bps", m.rate_bps, kAnyRate);
  v(6, "round_trip", m.round_trip, kNotNegative);
  ShareField(v, 7, "budget_share", m.budget_share, kLeastBudgetShare);
  v(8, "capped_bps", m.capped_bps, kAnyRate);
  v(9, "rate_is_guessed", m.rate_is_guessed);
}

// A tree neighbour that is reached over relays alone: no connection says who it is, so that its chunks must.
struct RelayedSlice {
  NodeId node;
  Incarnation incarnation;

  friend bool operator==(const RelayedSlice&, const RelayedSlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RelayedSlice& m) {
  v(1, "node", m.node, kNonZero);
  v(2, "incarnation", m.incarnation, kNonZero);
}

struct KeySlice {
  KeyId key;
  std::string name;
  int64_t elements = 0;
  uint64_t layout = 0;  // its TensorLayout's hash
  DataType type = DataType::kFloat32;
  // Where its precision binding tells slices apart: the first elements of those after the first, rising.
  std::vector<int64_t> borders = {};

  friend bool operator==(const KeySlice&, const KeySlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, KeySlice& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "name", m.name, kName);
  v(3, "elements", m.elements, Range{int64_t{1}, v.limits().max_key_elements});
  v(5, "layout", Fixed(m.layout));
  v(6, "type", m.type, UpTo{kLastElementType});
  v(7, "borders", m.borders, Entries{0, KeyRoutes::kMostSlices - 1});
  v.Check([&m](FieldReader& fields) {
    int64_t least = 1;
    for (int64_t& border : m.borders) {
      border = fields.Between("borders", border, least, m.elements - 1);
      least = border + 1;
    }
  });
}

// The settings by which a node sends and measures; the same on every node of a policy.
struct TransmissionSettings {
  bool measures = true;  // reports what it learns about links
  int64_t probe_chunk_bytes = 40000;
  uint32_t probe_chunks = 4;
  bool uses_auxiliary_paths = true;
  uint32_t primary_busy_bound = 2;      // chunks beyond the bandwidth-delay product
  uint32_t auxiliary_queue_length = 5;  // chunks beyond the bandwidth-delay product
  RateEstimator estimator = RateEstimator::kDelivery;

  friend bool operator==(const TransmissionSettings&, const TransmissionSettings&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, TransmissionSettings& m) {
  // Of probes and queues.
  constexpr Range kChunks = {0u, 1u << 20};
  v(1, "measures", m.measures);
  v(2, "probe_chunk_bytes", m.probe_chunk_bytes, Range{int64_t{1}, int64_t{1} << 50});
  v(3, "probe_chunks", m.probe_chunks, Range{1u, kChunks.high});
  v(4, "uses_auxiliary_paths", m.uses_auxiliary_paths);
  v(5, "primary_busy_bound", m.primary_busy_bound, kChunks);
  v(6, "auxiliary_queue_length", m.auxiliary_queue_length, kChunks);
  v(7, "estimator", m.estimator, UpTo{RateEstimator::kOneWayDelay});
}

struct PolicySlice {
  PolicyVersion version;
  Epoch epoch;
  KeyTableVersion key_table;
  int64_t chunk_max_elements = 0;
  uint32_t member_count = 0;
  NodeId source;  // the member whose values a kBroadcast round takes
  std::vector<TreeSlice> trees;
  std::vector<RouteSlice> routes;
  std::vector<RouteSlice> auxiliary;  // of this node's tree edges; those to one neighbour are in order of preference
  std::vector<NeighbourSlice> neighbours;
  std::vector<RelayedSlice> relayed;  // tree neighbours that are not among them, in rising order
  TransmissionSettings transmission;

  friend bool operator==(const PolicySlice&, const PolicySlice&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PolicySlice& m) {
  v(1, "version", m.version, kNonZero);
  v(2, "epoch", m.epoch);
  v(3, "key_table", m.key_table);
  v(4, "chunk_max_elements", m.chunk_max_elements, Range{int64_t{1}, v.limits().max_chunk_elements});
  v(5, "member_count", m.member_count, Range{1u, static_cast<uint32_t>(v.limits().max_entries)});
  v(6, "source", m.source, kNonZero);
  v(7, "trees", m.trees, Entries{1, v.limits().max_entries});
  v(8, "routes", m.routes);
  v(9, "auxiliary", m.auxiliary);
  v(10, "neighbours", m.neighbours);
  v(11, "transmission", m.transmission);
  v(12, "relayed", m.relayed);
}

}  // namespace banyan

#endif  // BANYAN_PROTO_POLICY_SLICE_H_
