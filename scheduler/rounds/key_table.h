// The key table: names and sizes of the tensors, in the order in which they were first initialised. Ids count from 1,
// without gaps, and the version is the number of keys. Thread-compatible; owned by KeyRegistrar.
//
// Invariants:
// - A key keeps its shape and its slices, whatever the source of routes says later.
#ifndef BANYAN_SCHEDULER_ROUNDS_KEY_TABLE_H_
#define BANYAN_SCHEDULER_ROUNDS_KEY_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/state/state_record.h"
#include "topology/planned_tensor.h"

namespace banyan {

class KeyTable {
 public:
  // Refuses keys that would need more than kMaxChunksPerKey chunks of this size, with those that slices make.
  explicit KeyTable(int64_t chunk_max_elements) : chunk_max_elements_(chunk_max_elements) {}

  // The key's id, new or known with the same shape; version() tells which. INVALID_ARGUMENT for a name or a size out of
  // bounds and for a known name with another shape, RESOURCE_EXHAUSTED at kMaxKeys and kMaxGroupedTensors. The message
  // is for the user.
  absl::StatusOr<KeyId> Register(const RegisterKeys::Key& key);
  // Adds a key of records with the slices that it has there. As Register, and INVALID_ARGUMENT for a known name.
  absl::Status Restore(const KeyRecord& key);

  // INVALID_ARGUMENT names a key that would need too many chunks of this size.
  absl::Status CheckChunks(int64_t chunk_max_elements) const;
  // Judges later keys by chunks of this size. REQUIRES: CheckChunks is OK.
  void UseChunks(int64_t chunk_max_elements) { chunk_max_elements_ = chunk_max_elements; }

  // Returns the id of the key of this name, if there is one.
  std::optional<KeyId> Find(const std::string& name) const;
  KeyTableVersion version() const { return KeyTableVersion(keys_.size()); }
  bool Contains(KeyId key) const { return key.value() >= 1 && key.value() <= keys_.size(); }
  // These require that the keys exist.
  const std::string& NameOf(KeyId key) const;
  int64_t ElementsOf(KeyId key) const;
  TensorShape ShapeOf(KeyId key) const;
  // Returns the first elements of its slices after the first.
  const std::vector<int64_t>& BordersOf(KeyId key) const;
  // Returns what plans know of each key, in order of KeyId.
  std::vector<PlannedTensor> Tensors() const;
  int64_t ElementsOfAll() const;
  // Returns what nodes are told of these keys.
  std::vector<KeySlice> Rows(const KeyRun& keys) const;
  // New keys get the slices of this source from now on; none before. It outlives this.
  void UseRoutes(const RouteSource* routes) { routes_ = routes; }

 private:
  struct Key {
    std::string name;
    int64_t elements = 0;
    TensorLayout layout;
    std::vector<int64_t> borders;
    uint64_t layout_hash = 0;
  };

  static absl::Status CheckChunks(const Key& key, int64_t chunk_max_elements);
  static absl::Status Check(const std::string& name, int64_t elements);
  absl::Status CheckRoom(const Key& key) const;
  // Adds a key that is not known. REQUIRES: Check is OK; the borders rise within it.
  absl::StatusOr<KeyId> Add(Key key);

  int64_t chunk_max_elements_;
  const RouteSource* routes_ = nullptr;
  std::vector<Key> keys_;  // by KeyId - 1
  std::map<std::string, KeyId> ids_;
  size_t grouped_tensors_ = 0;  // in all keys
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_KEY_TABLE_H_
