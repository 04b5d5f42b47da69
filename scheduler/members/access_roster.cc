#include "scheduler/members/access_roster.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace banyan {
namespace {

void Append(const std::vector<PersonConfig>& people, Role role, std::vector<ListedKey>& keys) {
  for (const PersonConfig& person : people) keys.push_back({person.public_key, role, person.name, NodeId()});
}

}  // namespace

bool AccessRoster::Update(const OverlayConfig& overlay, const Membership& members) {
  std::vector<ListedKey> people;
  Append(overlay.operators, Role::kOperator, people);
  Append(overlay.observers, Role::kObserver, people);
  std::set<std::string> taken = {""};
  for (const NodeConfig& node : overlay.nodes) taken.insert(node.public_key);
  for (const ListedKey& person : people) taken.insert(person.public_key);
  std::vector<ListedKey> nodes;
  for (const Member& member : members.all()) {
    const NodeConfig& node = overlay.nodes[member.id.value() - 1];
    if (node.public_key.empty() || member.is_removed) continue;
    nodes.push_back({node.public_key, Role::kNode, node.name, member.id});
    const bool has_former = members.IsIn(member) && taken.count(member.public_key) == 0;
    if (has_former) nodes.push_back({member.public_key, Role::kNode, node.name, member.id});
  }
  const bool is_new = nodes != nodes_ || people != people_;
  nodes_ = std::move(nodes);
  people_ = std::move(people);
  return is_new;
}

bool AccessRoster::HasFormer(NodeId node) const {
  return std::count_if(nodes_.begin(), nodes_.end(), [node](const ListedKey& key) { return key.node == node; }) > 1;
}

std::vector<ListedKey> AccessRoster::All() const {
  std::vector<ListedKey> all = nodes_;
  all.insert(all.end(), people_.begin(), people_.end());
  return all;
}

}  // namespace banyan
