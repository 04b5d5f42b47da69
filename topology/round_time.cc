#include "topology/round_time.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/check.h"
#include "topology/chunk_assignment.h"
#include "topology/path_links.h"
#include "topology/travel_time.h"

namespace banyan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What one link or cap carries in a round, in bits and seconds.
struct Station {
  double rate_bps = 0;
  double bits = 0;
  // Each times the bits that it belongs to.
  double head = 0;  // until a tree's first chunk can be there
  double tail = 0;  // from its last one's leaving to the end

  void Use(double volume, double until, double after) {
    bits += volume;
    head += volume * until;
    tail += volume * after;
  }
  double Finish() const { return bits > 0 ? (head + tail) / bits + bits / rate_bps : 0; }
};

// How the chunks of the tensors are divided over the trees.
struct Division {
  std::vector<double> bits;  // by TreeIndex
  double chunk_bits = 0;     // of the largest chunk
};

Division Divide(const Policy& policy, const std::vector<int64_t>& tensor_elements) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  absl::StatusOr<ChunkAssignment> chunks = ChunkAssignment::Create(shares, policy.chunk_max_elements);
  BANYAN_CHECK(chunks.ok());
  Division division;
  division.bits.assign(policy.trees.size(), 0);
  for (size_t i = 0; i < tensor_elements.size(); ++i) {
    const KeyId key(static_cast<uint32_t>(i + 1));
    BANYAN_CHECK(chunks->AddKey(key, tensor_elements[i]).ok());
    for (ChunkIndex chunk; chunk.value() < chunks->ChunksOf(key); chunk = chunk.Next()) {
      const double bits = kBitsPerElement * static_cast<double>(chunks->RangeOf(key, chunk).elements);
      division.bits[chunks->TreeOf(key, chunk).value()] += bits;
      division.chunk_bits = std::max(division.chunk_bits, bits);
    }
  }
  return division;
}

class Shop {
 public:
  Shop(const Policy& policy, const NetworkView& view, double chunk_bits) : view_(view), chunk_bits_(chunk_bits) {
    for (const Route& route : policy.routes) routes_[{route.from, route.to}] = &route.path;
    for (const NetworkLink& link : view.links()) links_.push_back({.rate_bps = link.throughput_bps});
    for (const NetworkNode& node : view.nodes()) {
      up_.push_back({.rate_bps = node.up_cap_bps.value_or(kNever)});
      down_.push_back({.rate_bps = node.down_cap_bps.value_or(kNever)});
    }
  }

  // Takes the tree's chunks through both halves; false when a link has vanished.
  bool Add(const Tree& tree, double bits);
  double Finish() const;

 private:
  // The path of a tree edge, as positions of links; empty when one has vanished.
  std::optional<std::vector<size_t>> PathOf(NodeId from, NodeId to) const;
  // What one chunk needs for these links.
  double TimeOf(const std::vector<size_t>& path) const;
  double HopTime(size_t link) const {
    return TravelSeconds(view_.links()[link]) + chunk_bits_ / view_.links()[link].throughput_bps;
  }
  // Adds an edge's traffic: its first chunk can start at `head`, and the last has `tail` before it at its end.
  void Use(const std::vector<size_t>& path, double bits, double head, double tail);

  const NetworkView& view_;
  const double chunk_bits_;
  std::map<std::pair<NodeId, NodeId>, const std::vector<NodeId>*> routes_;
  std::vector<Station> links_;
  std::vector<Station> up_;
  std::vector<Station> down_;
  double longest_tree_ = 0;  // of one chunk
};

std::optional<std::vector<size_t>> Shop::PathOf(NodeId from, NodeId to) const {
  const auto routed = routes_.find({from, to});
  const std::vector<NodeId> direct = {from, to};
  const std::vector<NodeId>& nodes = routed == routes_.end() ? direct : *routed->second;
  return LinksOfPath(nodes, view_);
}

double Shop::TimeOf(const std::vector<size_t>& path) const {
  double seconds = 0;
  for (const size_t link : path) seconds += HopTime(link);
  return seconds;
}

