#include "scheduler/rounds/key_registrar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/message_parts.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

// A message has the rows of a run of keys. So many that nobody has asked for cost less than another message.
constexpr uint32_t kMostBetween = 16;

std::vector<KeyRun> RunsOf(const std::set<KeyId>& keys) {
  std::vector<KeyRun> runs;
  for (const KeyId key : keys) {
    const bool goes_on = !runs.empty() && key.value() - runs.back().last.value() <= kMostBetween + 1;
    if (!goes_on) runs.push_back({key, key});
    runs.back().last = key;
  }
  return runs;
}

constexpr char kSameShape[] = "; all workers of all nodes must give it the same shape";

}  // namespace

bool WaitingKeys::Add(NodeId node, const RegisterKeys::Key& key) {
  auto known = index_.find(ShapeOf(key));
  if (known != index_.end() && entries_.at(known->second).nodes.Has(node)) return true;
  if (askers_ >= kMaxWaitingAskers) return false;
  if (known == index_.end()) {
    if (entries_.size() >= kMaxWaitingKeys) return false;
    if (grouped_tensors_ + key.layout.parts.size() > kMaxWaitingTensors) return false;
    known = index_.emplace(ShapeOf(key), next_entry_).first;
    entries_.emplace(next_entry_++, Entry{key, {}});
    grouped_tensors_ += key.layout.parts.size();
  }
  entries_.at(known->second).nodes.Add(node);
  ++asked_[node];
  ++askers_;
  return true;
}

void WaitingKeys::Drop(NodeId node) {
  const auto asked = asked_.extract(node);
  if (asked.empty()) return;
  askers_ -= asked.mapped();
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto numbered = next++;
    Entry& entry = numbered->second;
    if (!entry.nodes.Drop(node) || !entry.nodes.in_order().empty()) continue;
    grouped_tensors_ -= entry.key.layout.parts.size();
    index_.erase(ShapeOf(entry.key));
    entries_.erase(numbered);
  }
}

std::vector<WaitingKeys::Entry> WaitingKeys::TakeAll() {
  std::vector<Entry> all;
  for (auto& [number, entry] : entries_) all.push_back(std::move(entry));
  *this = WaitingKeys();
  return all;
}

void KeyRegistrar::Wait(NodeId node, const Keys& keys) {
  for (const RegisterKeys::Key& key : keys) {
    if (waiting_.Add(node, key)) continue;
    Refuse(
        node, key,
        absl::StrCat(kMaxWaitingKeys, " keys or ", kMaxWaitingTensors, " grouped tensors wait for the start already"));
  }
  Announce(NewBatch());
}

bool KeyRegistrar::Register(NodeId node, const Keys& keys, const JobRounds& rounds) {
  Batch batch = NewBatch();
  for (const RegisterKeys::Key& key : keys) Register(node, key, rounds, batch);
  return Announce(std::move(batch));
}

bool KeyRegistrar::RegisterWaiting(const JobRounds& rounds) {
  // All at once: the nodes of a job ask for the same keys.
  Batch batch = NewBatch();
  for (const WaitingKeys::Entry& entry : waiting_.TakeAll()) {
    for (const NodeId node : entry.nodes.in_order()) Register(node, entry.key, rounds, batch);
  }
  return Announce(std::move(batch));
}

void KeyRegistrar::Register(NodeId node, const RegisterKeys::Key& key, const JobRounds& rounds, Batch& batch) {
  const KeyTableVersion before = table_.version();
  const std::optional<KeyId> known = table_.Find(key.name);
  const bool is_agreed = known.has_value() && rounds.FirstOpen(*known) > Round(0);
  if (!is_agreed && RefuseForQuarrel(node, key)) return;
  if (!known.has_value() && key.elements == 0) return RefuseEmpty(node, key);
  const absl::StatusOr<KeyId> id = table_.Register(key);
  if (id.ok()) givers_[*id].Add(node);
  if (!id.ok() && known.has_value()) {
    RefuseShape(node, key, *known, rounds);
  } else if (!id.ok()) {
    Refuse(node, key, std::string(id.status().message()));
  } else if (table_.version() > before) {
    batch.added.keys.push_back({key.name, key.elements, key.layout, table_.BordersOf(*id)});
  } else if (*id < batch.added.first_key) {
    batch.known[node].insert(*id);
  }
}

bool KeyRegistrar::Announce(Batch batch) {
  for (const auto& [node, keys] : batch.known) {
    for (const KeyRun& run : RunsOf(keys)) SendRows(node, table_.Rows(run));
  }
  const bool has_grown = !batch.added.keys.empty();
  if (has_grown) {
    const std::vector<KeySlice> rows = table_.Rows({batch.added.first_key, Last()});
    context_->Persist(std::move(batch.added));
    for (const Member& member : members_->table().all()) SendRows(member.id, rows);
  }
  for (auto& [node, refused] : std::exchange(refused_, {})) {
    if (node == NodeId()) {
      members_->Broadcast(refused);
    } else {
      members_->SendTo(node, std::move(refused));
    }
  }
  return has_grown;
}

void KeyRegistrar::SendAll(NodeId node) { SendRows(node, table_.Rows({KeyId(1), Last()})); }

void KeyRegistrar::SendRows(NodeId node, std::vector<KeySlice> rows) {
  if (rows.empty() || !members_->table().Find(node).connection.has_value()) return;
  SendInParts(std::move(rows), [this, node](std::vector<KeySlice> part) {
    members_->SendTo(node, KeysAssigned{job_->term(), table_.version(), std::move(part)});
  });
}

