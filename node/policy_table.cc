#include "node/policy_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status PolicyTable::AddKeys(const std::vector<KeySlice>& keys) {
  for (const KeySlice& row : keys) {
    const KeySlice* known = FindKey(row.key);
    if (known != nullptr) {
      if (*known == row) continue;
      return absl::InvalidArgumentError(absl::StrCat("key ", row.key.value(), " is '", known->name, "' with ",
                                                     known->elements, " elements, but now came as '", row.name,
                                                     "' with ", row.elements, ", or other slices"));
    }
    if (row.key.value() != keys_.size() + 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected row ", keys_.size() + 1, " of the key table next, got row ", row.key.value()));
    }
    for (auto& [version, policy] : policies_) {
      for (auto& [size, chunks] : policy->chunks) {
        absl::Status added = chunks.AddKey(row.key, row.elements, row.borders);
        if (!added.ok()) return added;
      }
    }
    keys_.emplace(row.key, row);
    by_name_.emplace(row.name, row.key);
  }
  return absl::OkStatus();
}

absl::Status PolicyTable::AddSlice(const PolicySlice& slice) {
  if (policies_.count(slice.version) > 0) {
    return absl::AlreadyExistsError(absl::StrCat("policy ", slice.version.value(), " is known"));
  }
  if (policies_.size() >= kMostPolicies) {
    auto unused = std::find_if(policies_.begin(), policies_.end(),
                               [this](const auto& policy) { return !leases_.Governs(policy.first); });
    if (unused == policies_.end()) {
      return absl::ResourceExhaustedError(absl::StrCat("more than ", kMostPolicies, " policies govern open rounds"));
    }
    policies_.erase(unused);
  }
  auto known = std::make_shared<Known>(Known{slice, {}});
  if (absl::Status cut = Cut(*known, slice.chunk_max_elements); !cut.ok()) return cut;
  policies_.emplace(slice.version, std::move(known));
  return absl::OkStatus();
}

absl::Status PolicyTable::Cut(Known& known, int64_t chunk_max_elements) const {
  if (known.chunks.contains(chunk_max_elements)) return absl::OkStatus();
  std::vector<double> shares;
  for (const TreeSlice& tree : known.slice.trees) shares.push_back(tree.share);
  absl::StatusOr<ChunkAssignment> chunks = ChunkAssignment::Create(shares, chunk_max_elements);
  if (!chunks.ok()) return chunks.status();
  for (const auto& [key, row] : keys_) {
    absl::Status added = chunks->AddKey(key, row.elements, row.borders);
    if (!added.ok()) return added;
  }
  known.chunks.emplace(chunk_max_elements, *std::move(chunks));
  return absl::OkStatus();
}

absl::Status PolicyTable::AddBinding(const PolicyAnswer::Binding& binding) {
  if (policies_.count(binding.policy) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("key ", binding.key.value(), " round ", binding.first_round.value(),
                                                   " is bound to policy ", binding.policy.value(),
                                                   ", which was never published here"));
  }
  if (FindKey(binding.key) == nullptr || binding.last_round < binding.first_round) {
    return absl::InvalidArgumentError(absl::StrCat("binding of key ", binding.key.value(), " rounds ",
                                                   binding.first_round.value(), " to ", binding.last_round.value(),
                                                   ": no such key or no such range"));
  }
  Known& policy = *policies_.at(binding.policy);
  const int64_t chunk_max_elements =
      binding.chunk_max_elements > 0 ? binding.chunk_max_elements : policy.slice.chunk_max_elements;
  if (absl::Status cut = Cut(policy, chunk_max_elements); !cut.ok()) return cut;
  return Bind(binding.key, binding.first_round,
              {binding.last_round, binding.policy, binding.attempt, chunk_max_elements, binding.route});
}

