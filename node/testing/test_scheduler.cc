#include "node/testing/test_scheduler.h"

#include <iterator>
#include <variant>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

void AddHops(const std::vector<uint32_t>& path, uint32_t self, std::set<uint32_t>& neighbours) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i] == self) neighbours.insert(path[i + 1]);
    if (path[i + 1] == self) neighbours.insert(path[i]);
  }
}

// The tree neighbours of a node at `place`.
std::set<uint32_t> TreeNeighboursOf(const TreeSlice& place) {
  std::set<uint32_t> all;
  for (NodeId child : place.reduce_children) all.insert(child.value());
  for (NodeId child : place.broadcast_children) all.insert(child.value());
  if (place.reduce_parent.has_value()) all.insert(place.reduce_parent->value());
  if (place.broadcast_parent.has_value()) all.insert(place.broadcast_parent->value());
  return all;
}

std::vector<NodeId> ChildrenOf(uint32_t node, const std::map<uint32_t, uint32_t>& parents) {
  std::vector<NodeId> children;
  for (const auto& [child, parent] : parents) {
    if (parent == node) children.push_back(NodeId(child));
  }
  return children;
}

}  // namespace

std::string TestAddress(uint32_t node) { return absl::StrCat("tcp://10.0.0.", node, ":7701"); }
Incarnation TestIncarnation(uint32_t node) { return Incarnation(100 + node); }

TestPlan TestPlan::Star(uint32_t nodes) {
  TestTree tree;
  for (uint32_t node = 2; node <= nodes; ++node) tree.reduce[node] = tree.broadcast[node] = 1;
  return {nodes, {tree}, {}};
}

TestPlan TestPlan::Chain(uint32_t nodes) {
  TestTree tree;
  for (uint32_t node = 2; node <= nodes; ++node) tree.reduce[node] = tree.broadcast[node] = node - 1;
  return {nodes, {tree}, {}};
}

PolicySlice TestPlan::Slice(uint32_t node, const JobConfig& config) const {
  PolicySlice slice;
  slice.epoch = Epoch(1);
  slice.chunk_max_elements = config.chunk_max_elements;
  slice.member_count = nodes;
  slice.source = NodeId(1);
  std::set<uint32_t> neighbours;
  std::set<uint32_t> relayed;
  auto add_edge = [&](uint32_t from, uint32_t to) {
    for (const std::vector<uint32_t>& route : routes) {
      if (route.front() == from && route.back() == to) return AddHops(route, node, neighbours);
    }
    AddHops({from, to}, node, neighbours);
  };
  for (const TestTree& tree : trees) {
    TreeSlice& place = slice.trees.emplace_back();
    place.root = NodeId(tree.root);
    place.share = 1.0 / static_cast<double>(trees.size());
    if (tree.reduce.count(node) > 0) place.reduce_parent = NodeId(tree.reduce.at(node));
    if (tree.broadcast.count(node) > 0) place.broadcast_parent = NodeId(tree.broadcast.at(node));
    place.reduce_children = ChildrenOf(node, tree.reduce);
    place.broadcast_children = ChildrenOf(node, tree.broadcast);
    relayed.merge(TreeNeighboursOf(place));
    for (const auto& [child, parent] : tree.reduce) add_edge(child, parent);
    for (const auto& [child, parent] : tree.broadcast) add_edge(parent, child);
  }
  for (const std::vector<uint32_t>& route : routes) {
    if (route.front() != node) continue;
    RouteSlice& added = slice.routes.emplace_back();
    for (uint32_t hop : route) added.path.push_back(NodeId(hop));
  }
  for (uint32_t other : neighbours) {
    NeighbourSlice& added = slice.neighbours.emplace_back();
    added.node = NodeId(other);
    added.name = absl::StrCat("n", other);
    added.address = TestAddress(other);
    added.incarnation = TestIncarnation(other);
    relayed.erase(other);
  }
  for (uint32_t other : relayed) slice.relayed.push_back({NodeId(other), TestIncarnation(other)});
  return slice;
}

TestScheduler::TestScheduler(JobConfig config, TestPlan plan) : config_(std::move(config)), plan_(std::move(plan)) {
  for (uint32_t node = 1; node <= plan_.nodes; ++node) members_.insert(node);
}

void TestScheduler::OnMessage(uint32_t node, Message message) {
  said_.emplace_back(node, message);
  if (silent) return;
  std::visit(
      [&](const auto& concrete) {
        if constexpr (requires { this->On(node, concrete); }) On(node, concrete);
      },
      message);
}