void Shop::Use(const std::vector<size_t>& path, double bits, double head, double tail) {
  double left = TimeOf(path) + tail;
  for (const size_t at : path) {
    const NetworkLink& link = view_.links()[at];
    left -= HopTime(at);
    const double after = left + TravelSeconds(link);
    links_[at].Use(bits, head, after);
    up_[*view_.IndexOf(link.from)].Use(bits, head, after);
    down_[*view_.IndexOf(link.to)].Use(bits, head, after);
    head += HopTime(at);
  }
}

// One half as a list of edges from the root outwards, with the time of each.
struct HalfEdges {
  struct Edge {
    NodeId node;
    NodeId parent;
    std::vector<size_t> path;
    double seconds = 0;
  };
  std::vector<Edge> edges;  // an edge comes after that of its parent

  // For each node the time to or from the root.
  std::map<NodeId, double> Distances(NodeId root) const {
    std::map<NodeId, double> distances = {{root, 0.0}};
    for (const Edge& edge : edges) distances[edge.node] = distances.at(edge.parent) + edge.seconds;
    return distances;
  }
  // For each node the time to or from the farthest one below it.
  std::map<NodeId, double> Heights(NodeId root) const {
    std::map<NodeId, double> heights = {{root, 0.0}};
    for (const Edge& edge : edges) heights[edge.node] = 0;
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
      double& height = heights.at(edge->parent);
      height = std::max(height, heights.at(edge->node) + edge->seconds);
    }
    return heights;
  }
};

// The nodes so that each comes after its parent.
std::vector<NodeId> FromTheRoot(NodeId root, const std::map<NodeId, NodeId>& parent_of) {
  std::map<NodeId, std::vector<NodeId>> children;
  for (const auto& [node, parent] : parent_of) children[parent].push_back(node);
  std::vector<NodeId> nodes = {root};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<NodeId>& next = children[nodes[i]];
    nodes.insert(nodes.end(), next.begin(), next.end());
  }
  nodes.erase(nodes.begin());
  return nodes;
}

bool Shop::Add(const Tree& tree, double bits) {
  HalfEdges reduce;
  HalfEdges broadcast;
  for (const bool up : {true, false}) {
    const std::map<NodeId, NodeId>& parent_of = up ? tree.reduce_parent : tree.broadcast_parent;
    for (const NodeId node : FromTheRoot(tree.root, parent_of)) {
      const NodeId parent = parent_of.at(node);
      std::optional<std::vector<size_t>> path = up ? PathOf(node, parent) : PathOf(parent, node);
      if (!path.has_value()) return false;
      const double seconds = TimeOf(*path);
      (up ? reduce : broadcast).edges.push_back({node, parent, *std::move(path), seconds});
    }
  }
  const std::map<NodeId, double> to_root = reduce.Distances(tree.root);
  const std::map<NodeId, double> summed = reduce.Heights(tree.root);
  const std::map<NodeId, double> from_root = broadcast.Distances(tree.root);
  const std::map<NodeId, double> below = broadcast.Heights(tree.root);
  for (const HalfEdges::Edge& edge : reduce.edges) {
    Use(edge.path, bits, summed.at(edge.node), to_root.at(edge.parent) + below.at(tree.root));
  }
  for (const HalfEdges::Edge& edge : broadcast.edges) {
    Use(edge.path, bits, summed.at(tree.root) + from_root.at(edge.parent), below.at(edge.node));
  }
  if (bits > 0) longest_tree_ = std::max(longest_tree_, summed.at(tree.root) + below.at(tree.root));
  return true;
}

double Shop::Finish() const {
  double finish = longest_tree_;
  for (const std::vector<Station>* stations : {&links_, &up_, &down_}) {
    for (const Station& station : *stations) finish = std::max(finish, station.Finish());
  }
  return finish;
}

}  // namespace

absl::Duration PredictRoundTime(const Policy& policy, const NetworkView& view,
                                const std::vector<int64_t>& tensor_elements) {
  const Division division = Divide(policy, tensor_elements);
  Shop shop(policy, view, division.chunk_bits);
  for (size_t i = 0; i < policy.trees.size(); ++i) {
    if (!shop.Add(policy.trees[i], division.bits[i])) return absl::InfiniteDuration();
  }
  return absl::Seconds(shop.Finish());
}

}  // namespace banyan