absl::Status KeyRegistrar::Restore(const std::vector<KeyRecord>& keys) {
  for (const KeyRecord& key : keys) {
    if (!table_.Restore(key).ok()) {
      return absl::DataLossError(absl::StrCat("the records have an impossible key '", key.name, "'"));
    }
  }
  return absl::OkStatus();
}

void KeyRegistrar::Refuse(NodeId node, const RegisterKeys::Key& key, const std::string& reason) {
  members_->Reject(node, reason);
  refused_.emplace_back(node, KeyRefused{job_->term(), key.name, reason});
}

void KeyRegistrar::NoteQuarrel(NodeId culprit, const RegisterKeys::Key& key, std::optional<KeyId> id) {
  const auto former = quarrels_.find(key.name);
  if (former == quarrels_.end() && quarrels_.size() >= kMaxWaitingKeys) return;
  Quarrel quarrel{culprit, key, {}, former == quarrels_.end() ? ShapeClaims() : former->second.claims};
  if (id.has_value()) {
    for (const NodeId giver : givers_[*id].in_order()) {
      quarrel.told.insert(giver);
      if (!quarrel.claims.Has(giver)) quarrel.claims.Note(giver, table_.ShapeOf(*id));
    }
  }
  quarrel.claims.Note(culprit, {key.elements, key.layout});
  quarrels_.insert_or_assign(key.name, std::move(quarrel));
}

bool KeyRegistrar::RefuseForQuarrel(NodeId node, const RegisterKeys::Key& key) {
  const auto found = quarrels_.find(key.name);
  if (found == quarrels_.end()) return false;
  Quarrel& quarrel = found->second;
  quarrel.claims.Note(node, {key.elements, key.layout});
  if (quarrel.culprit == node) {
    // It may have thought better of it.
    quarrels_.erase(found);
    return false;
  }
  if (quarrel.key == key || !quarrel.told.insert(node).second) return false;
  const auto [other, own] = DescribeDifference({quarrel.key.elements, quarrel.key.layout}, {key.elements, key.layout});
  Refuse(node, key,
         absl::StrCat(members_->NameOf(quarrel.culprit), " gives it ", other, ", ", members_->NameOf(node),
                      " gives it ", own, kSameShape, DescribeOutliers(quarrel.claims, NodeId())));
  return true;
}

void KeyRegistrar::RefuseEmpty(NodeId node, const RegisterKeys::Key& key) {
  NoteQuarrel(node, key, std::nullopt);
  Refuse(node, key, absl::StrCat(members_->NameOf(node), " gives it 0 elements; expected at least 1"));
}

std::string KeyRegistrar::NamesOf(const std::vector<NodeId>& nodes) const {
  constexpr size_t kMostNames = 4;
  const size_t count = std::min(nodes.size(), kMostNames);
  std::string names =
      absl::StrJoin(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(count), ", ",
                    [this](std::string* out, NodeId node) { absl::StrAppend(out, members_->NameOf(node)); });
  if (nodes.size() > count) absl::StrAppend(&names, " and ", CountOf(nodes.size() - count, "other"));
  return names;
}

std::string KeyRegistrar::DescribeOutliers(const ShapeClaims& claims, NodeId first) const {
  const ShapeClaims::Sides sides = claims.Judge();
  if (sides.outliers.empty()) return "";
  std::string text = absl::StrCat("; ", NamesOf(sides.outliers), sides.outliers.size() == 1 ? " differs" : " differ",
                                  " from most: ", NamesOf(sides.most), " agree");
  if (std::find(sides.outliers.begin(), sides.outliers.end(), first) == sides.outliers.end()) return text;
  return absl::StrCat(text, "; ", members_->NameOf(first),
                      " came first, and the key keeps that shape until the job begins anew");
}

void KeyRegistrar::RefuseShape(NodeId node, const RegisterKeys::Key& key, KeyId id, const JobRounds& rounds) {
  const std::vector<NodeId>& givers = givers_[id].in_order();
  std::string former = givers.empty() ? "the job" : members_->NameOf(givers.front());
  const bool has_left = !givers.empty() && !members_->table().Find(givers.front()).is_member;
  if (has_left) absl::StrAppend(&former, ", which has left,");
  const bool is_same = !givers.empty() && givers.front() == node;
  const auto [now, before] = DescribeDifference({key.elements, key.layout}, table_.ShapeOf(id));
  std::string reason = absl::StrCat(is_same ? "a worker of " : "", members_->NameOf(node), " gives it ", now, ", ",
                                    is_same ? "another one" : former, " gave it ", before, kSameShape);
  // Those who have agreed on its values do not wait for this Init.
  const bool is_agreed = rounds.FirstOpen(id) > Round(0);
  if (!is_agreed) NoteQuarrel(node, key, id);
  if (const auto quarrel = quarrels_.find(key.name); !is_agreed && quarrel != quarrels_.end()) {
    absl::StrAppend(&reason, DescribeOutliers(quarrel->second.claims, givers.empty() ? NodeId() : givers.front()));
  }
  members_->Reject(node, absl::StrCat("key '", key.name, "': ", reason));
  const KeyRefused refused{job_->term(), key.name, reason};
  refused_.emplace_back(is_agreed ? node : NodeId(), refused);
}

}  // namespace banyan