void TestScheduler::UsePlan(TestPlan plan, int64_t chunk_max_elements) {
  plan_ = std::move(plan);
  config_.chunk_max_elements = chunk_max_elements;
  version = version.Next();
  published_.clear();
}

void TestScheduler::SayToAll(const Message& message) {
  for (uint32_t node : members_) Say(node, message);
}

void TestScheduler::ChangeMembers(const std::set<uint32_t>& members, TestPlan plan) {
  epoch = epoch.Next();
  std::erase_if(survivors_, [&](uint32_t node) { return !members.contains(node); });
  if (!changes_) survivors_ = members_;
  std::erase_if(survivors_, [&](uint32_t node) { return !members.contains(node); });
  members_ = members;
  plan_ = std::move(plan);
  reports_.clear();
  changes_ = true;
  SayToAll(EpochBegin{term, epoch, "members change"});
}

void TestScheduler::On(uint32_t node, const EpochReport& report) {
  if (!changes_ || report.epoch != epoch || !members_.contains(node)) return;
  reports_[node] = report;
  if (reports_.size() == members_.size() && !hold_plans) GoOn();
}

void TestScheduler::On(uint32_t node, const RoundBroken& broken) {
  // A fuzzed node may name any key.
  if (!ends_broken || broken.key.value() == 0 || broken.key.value() > keys_.size()) return;
  const std::string whose = broken.culprit == NodeId() ? "" : absl::StrCat("n", broken.culprit.value(), ": ");
  SayToAll(JobFailed{term, absl::StatusCode::kUnavailable,
                     absl::StrCat("n", node, " cannot finish round ", broken.round.value(), " of key '",
                                  keys_[broken.key.value() - 1].name, "': ", whose, broken.reason)});
}

Round TestScheduler::FirstOpen(KeyId key) const {
  std::optional<Round> least;
  for (uint32_t node : survivors_) {
    for (const EpochReport::Progress& run : reports_.at(node).progress) {
      if (key < run.first_key || run.last_key < key) continue;
      least = std::min(least.value_or(run.next), run.next);
    }
  }
  const auto bound = bound_.find(key);
  const Round after_bound = bound == bound_.end() ? Round(0) : bound->second.rbegin()->first.Next();
  const auto closed = next_closed_.find(key);
  return std::max(least.value_or(after_bound), closed == next_closed_.end() ? Round(0) : closed->second);
}

void TestScheduler::GoOn() {
  changes_ = false;
  version = version.Next();
  published_.clear();
  EpochPlan plan;
  plan.term = term;
  plan.epoch = epoch;
  plan.policy = version;
  for (const KeySlice& row : keys_) {
    const Round first_open = FirstOpen(row.key);
    plan.frontiers.push_back({row.key, row.key, first_open});
    next_closed_[row.key] = first_open;
    for (auto& [round, bound] : bound_[row.key]) {
      if (round < first_open || closed_.contains({row.key, round})) continue;
      bound.attempt = bound.attempt.Next();
      plan.bindings.push_back({row.key, row.key, round, round, bound.attempt, bound.chunk_max_elements, bound.route});
      held_.erase({row.key, round});
    }
  }
  epoch_plan_ = plan;
  for (uint32_t node : members_) {
    Publish(node);
    Say(node, plan);
  }
  SayToAll(PoliciesRetired{term, version});
  SayClosedBeyond();
}

void TestScheduler::SayClosedBeyond() {
  ClosedEverywhere beyond{term, {}};
  for (const auto& [key, round] : closed_) {
    if (round > next_closed_[key]) beyond.entries.push_back({key, round});
  }
  if (!beyond.entries.empty()) SayToAll(beyond);
}

void TestScheduler::Publish(uint32_t node) {
  if (!published_.insert(node).second) return;
  PolicyPublished published{term, plan_.Slice(node, config_)};
  published.slice.version = version;
  published.slice.epoch = epoch;
  published.slice.member_count = static_cast<uint32_t>(members_.size());
  published.slice.source = source;
  for (NeighbourSlice& neighbour : published.slice.neighbours) {
    neighbour.incarnation = incarnations_[neighbour.node.value()];
  }
  for (auto& relayed : published.slice.relayed) relayed.incarnation = incarnations_[relayed.node.value()];
  Say(node, std::move(published));
}

void TestScheduler::On(uint32_t node, const Join& join) {
  incarnations_[node] = join.incarnation;
  Say(node, JoinAccepted{term, NodeId(node), config_, start, !remembers});
  Say(node, MembershipUpdate{term, epoch, plan_.nodes, plan_.nodes, true, {}});
  if (!keys_.empty()) Say(node, KeysAssigned{term, KeyTableVersion(keys_.size()), keys_});
  if (!members_.contains(node)) return;
  if (changes_) return Say(node, EpochBegin{term, epoch, "members change"});
  if (!epoch_plan_.has_value()) return;
  published_.erase(node);
  Publish(node);
  Say(node, *epoch_plan_);
}

