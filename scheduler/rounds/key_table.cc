#include "scheduler/rounds/key_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "proto/wire_limits.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"
#include "topology/chunk_assignment.h"

namespace banyan {

absl::StatusOr<KeyId> KeyTable::Register(const RegisterKeys::Key& key) {
  if (absl::Status status = Check(key.name, key.elements); !status.ok()) return status;
  if (const auto known = ids_.find(key.name); known != ids_.end()) {
    const Key& before = keys_[known->second.value() - 1];
    if (before.elements == key.elements && before.layout == key.layout) return known->second;
    const auto [had, came] = DescribeDifference(ShapeOf(known->second), {key.elements, key.layout});
    return absl::InvalidArgumentError(absl::StrCat("key '", key.name, "' has ", had, ", and ", came,
                                                   " came; a key keeps its shape, and all nodes must give the same"));
  }
  std::vector<int64_t> borders;
  if (routes_ != nullptr) borders = routes_->BordersOf(key.name, {key.elements, key.layout});
  return Add({key.name, key.elements, key.layout, std::move(borders), key.layout.Hash()});
}

absl::Status KeyTable::Restore(const KeyRecord& key) {
  if (absl::Status status = Check(key.name, key.elements); !status.ok()) return status;
  if (ids_.contains(key.name)) return absl::InvalidArgumentError(absl::StrCat("key '", key.name, "' came twice"));
  if (FindBadBorder(key.elements, key.borders).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("the slices of key '", key.name, "' must rise within it"));
  }
  return Add({key.name, key.elements, key.layout, key.borders, key.layout.Hash()}).status();
}

absl::StatusOr<KeyId> KeyTable::Add(Key key) {
  if (absl::Status status = CheckChunks(key, chunk_max_elements_); !status.ok()) return status;
  if (absl::Status status = CheckRoom(key); !status.ok()) return status;
  grouped_tensors_ += key.layout.parts.size();
  const KeyId id(static_cast<uint32_t>(keys_.size() + 1));
  ids_.emplace(key.name, id);
  keys_.push_back(std::move(key));
  return id;
}

absl::Status KeyTable::CheckRoom(const Key& key) const {
  // Nodes say of all keys in one message how far they are: EpochReport, CutBound, NodeReport.
  static_assert(kMaxKeys <= static_cast<size_t>(WireLimits().max_entries));
  if (keys_.size() >= kMaxKeys) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the job has its ", kMaxKeys, " keys already; '", key.name,
                     "' would be one more; use the same names in each step, and groups for small tensors"));
  }
  if (grouped_tensors_ + key.layout.parts.size() <= kMaxGroupedTensors) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the job's groups may have ", kMaxGroupedTensors,
                                                   " tensors and have ", grouped_tensors_, ": '", key.name,
                                                   "' would add ", key.layout.parts.size()));
}

std::optional<KeyId> KeyTable::Find(const std::string& name) const {
  const auto known = ids_.find(name);
  if (known == ids_.end()) return std::nullopt;
  return known->second;
}

const std::string& KeyTable::NameOf(KeyId key) const {
  BANYAN_CHECK(Contains(key));
  return keys_[key.value() - 1].name;
}

int64_t KeyTable::ElementsOf(KeyId key) const {
  BANYAN_CHECK(Contains(key));
  return keys_[key.value() - 1].elements;
}

TensorShape KeyTable::ShapeOf(KeyId key) const {
  BANYAN_CHECK(Contains(key));
  return {keys_[key.value() - 1].elements, keys_[key.value() - 1].layout};
}

const std::vector<int64_t>& KeyTable::BordersOf(KeyId key) const {
  BANYAN_CHECK(Contains(key));
  return keys_[key.value() - 1].borders;
}

std::vector<PlannedTensor> KeyTable::Tensors() const {
  std::vector<PlannedTensor> tensors;
  for (const Key& key : keys_) tensors.emplace_back(key.elements, SizeOf(key.layout.type), key.borders);
  return tensors;
}

int64_t KeyTable::ElementsOfAll() const {
  int64_t sum = 0;
  for (const Key& key : keys_) sum += key.elements;
  return sum;
}

std::vector<KeySlice> KeyTable::Rows(const KeyRun& keys) const {
  std::vector<KeySlice> rows;
  for (KeyId key = keys.first; key <= keys.last; key = key.Next()) {
    BANYAN_CHECK(Contains(key));
    const Key& row = keys_[key.value() - 1];
    rows.push_back(KeySlice{key, row.name, row.elements, row.layout_hash, row.layout.type, row.borders});
  }
  return rows;
}

absl::Status KeyTable::CheckChunks(int64_t chunk_max_elements) const {
  for (const Key& key : keys_) {
    if (absl::Status status = CheckChunks(key, chunk_max_elements); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KeyTable::CheckChunks(const Key& key, int64_t chunk_max_elements) {
  if (CountChunks(key.elements, key.borders, chunk_max_elements) <= kMaxChunksPerKey) return absl::OkStatus();
  const std::string slices = key.borders.empty() ? "" : absl::StrCat(" and ", key.borders.size() + 1, " slices");
  return absl::InvalidArgumentError(absl::StrCat("key '", key.name, "': ", key.elements, " elements in chunks of ",
                                                 chunk_max_elements, slices, " are more than ", kMaxChunksPerKey,
                                                 " chunks; raise chunks.max_elements"));
}

absl::Status KeyTable::Check(const std::string& name, int64_t elements) {
  if (name.empty() || name.size() > kMaxKeyNameBytes || !IsPrintable(name)) {
    return absl::InvalidArgumentError(absl::StrCat("a key's name has 1 to ", kMaxKeyNameBytes,
                                                   " bytes without control characters; '", PrintableText(name, 64),
                                                   "' (", name.size(), " bytes) came"));
  }
  if (elements < 1 || elements > kMaxKeyElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", name, "': 1 to ", kMaxKeyElements, " elements expected, ", elements, " came"));
  }
  return absl::OkStatus();
}

}  // namespace banyan
