// A policy as far as one node needs to know it: its own place in every tree, all shares, its auxiliary paths, its
// neighbours' addresses. Immutable once published. Values; thread-compatible.
#ifndef BANYAN_PROTO_POLICY_SLICE_H_
#define BANYAN_PROTO_POLICY_SLICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/data_type.h"
#include "core/ids.h"

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

// A tree neighbour that is reached over relays alone: no connection says who it is, so that its chunks must.
struct RelayedSlice {
  NodeId node;
  Incarnation incarnation;

  friend bool operator==(const RelayedSlice&, const RelayedSlice&) = default;
};

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

}  // namespace banyan

#endif  // BANYAN_PROTO_POLICY_SLICE_H_
