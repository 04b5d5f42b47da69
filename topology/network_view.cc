#include "topology/network_view.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

bool NodeBefore(const NetworkNode& node, NodeId id) { return node.id < id; }

bool LinkBefore(const NetworkLink& a, const NetworkLink& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); }

bool IsRate(double bps) { return std::isfinite(bps) && bps > 0; }

absl::Status CheckNodes(const std::vector<NetworkNode>& nodes) {
  std::set<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NetworkNode& node = nodes[i];
    if (i > 0 && nodes[i - 1].id == node.id) {
      return absl::InvalidArgumentError(
          absl::StrCat("two nodes have the id ", node.id.value(), ": '", nodes[i - 1].name, "' and '", node.name, "'"));
    }
    if (!names.insert(node.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two nodes have the name '", node.name, "'"));
    }
    if (!IsRate(node.up_cap_bps.value_or(1)) || !IsRate(node.down_cap_bps.value_or(1))) {
      return absl::InvalidArgumentError(absl::StrCat("the caps of node '", node.name, "' must be positive and finite"));
    }
  }
  return absl::OkStatus();
}

// Marks every node that `start` reaches when each link is followed from its `from` to its `to`, or backwards.
std::vector<bool> Reach(const std::vector<std::vector<size_t>>& neighbours) {
  std::vector<bool> reached(neighbours.size(), false);
  std::vector<size_t> open = {0};
  reached[0] = true;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const size_t next : neighbours[at]) {
      if (reached[next]) continue;
      reached[next] = true;
      open.push_back(next);
    }
  }
  return reached;
}

}  // namespace

absl::StatusOr<NetworkView> NetworkView::Create(std::vector<NetworkNode> nodes, std::vector<NetworkLink> links,
                                                std::vector<SharedCapacity> shared) {
  NetworkView view;
  view.nodes_ = std::move(nodes);
  view.links_ = std::move(links);
  std::stable_sort(view.nodes_.begin(), view.nodes_.end(),
                   [](const NetworkNode& a, const NetworkNode& b) { return a.id < b.id; });
  std::stable_sort(view.links_.begin(), view.links_.end(), LinkBefore);
  if (absl::Status status = CheckNodes(view.nodes_); !status.ok()) return status;
  view.first_link_.assign(view.nodes_.size() + 1, view.links_.size());
  for (size_t i = view.links_.size(); i-- > 0;) {
    const NetworkLink& link = view.links_[i];
    const std::string what = absl::StrCat("the link from ", view.NameOf(link.from), " to ", view.NameOf(link.to));
    const std::optional<size_t> from = view.IndexOf(link.from);
    if (!from.has_value() || !view.IndexOf(link.to).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(what, " names an unknown node"));
    }
    if (link.from == link.to) return absl::InvalidArgumentError(absl::StrCat(what, " joins a node to itself"));
    if (!IsRate(link.throughput_bps) || !(link.loss_fraction >= 0 && link.loss_fraction < 1) ||
        !(link.price_per_gb >= 0 && std::isfinite(link.price_per_gb)) || link.delay < absl::ZeroDuration() ||
        link.delay == absl::InfiniteDuration()) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " needs a finite throughput above 0, a finite delay and price of at least 0, and a loss in [0, 1)"));
    }
    if (i > 0 && !LinkBefore(view.links_[i - 1], link)) {
      return absl::InvalidArgumentError(absl::StrCat(what, " is given twice"));
    }
    view.first_link_[*from] = i;
  }
  for (size_t i = view.nodes_.size(); i-- > 0;) {
    view.first_link_[i] = std::min(view.first_link_[i], view.first_link_[i + 1]);
  }
  if (absl::Status status = view.Share(std::move(shared)); !status.ok()) return status;
  return view;
}

