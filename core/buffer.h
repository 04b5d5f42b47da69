// A reference-counted array of numbers that moves between protocol thread, compute pool, sockets and shared memory
// without being copied. Copying a Buffer shares the memory; the last copy gives it back. The handle is
// thread-compatible; who may write the memory is agreed by protocol: one writer until it is handed on, readers only
// afterwards.
#ifndef BANYAN_CORE_BUFFER_H_
#define BANYAN_CORE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "core/data_type.h"

namespace banyan {

enum class MemoryKind : uint8_t { kHost, kShared, kDevice };

class Buffer {
 public:
  // An empty buffer: no elements, no memory.
  Buffer() = default;

  // `elements` zeros in host memory, aligned to 64 bytes.
  static Buffer Allocate(int64_t elements, DataType type = DataType::kFloat32);
  // The same with whatever lay in the memory before, for somebody who writes every element before any is read.
  static Buffer AllocateForOverwrite(int64_t elements, DataType type = DataType::kFloat32);
  // A host copy of `values`.
  static Buffer CopyOf(absl::Span<const float> values);
  static Buffer CopyOfBytes(absl::Span<const uint8_t> bytes);
  // Memory that somebody else owns: `release` runs when the last copy is gone, on whichever thread drops it.
  // REQUIRES: `data` is aligned for `type`.
  static Buffer Wrap(void* data, int64_t elements, DataType type, MemoryKind memory, std::function<void()> release);

  int64_t elements() const { return elements_; }
  int64_t size_bytes() const { return elements_ * SizeOf(type_); }
  bool empty() const { return elements_ == 0; }
  DataType type() const { return type_; }
  MemoryKind memory() const { return memory_; }

  // Elements [first, first + count) of this buffer, sharing its memory. REQUIRES: they lie inside.
  Buffer Slice(int64_t first, int64_t count) const;
  // The same memory as bytes.
  Buffer AsBytes() const;
  // The same memory as numbers of another type. REQUIRES: a whole number of them, aligned.
  Buffer As(DataType type) const;
  Buffer AsFloats() const { return As(DataType::kFloat32); }

  // REQUIRES: type() is kFloat32 and the memory is not a device's.
  absl::Span<const float> floats() const;
  absl::Span<float> mutable_floats();
  // REQUIRES: the memory is not a device's.
  absl::Span<const uint8_t> bytes() const;
  const void* data() const { return data_; }
  void* mutable_data() { return data_; }

 private:
  // Shared because sockets' I/O threads, the resend list and the pool hold the same memory at the same time.
  std::shared_ptr<void> owner_;
  void* data_ = nullptr;
  int64_t elements_ = 0;
  DataType type_ = DataType::kFloat32;
  MemoryKind memory_ = MemoryKind::kHost;
};

// The frames of one chunk, the most important first; each travels as a socket frame of its own.
using Payload = std::vector<Buffer>;

int64_t PayloadBytes(const Payload& payload);

}  // namespace banyan

#endif  // BANYAN_CORE_BUFFER_H_