absl::Status PolicyTable::Bind(KeyId key, Round first, RoundLeases::Lease lease) {
  const auto begin = leases_.From(key, first);
  auto end = begin;
  Round joined_first = first;
  for (; end != leases_.end() && end->first.first == key && end->first.second <= lease.last; ++end) {
    const auto& [start, known] = *end;
    if (known.policy != lease.policy || known.attempt != lease.attempt || known.route != lease.route) {
      return absl::InvalidArgumentError(absl::StrCat(
          "key ", key.value(), " round ", first.value(), " is bound to policy ", known.policy.value(), " with route ",
          known.route.Text(), ", but now to ", lease.policy.value(), " with route ", lease.route.Text()));
    }
    joined_first = std::min(joined_first, start.second);
    lease.last = std::max(lease.last, known.last);
  }
  const RoundLeases::Range of_key = leases_.Of(key);
  if (begin == end && static_cast<size_t>(std::distance(of_key.begin(), of_key.end())) >= kMostBindingsPerKey) {
    return absl::ResourceExhaustedError(absl::StrCat("key ", key.value(), " round ", first.value(), ": more than ",
                                                     kMostBindingsPerKey, " bindings of the key are open"));
  }
  for (auto joined = begin; joined != end;) joined = leases_.Erase(joined);
  leases_.Add(key, joined_first, lease);
  return absl::OkStatus();
}

absl::Status PolicyTable::AddPlan(const EpochPlan& plan) {
  const auto policy = policies_.find(plan.policy);
  if (policy == policies_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the plan of epoch ", plan.epoch.value(), " names policy ",
                                                   plan.policy.value(), ", which was never published here"));
  }
  for (const EpochPlan::Binding& binding : plan.bindings) {
    if (absl::Status cut = Cut(*policy->second, binding.chunk_max_elements); !cut.ok()) return cut;
    const RoundLeases::Lease lease = {binding.last_round, plan.policy, binding.attempt, binding.chunk_max_elements,
                                      binding.route};
    for (auto row = keys_.lower_bound(binding.first_key); row != keys_.end() && row->first <= binding.last_key; ++row) {
      if (absl::Status bound = Bind(row->first, binding.first_round, lease); !bound.ok()) return bound;
    }
  }
  return absl::OkStatus();
}

void PolicyTable::DropBindings() {
  leases_.Clear();
  DropRetired();
}

void PolicyTable::ForEachKey(const KeyRun& keys, absl::FunctionRef<void(KeyId)> visit) const {
  for (auto row = keys_.lower_bound(keys.first); row != keys_.end() && row->first <= keys.last; ++row)
    visit(row->first);
}

const KeySlice* PolicyTable::FindKey(KeyId key) const {
  auto entry = keys_.find(key);
  return entry == keys_.end() ? nullptr : &entry->second;
}

const KeySlice* PolicyTable::FindKey(absl::string_view name) const {
  auto entry = by_name_.find(std::string(name));
  return entry == by_name_.end() ? nullptr : FindKey(entry->second);
}

const PolicySlice* PolicyTable::newest_slice() const {
  return policies_.empty() ? nullptr : &policies_.rbegin()->second->slice;
}

double PolicyTable::BudgetShareOf(NodeId neighbour) const {
  const PolicySlice* slice = newest_slice();
  if (slice == nullptr) return 1;
  for (const NeighbourSlice& known : slice->neighbours) {
    if (known.node == neighbour) return known.budget_share;
  }
  return 1;
}

std::optional<PolicyTable::Binding> PolicyTable::FindBinding(KeyId key, Round round) const {
  const auto found = leases_.Find(key, round);
  if (found == leases_.end()) return std::nullopt;
  const RoundLeases::Lease& lease = found->second;
  const std::shared_ptr<const Known> policy = policies_.at(lease.policy);
  return Binding{std::shared_ptr<const PolicySlice>(policy, &policy->slice),
                 std::shared_ptr<const ChunkAssignment>(policy, &policy->chunks.at(lease.chunk_max_elements)),
                 lease.attempt, lease.route};
}

