#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>

#include "core/ids.h"
#include "topology/packing/packed_planner.h"

namespace banyan {
namespace {

class Extension {
 public:
  explicit Extension(const NetworkView& view) : view_(view), loads_(view.links().size(), 0) {}

  // Empty when the tree has other nodes, or when a new one has no link with it.
  std::optional<Tree> Extend(const Tree& tree) {
    size_t known = 0;
    std::vector<NodeId> added;
    for (const NetworkNode& node : view_.nodes()) {
      const bool is_known = node.id == tree.root || tree.reduce_parent.count(node.id) > 0;
      known += is_known ? 1 : 0;
      if (!is_known) added.push_back(node.id);
    }
    if (known != tree.reduce_parent.size() + 1) return std::nullopt;
    Tree extended = tree;
    for (const NodeId node : added) {
      if (!AddLeaf(node, extended)) return std::nullopt;
    }
    return extended;
  }

 private:
  bool AddLeaf(NodeId node, Tree& tree) {
    const NetworkLink* reduce = nullptr;
    const NetworkLink* broadcast = nullptr;
    for (const NetworkNode& parent : view_.nodes()) {
      if (parent.id != tree.root && tree.reduce_parent.count(parent.id) == 0) continue;
      Prefer(view_.FindLink(node, parent.id), tree.share, reduce);
      Prefer(view_.FindLink(parent.id, node), tree.share, broadcast);
    }
    if (reduce == nullptr || broadcast == nullptr) return false;
    Load(*reduce) += tree.share;
    Load(*broadcast) += tree.share;
    tree.reduce_parent[node] = reduce->to;
    tree.broadcast_parent[node] = broadcast->from;
    return true;
  }

  double& Load(const NetworkLink& link) { return loads_[static_cast<size_t>(&link - view_.links().data())]; }

  // Takes the link, if there is one, instead of `best` if it would be loaded less.
  void Prefer(const NetworkLink* link, double share, const NetworkLink*& best) {
    const auto load = [&](const NetworkLink& on) { return (Load(on) + share) / on.throughput_bps; };
    if (link == nullptr) return;
    if (best == nullptr || load(*link) < load(*best)) best = link;
  }

  const NetworkView& view_;
  std::vector<double> loads_;  // by link, of what is added
};

}  // namespace

std::vector<Tree> ExtendTrees(const std::vector<Tree>& trees, const NetworkView& view) {
  std::vector<size_t> order(trees.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&trees](size_t a, size_t b) { return trees[a].share > trees[b].share; });
  Extension extension(view);
  std::vector<std::optional<Tree>> extended(trees.size());
  for (const size_t tree : order) extended[tree] = extension.Extend(trees[tree]);
  std::vector<Tree> kept;
  for (std::optional<Tree>& tree : extended) {
    if (tree.has_value()) kept.push_back(*std::move(tree));
  }
  return kept;
}

std::vector<Tree> PruneTrees(const std::vector<Tree>& trees, const NetworkView& view) {
  const auto prune = [&view](const std::map<NodeId, NodeId>& parents) {
    std::map<NodeId, NodeId> pruned;
    for (auto [node, parent] : parents) {
      if (view.FindNode(node) == nullptr) continue;
      while (view.FindNode(parent) == nullptr) parent = parents.at(parent);
      pruned[node] = parent;
    }
    return pruned;
  };
  std::vector<Tree> pruned;
  for (const Tree& tree : trees) {
    if (view.FindNode(tree.root) == nullptr) continue;
    pruned.push_back({tree.root, tree.share, prune(tree.reduce_parent), prune(tree.broadcast_parent)});
  }
  return pruned;
}

}  // namespace banyan
