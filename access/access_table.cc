#include "access/access_table.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

template <typename... Kinds>
bool IsOneOf(const Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

bool IsOrder(const Message& message) { return IsOneOf<Reconfigure, RemoveNode, StopJob, VetoLowBit>(message); }

// What changes nothing in the job.
bool IsLook(const Message& message) { return IsOneOf<StatusRequest, TraceRounds>(message); }

// Returns what is wrong with what a node says; empty when nothing is.
std::string FaultOfNode(const ListedKey& from, const Message& message) {
  if (IsOrder(message)) return "only operators reconfigure, remove, veto and stop";
  if (const auto* join = std::get_if<Join>(&message); join != nullptr && join->name != from.name) {
    return absl::StrCat("it joins as '", join->name, "'; each node has its own key");
  }
  if (const auto* hello = std::get_if<PeerHello>(&message); hello != nullptr && hello->node != from.node) {
    return absl::StrCat("it says that it is node ", hello->node.value(), ", and it is node ", from.node.value());
  }
  return "";
}

std::string FaultOf(const ListedKey& from, const Message& message) {
  switch (from.role) {
    case Role::kNode:
      return FaultOfNode(from, message);
    case Role::kOperator:
      return IsOrder(message) || IsLook(message) ? "" : "an operator is no node";
    case Role::kObserver:
      return IsLook(message) ? "" : "an observer may ask for the status and for traces, and nothing else";
  }
  return "its role is unknown";
}

}  // namespace

std::string Describe(const ListedKey& key) {
  constexpr const char* kRoles[] = {"node", "operator", "observer"};
  return absl::StrCat(kRoles[static_cast<int>(key.role)], " '", key.name, "'");
}

void AccessTable::Replace(std::vector<ListedKey> keys) {
  keys_ = std::move(keys);
  index_.clear();
  for (size_t i = 0; i < keys_.size(); ++i) index_.emplace(keys_[i].public_key, i);
}

const ListedKey* AccessTable::Find(absl::string_view public_key) const {
  const auto found = index_.find(public_key);
  return found == index_.end() ? nullptr : &keys_[found->second];
}

std::vector<std::string> AccessTable::KeysOf(const std::string& name) const {
  std::vector<std::string> keys;
  for (const ListedKey& key : keys_) {
    if (key.role == Role::kNode && key.name == name) keys.push_back(key.public_key);
  }
  return keys;
}

absl::Status AccessTable::Check(absl::string_view public_key, const Message& message) const {
  const ListedKey* const from = Find(public_key);
  if (from == nullptr) return absl::PermissionDeniedError("the key is not listed any more");
  const std::string fault = FaultOf(*from, message);
  if (fault.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("the key of ", Describe(*from), ": ", fault));
}

}  // namespace banyan