std::optional<Round> PolicyTable::FirstUnknown(KeyId key, Round round) const {
  const auto found = leases_.Find(key, round);
  if (found == leases_.end()) return round;
  const auto& [start, lease] = *found;
  const uint64_t rounds = lease.last.value() - start.second.value() + 1;
  const uint64_t used = round.value() - start.second.value();
  const Round after = lease.last.Next();
  const bool is_next_known = leases_.Find(key, after) != leases_.end();
  if (rounds == 1 || used * kAskedInParts < rounds || is_next_known) return std::nullopt;
  return after;
}

void PolicyTable::Retire(PolicyVersion oldest) {
  oldest_ = std::max(oldest_, oldest);
  DropRetired();
}

void PolicyTable::DropRetired() {
  for (auto policy = policies_.begin(); policies_.size() > 1 && policy->first < oldest_;) {
    policy = leases_.Governs(policy->first) ? std::next(policy) : policies_.erase(policy);
    if (policy == policies_.end()) return;
  }
}

void PolicyTable::Forget(KeyId key, Round through) {
  const RoundLeases::Range known = leases_.Of(key);
  for (auto lease = known.begin(); lease != known.end() && lease->second.last <= through;) lease = leases_.Erase(lease);
  DropRetired();
}

std::vector<NodeId> PolicyTable::PathTo(const PolicySlice& slice, NodeId self, NodeId destination) {
  for (const RouteSlice& route : slice.routes) {
    if (!route.path.empty() && route.path.back() == destination) return route.path;
  }
  return {self, destination};
}

// ---- whether a slice can be worked with ----

namespace {

absl::Status Fault(const PolicySlice& slice, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("policy ", slice.version.value(), ": ", what));
}

// To whom the node sends chunks of the tree. What others send it has a route of its own, and acks come back on that.
std::vector<NodeId> DestinationsIn(const TreeSlice& tree) {
  std::vector<NodeId> all = tree.broadcast_children;
  if (tree.reduce_parent.has_value()) all.push_back(*tree.reduce_parent);
  return all;
}

bool IsAuxiliaryPath(const std::vector<NodeId>& path, NodeId self, const std::set<NodeId>& neighbours) {
  const bool begins_here = path.size() > 2 && path.front() == self && neighbours.count(path[1]) > 0;
  return begins_here && std::set<NodeId>(path.begin(), path.end()).size() == path.size();
}

}  // namespace

absl::Status CheckSlice(const PolicySlice& slice, NodeId self) {
  std::set<NodeId> neighbours;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    if (neighbour.node == self || !neighbours.insert(neighbour.node).second) {
      return Fault(slice, absl::StrCat("neighbour ", neighbour.node.value(), " is this node, or comes twice"));
    }
  }
  for (const RouteSlice& auxiliary_path : slice.auxiliary) {
    if (!IsAuxiliaryPath(auxiliary_path.path, self, neighbours)) {
      return Fault(slice, absl::StrCat("an auxiliary path of node ", self.value(),
                                       " does not begin there, or passes a node twice"));
    }
  }
  for (const TreeSlice& tree : slice.trees) {
    const bool is_root = tree.root == self;
    if (tree.reduce_parent.has_value() == is_root || tree.broadcast_parent.has_value() == is_root) {
      return Fault(slice, absl::StrCat("in the tree of root ", tree.root.value(), " node ", self.value(),
                                       is_root ? " has a parent" : " has no parent"));
    }
    for (NodeId destination : DestinationsIn(tree)) {
      const std::vector<NodeId> path = PolicyTable::PathTo(slice, self, destination);
      if (path.size() < 2 || path.front() != self || neighbours.count(path[1]) == 0) {
        return Fault(slice, absl::StrCat("no way leads from node ", self.value(), " to ", destination.value(),
                                         " in the tree of root ", tree.root.value()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace banyan