void TestScheduler::On(uint32_t node, const Heartbeat& heartbeat) {
  Say(node, HeartbeatReply{term, heartbeat.sent_at});
}

void TestScheduler::On(uint32_t node, const RegisterKeys& keys) {
  bool grew = false;
  for (const RegisterKeys::Key& key : keys.keys) {
    if (key.elements == 0) {
      Say(node, KeyRefused{term, key.name, "0 elements"});
      continue;
    }
    const KeySlice* known = nullptr;
    for (const KeySlice& row : keys_) {
      if (row.name == key.name) known = &row;
    }
    const bool is_same = known != nullptr && known->elements == key.elements && known->layout == key.layout.Hash();
    if (known != nullptr && !is_same) Say(node, KeyRefused{term, key.name, "another size"});
    if (known != nullptr) continue;
    keys_.push_back({KeyId(static_cast<uint32_t>(keys_.size() + 1)), key.name, key.elements, key.layout.Hash(),
                     key.layout.type, borders});
    grew = true;
  }
  const KeysAssigned table{term, KeyTableVersion(keys_.size()), keys_};
  if (grew) return SayToAll(table);
  Say(node, table);
}

void TestScheduler::On(uint32_t node, const PolicyRequest& request) {
  if (!members_.contains(node)) return;
  if (hold_policies.count(node) > 0 || changes_) {
    held_policies_.emplace_back(node, request);
    return;
  }
  Publish(node);
  PolicyAnswer answer{term, epoch, {}};
  for (const PolicyRequest::Entry& entry : request.entries) {
    if (closed_.contains({entry.key, entry.round})) continue;
    const auto next_closed = next_closed_.find(entry.key);
    if (epoch > Epoch(1) && next_closed != next_closed_.end() && entry.round < next_closed->second) continue;
    const Bound fresh{Attempt(0), config_.chunk_max_elements, RouteOf(entry.round)};
    const Bound& bound = bound_[entry.key].try_emplace(entry.round, fresh).first->second;
    answer.bindings.push_back({entry.key, entry.round, entry.round, version, bound.attempt, 0, bound.route});
  }
  Say(node, std::move(answer));
}

KeyRoutes TestScheduler::RouteOf(Round round) const {
  const auto after = routes.upper_bound(round);
  return after == routes.begin() ? KeyRoutes() : std::prev(after)->second;
}

void TestScheduler::ReleasePolicies() {
  hold_policies.clear();
  for (auto& [node, request] : std::exchange(held_policies_, {})) On(node, request);
}

void TestScheduler::On(uint32_t node, const RoundsClosed& closed) {
  if (!members_.contains(node)) return;
  for (const RoundsClosed::Entry& entry : closed.entries) {
    for (uint32_t more = 0; more <= entry.more_keys; ++more) TakeHeld(node, KeyId(entry.key.value() + more), entry);
  }
}

void TestScheduler::TakeHeld(uint32_t node, KeyId key, const RoundsClosed::Entry& entry) {
  std::map<uint32_t, RoundsClosed::Entry>& held = held_[{key, entry.round}];
  held[node] = entry;
  for (const auto& [other, its] : held) {
    if (its.key != entry.key || its.more_keys != entry.more_keys || its.hash == entry.hash) continue;
    unequal_hashes.push_back(absl::StrCat("round ", entry.round.value(), " at node ", node, " in epoch ", epoch.value(),
                                          changes_ ? "!" : ""));
  }
  if (held.size() < members_.size() || changes_) return;
  Round& next_closed = next_closed_[key];
  closed_.emplace(key, entry.round);
  while (closed_.contains({key, next_closed})) next_closed = next_closed.Next();
  ClosedEverywhere everywhere{term, {{key, entry.round}}};
  if (hold_closed) {
    held_closed_.push_back(std::move(everywhere));
  } else {
    SayToAll(everywhere);
  }
}

void TestScheduler::ReleaseClosed() {
  hold_closed = false;
  for (ClosedEverywhere& closed : std::exchange(held_closed_, {})) SayToAll(closed);
}

void TestScheduler::On(uint32_t node, const BarrierEntered& barrier) {
  barriers_[barrier.barrier].insert(node);
  if (barriers_[barrier.barrier].size() == members_.size()) SayToAll(BarrierReleased{term, barrier.barrier});
}

}  // namespace banyan
