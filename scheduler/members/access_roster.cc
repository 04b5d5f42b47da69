#include "scheduler/members/access_roster.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace banyan {
namespace {

void Append(const std::vector<PersonConfig>& people, Role role, std::vector<ListedKey>& keys) {
  for (const PersonConfig& person : people) keys.push_back({person.public_key, role, person.name, NodeId()});
}

}  // namespace

bool AccessRoster::Update(const OverlayConfig& overlay) {
  std::vector<ListedKey> nodes;
  std::set<std::string> taken;
  for (const NodeConfig& node : overlay.nodes) taken.insert(node.public_key);
  for (size_t i = 0; i < overlay.nodes.size(); ++i) {
    const NodeConfig& node = overlay.nodes[i];
    if (node.public_key.empty()) continue;
    const NodeId id(static_cast<uint32_t>(i + 1));
    nodes.push_back({node.public_key, Role::kNode, node.name, id});
    for (const ListedKey& former : nodes_) {
      if (former.node == id && taken.count(former.public_key) == 0) nodes.push_back(former);
    }
  }
  std::vector<ListedKey> people;
  Append(overlay.operators, Role::kOperator, people);
  Append(overlay.observers, Role::kObserver, people);
  const bool is_new = nodes != nodes_ || people != people_;
  nodes_ = std::move(nodes);
  people_ = std::move(people);
  return is_new;
}

bool AccessRoster::OnJoined(NodeId node, const std::string& public_key) {
  const auto newest =
      std::find_if(nodes_.begin(), nodes_.end(), [node](const ListedKey& key) { return key.node == node; });
  if (newest == nodes_.end() || newest->public_key != public_key) return false;
  const auto former = std::find_if(newest + 1, nodes_.end(), [node](const ListedKey& key) { return key.node != node; });
  const bool has_former = former != newest + 1;
  nodes_.erase(newest + 1, former);
  return has_former;
}

std::vector<ListedKey> AccessRoster::All() const {
  std::vector<ListedKey> all = nodes_;
  all.insert(all.end(), people_.begin(), people_.end());
  return all;
}

}  // namespace banyan
