// Collects the tensors of the group that a worker is about to open. Thread-compatible; owned by WorkerConnection.
//
// Invariants:
// - It never holds more than TensorLayout allows.
#ifndef BANYAN_RUNTIME_WORKERS_GROUP_DESCRIPTION_H_
#define BANYAN_RUNTIME_WORKERS_GROUP_DESCRIPTION_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor_layout.h"
#include "proto/session_messages.h"

namespace banyan {

class GroupDescription {
 public:
  // Adds tensors. RESOURCE_EXHAUSTED when they become too many; then there are none.
  absl::Status Add(const DescribeGroup& described);
  // Returns what has been described, and begins anew. INVALID_ARGUMENT when a group has other than `elements` elements.
  absl::StatusOr<TensorLayout> Take(int64_t elements);

 private:
  TensorLayout layout_;
  size_t name_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_GROUP_DESCRIPTION_H_
