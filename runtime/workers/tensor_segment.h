// The memory of one tensor that a worker and its node share: a row of gradient slots, then a row of result slots. The
// node makes it as a memfd that is sealed against shrinking, so that no worker can pull it away under the node. It
// passes the descriptor to the worker.
//
// Thread-compatible; who may touch a slot is agreed by messages (proto/session_messages.h). Shared, because Buffers on
// slots that are still in use outlive the worker's connection. A forked child, such as a data loader, has no part of
// this memory.
#ifndef BANYAN_RUNTIME_WORKERS_TENSOR_SEGMENT_H_
#define BANYAN_RUNTIME_WORKERS_TENSOR_SEGMENT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/data_type.h"
#include "core/tensor_view.h"
#include "posix/file_descriptor.h"
#include "posix/home_process.h"

namespace banyan {

class TensorSegment {
 public:
  struct Shape {
    int64_t elements = 0;  // of one slot
    uint32_t gradient_slots = 0;
    uint32_t result_slots = 0;
    DataType type = DataType::kFloat32;
  };

  // The node's side. RESOURCE_EXHAUSTED or the system's error when there is no memory.
  static absl::StatusOr<std::shared_ptr<TensorSegment>> Create(const Shape& shape);
  // The worker's side, of a descriptor that came from the node. INVALID_ARGUMENT when it is not sealed or too small,
  // RESOURCE_EXHAUSTED when none came or a limit of the process binds.
  static absl::StatusOr<std::shared_ptr<TensorSegment>> Map(FileDescriptor file, const Shape& shape);
  static int64_t SizeBytes(const Shape& shape);

  TensorSegment(FileDescriptor file, void* memory, const Shape& shape);
  TensorSegment(const TensorSegment&) = delete;
  TensorSegment& operator=(const TensorSegment&) = delete;
  ~TensorSegment();

  const Shape& shape() const { return shape_; }
  int64_t size_bytes() const { return SizeBytes(shape_); }
  // REQUIRES: slot is below the number of slots.
  TensorView gradient(uint32_t slot) const;
  TensorView result(uint32_t slot) const;

  // For passing on; -1 after CloseFile. The mapping does not need it.
  int fd() const { return file_.get(); }
  void CloseFile() { file_.Close(); }

 private:
  TensorView Slot(uint32_t index) const;

  FileDescriptor file_;
  void* const memory_;
  const Shape shape_;
  const HomeProcess process_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_TENSOR_SEGMENT_H_