absl::Status NetworkView::Share(std::vector<SharedCapacity> shared) {
  std::vector<std::vector<size_t>> shared_by(links_.size());
  for (SharedCapacity& capacity : shared) {
    if (!IsRate(capacity.capacity_bps)) {
      return absl::InvalidArgumentError("what links share must be a positive and finite rate");
    }
    std::sort(capacity.links.begin(), capacity.links.end());
    capacity.links.erase(std::unique(capacity.links.begin(), capacity.links.end()), capacity.links.end());
    std::erase_if(capacity.links, [this](const auto& ends) { return FindLink(ends.first, ends.second) == nullptr; });
    if (capacity.links.empty()) continue;
    for (const auto& [from, to] : capacity.links) {
      shared_by[static_cast<size_t>(FindLink(from, to) - links_.data())].push_back(shared_.size());
    }
    shared_.push_back(std::move(capacity));
  }
  for (const std::vector<size_t>& of_link : shared_by) {
    first_shared_.push_back(shared_by_.size());
    shared_by_.insert(shared_by_.end(), of_link.begin(), of_link.end());
  }
  first_shared_.push_back(shared_by_.size());
  return absl::OkStatus();
}

std::optional<size_t> NetworkView::IndexOf(NodeId id) const {
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), id, NodeBefore);
  if (found == nodes_.end() || found->id != id) return std::nullopt;
  return static_cast<size_t>(found - nodes_.begin());
}

const NetworkNode* NetworkView::FindNode(NodeId id) const {
  const std::optional<size_t> index = IndexOf(id);
  return index.has_value() ? &nodes_[*index] : nullptr;
}

const NetworkNode* NetworkView::FindNodeByName(const std::string& name) const {
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&name](const NetworkNode& node) { return node.name == name; });
  return found == nodes_.end() ? nullptr : &*found;
}

absl::Span<const NetworkLink> NetworkView::LinksFrom(NodeId id) const {
  const std::optional<size_t> index = IndexOf(id);
  if (!index.has_value()) return {};
  return links().subspan(first_link_[*index], first_link_[*index + 1] - first_link_[*index]);
}

const NetworkLink* NetworkView::FindLink(NodeId from, NodeId to) const {
  const absl::Span<const NetworkLink> candidates = LinksFrom(from);
  const auto found = std::lower_bound(candidates.begin(), candidates.end(), to,
                                      [](const NetworkLink& link, NodeId id) { return link.to < id; });
  return found == candidates.end() || found->to != to ? nullptr : &*found;
}

std::string NetworkView::NameOf(NodeId id) const {
  const NetworkNode* node = FindNode(id);
  return node == nullptr ? absl::StrCat("node ", id.value()) : node->name;
}

absl::StatusOr<NetworkView> NetworkView::Restrict(absl::Span<const NodeId> members) const {
  const std::set<NodeId> wanted(members.begin(), members.end());
  std::vector<NetworkNode> nodes;
  for (const NodeId id : wanted) {
    const NetworkNode* node = FindNode(id);
    if (node == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("the network has no node with the id ", id.value()));
    }
    nodes.push_back(*node);
  }
  std::vector<NetworkLink> links;
  for (const NetworkLink& link : links_) {
    if (wanted.count(link.from) > 0 && wanted.count(link.to) > 0) links.push_back(link);
  }
  return Create(std::move(nodes), std::move(links), shared_);
}

absl::Status NetworkView::CheckConnected() const {
  if (nodes_.size() < 2) return absl::OkStatus();
  std::vector<std::vector<size_t>> forward(nodes_.size());
  std::vector<std::vector<size_t>> backward(nodes_.size());
  for (const NetworkLink& link : links_) {
    forward[*IndexOf(link.from)].push_back(*IndexOf(link.to));
    backward[*IndexOf(link.to)].push_back(*IndexOf(link.from));
  }
  const std::vector<bool> reached = Reach(forward);
  const std::vector<bool> reaching = Reach(backward);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (reached[i] && reaching[i]) continue;
    const std::string& from = reached[i] ? nodes_[i].name : nodes_[0].name;
    const std::string& to = reached[i] ? nodes_[0].name : nodes_[i].name;
    return absl::FailedPreconditionError(
        absl::StrCat("the overlay is disconnected: no path of links leads from '", from, "' to '", to, "'"));
  }
  return absl::OkStatus();
}

std::optional<std::vector<size_t>> LinksOfPath(const std::vector<NodeId>& path, const NetworkView& view) {
  std::vector<size_t> links;
  for (size_t i = 1; i < path.size(); ++i) {
    const NetworkLink* link = view.FindLink(path[i - 1], path[i]);
    if (link == nullptr) return std::nullopt;
    links.push_back(static_cast<size_t>(link - view.links().data()));
  }
  return links;
}

}  // namespace banyan
