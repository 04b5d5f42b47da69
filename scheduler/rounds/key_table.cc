#include "scheduler/rounds/key_table.h"

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"
#include "topology/chunk_assignment.h"

namespace banyan {

absl::StatusOr<KeyId> KeyTable::Register(const std::string& name, int64_t elements) {
  if (absl::Status status = Check(name, elements); !status.ok()) return status;
  if (const auto known = ids_.find(name); known != ids_.end()) {
    const int64_t had = ElementsOf(known->second);
    if (had == elements) return known->second;
    return absl::InvalidArgumentError(absl::StrCat("key '", name, "' has ", had, " elements, and ", elements,
                                                   " came; a key keeps its shape, and all nodes must give the same"));
  }
  if (keys_.size() >= kMaxKeys) {
    return absl::ResourceExhaustedError(absl::StrCat("the job has its ", kMaxKeys, " keys already; '", name,
                                                     "' would be one more: join small tensors into one"));
  }
  keys_.push_back(Key{name, elements});
  const KeyId id(static_cast<uint32_t>(keys_.size()));
  ids_.emplace(name, id);
  return id;
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

std::vector<int64_t> KeyTable::Elements() const {
  std::vector<int64_t> elements;
  for (const Key& key : keys_) elements.push_back(key.elements);
  return elements;
}

int64_t KeyTable::ElementsOfAll() const {
  int64_t sum = 0;
  for (const Key& key : keys_) sum += key.elements;
  return sum;
}

std::vector<KeySlice> KeyTable::Rows(KeyId first, KeyId last) const {
  std::vector<KeySlice> rows;
  rows.reserve(last.value() - first.value() + 1);
  for (KeyId key = first; key <= last; key = key.Next()) {
    rows.push_back(KeySlice{key, NameOf(key), ElementsOf(key)});
  }
  return rows;
}

absl::Status KeyTable::CheckChunks(int64_t chunk_max_elements) const {
  for (const Key& key : keys_) {
    if (absl::Status status = CheckChunks(key.name, key.elements, chunk_max_elements); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KeyTable::CheckChunks(const std::string& name, int64_t elements, int64_t chunk_max_elements) {
  if ((elements - 1) / chunk_max_elements < kMaxChunksPerKey) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("key '", name, "': ", elements, " elements in chunks of ",
                                                 chunk_max_elements, " are more than ", kMaxChunksPerKey,
                                                 " chunks; raise chunks.max_elements"));
}

absl::Status KeyTable::Check(const std::string& name, int64_t elements) const {
  if (name.empty() || name.size() > kMaxKeyNameBytes || !IsPrintable(name)) {
    return absl::InvalidArgumentError(absl::StrCat("a key's name has 1 to ", kMaxKeyNameBytes,
                                                   " bytes without control characters; '", PrintableText(name, 64),
                                                   "' (", name.size(), " bytes) came"));
  }
  if (elements < 1 || elements > kMaxKeyElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("key '", name, "': 1 to ", kMaxKeyElements, " elements expected, ", elements, " came"));
  }
  return CheckChunks(name, elements, chunk_max_elements_);
}

}  // namespace banyan
