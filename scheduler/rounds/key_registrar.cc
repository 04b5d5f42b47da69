#include "scheduler/rounds/key_registrar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

constexpr char kSameShape[] = "; all workers of all nodes must give it the same shape";

}  // namespace

void KeyRegistrar::Wait(NodeId node, const Keys& keys) {
  for (const RegisterKeys::Key& key : keys) {
    if (waiting_.Add(node, key)) continue;
    Refuse(
        node, key,
        absl::StrCat(kMaxWaitingKeys, " keys or ", kMaxWaitingTensors, " grouped tensors wait for the start already"));
  }
}

bool KeyRegistrar::Register(NodeId node, const Keys& keys, const RoundBook& rounds) {
  const KeyId first_new = Last().Next();
  KeysRecord added = {first_new, {}};
  KeyId first_known = first_new;
  KeyId last_known;
  for (const RegisterKeys::Key& key : keys) {
    const KeyTableVersion before = table_.version();
    const std::optional<KeyId> known = table_.Find(key.name);
    const bool is_agreed = known.has_value() && rounds.FirstOpen(*known) > Round(0);
    if (!is_agreed && RefuseForQuarrel(node, key)) continue;
    if (!known.has_value() && key.elements == 0) {
      RefuseEmpty(node, key);
      continue;
    }
    const absl::StatusOr<KeyId> id = table_.Register(key);
    if (id.ok()) NoteGiver(*id, node);
    if (!id.ok() && known.has_value()) {
      RefuseShape(node, key, *known, rounds);
    } else if (!id.ok()) {
      Refuse(node, key, std::string(id.status().message()));
    } else if (table_.version() > before) {
      added.keys.push_back(key);
    } else if (*id < first_new) {
      first_known = std::min(first_known, *id);
      last_known = std::max(last_known, *id);
    }
  }
  if (last_known >= first_known) members_->SendTo(node, MakeAssignment(first_known, last_known));
  if (added.keys.empty()) return false;
  context_->Persist(added);
  members_->Broadcast(MakeAssignment(first_new, Last()));
  return true;
}

bool KeyRegistrar::RegisterWaiting(const RoundBook& rounds) {
  bool has_grown = false;
  for (const WaitingKeys::Entry& entry : waiting_.TakeAll()) {
    has_grown = Register(entry.node, {entry.key}, rounds) || has_grown;
  }
  return has_grown;
}

void KeyRegistrar::SendAll(NodeId node) {
  if (table_.Contains(KeyId(1))) members_->SendTo(node, MakeAssignment(KeyId(1), Last()));
}

absl::Status KeyRegistrar::Restore(const Keys& keys) {
  for (const RegisterKeys::Key& key : keys) {
    const KeyTableVersion before = table_.version();
    if (!table_.Register(key).ok() || table_.version() == before) {
      return absl::DataLossError(absl::StrCat("the records have an impossible key '", key.name, "'"));
    }
  }
  return absl::OkStatus();
}

void KeyRegistrar::Refuse(NodeId node, const RegisterKeys::Key& key, const std::string& reason) {
  members_->Reject(node, reason);
  members_->SendTo(node, KeyRefused{job_->term(), key.name, reason});
}

void KeyRegistrar::NoteGiver(KeyId id, NodeId node) {
  std::vector<NodeId>& givers = givers_[id];
  if (std::find(givers.begin(), givers.end(), node) == givers.end()) givers.push_back(node);
}

void KeyRegistrar::NoteQuarrel(NodeId culprit, const RegisterKeys::Key& key, std::optional<KeyId> id) {
  if (quarrels_.size() >= kMaxWaitingKeys) return;
  Quarrel quarrel{culprit, key, {}};
  if (id.has_value()) quarrel.told.insert(givers_[*id].begin(), givers_[*id].end());
  quarrels_.insert_or_assign(key.name, std::move(quarrel));
}

bool KeyRegistrar::RefuseForQuarrel(NodeId node, const RegisterKeys::Key& key) {
  const auto found = quarrels_.find(key.name);
  if (found == quarrels_.end()) return false;
  Quarrel& quarrel = found->second;
  if (quarrel.culprit == node) {
    // It may have thought better of it.
    quarrels_.erase(found);
    return false;
  }
  if (quarrel.key == key || !quarrel.told.insert(node).second) return false;
  const auto [other, own] = DescribeDifference({quarrel.key.elements, quarrel.key.layout}, {key.elements, key.layout});
  Refuse(node, key,
         absl::StrCat(members_->NameOf(quarrel.culprit), " gives it ", other, ", ", members_->NameOf(node),
                      " gives it ", own, kSameShape));
  return true;
}

void KeyRegistrar::RefuseEmpty(NodeId node, const RegisterKeys::Key& key) {
  NoteQuarrel(node, key, std::nullopt);
  Refuse(node, key, absl::StrCat(members_->NameOf(node), " gives it 0 elements; expected at least 1"));
}

void KeyRegistrar::RefuseShape(NodeId node, const RegisterKeys::Key& key, KeyId id, const RoundBook& rounds) {
  const std::vector<NodeId>& givers = givers_[id];
  const std::string former = givers.empty() ? "the job" : members_->NameOf(givers.front());
  const bool is_same = !givers.empty() && givers.front() == node;
  const auto [now, before] = DescribeDifference({key.elements, key.layout}, table_.ShapeOf(id));
  const std::string reason = absl::StrCat(is_same ? "a worker of " : "", members_->NameOf(node), " gives it ", now,
                                          ", ", is_same ? "another one" : former, " gave it ", before, kSameShape);
  const KeyRefused refused{job_->term(), key.name, reason};
  members_->Reject(node, absl::StrCat("key '", key.name, "': ", reason));
  // Those who have agreed on its values do not wait for this Init.
  if (rounds.FirstOpen(id) > Round(0)) return members_->SendTo(node, refused);
  NoteQuarrel(node, key, id);
  members_->Broadcast(refused);
}

KeysAssigned KeyRegistrar::MakeAssignment(KeyId first, KeyId last) const {
  return KeysAssigned{job_->term(), table_.version(), table_.Rows(first, last)};
}

}  // namespace banyan
