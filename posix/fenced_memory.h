// Memory of this process that no code reaches while it is closed: a load or store there then ends the process, as one
// of a GPU's addresses would. Thread-compatible.
//
// Invariants:
// - It is closed but between Open() and Close().
#ifndef BANYAN_POSIX_FENCED_MEMORY_H_
#define BANYAN_POSIX_FENCED_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace banyan {

class FencedMemory {
 public:
  // Maps `size_bytes` of zeros, at the start of a page. RESOURCE_EXHAUSTED where the system has none. REQUIRES: > 0.
  static absl::StatusOr<std::unique_ptr<FencedMemory>> Map(int64_t size_bytes);
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  ~FencedMemory();

  void Open();
  void Close();
  void* data() const { return data_; }

 private:
  FencedMemory(void* data, int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  void* const data_;
  const int64_t size_bytes_;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_FENCED_MEMORY_H_
