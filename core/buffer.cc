#include "core/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

Buffer Buffer::AllocateForOverwrite(int64_t elements, DataType type) {
  BANYAN_CHECK(elements >= 0);
  if (elements == 0) return Buffer();
  void* data = ::operator new(elements* SizeOf(type), kAlignment);
  Buffer buffer;
  buffer.owner_ = std::shared_ptr<void>(data, [](void* memory) { ::operator delete(memory, kAlignment); });
  buffer.data_ = data;
  buffer.elements_ = elements;
  buffer.type_ = type;
  return buffer;
}

Buffer Buffer::Allocate(int64_t elements, DataType type) {
  Buffer buffer = AllocateForOverwrite(elements, type);
  if (elements > 0) std::memset(buffer.data_, 0, buffer.size_bytes());
  return buffer;
}

Buffer Buffer::CopyOf(absl::Span<const float> values) {
  Buffer buffer = AllocateForOverwrite(values.size(), DataType::kFloat32);
  if (!values.empty()) std::memcpy(buffer.data_, values.data(), buffer.size_bytes());
  return buffer;
}

Buffer Buffer::CopyOfBytes(absl::Span<const uint8_t> bytes) {
  Buffer buffer = AllocateForOverwrite(bytes.size(), DataType::kByte);
  if (!bytes.empty()) std::memcpy(buffer.data_, bytes.data(), bytes.size());
  return buffer;
}

Buffer Buffer::Wrap(void* data, int64_t elements, DataType type, MemoryKind memory, std::function<void()> release) {
  BANYAN_CHECK(elements >= 0);
  BANYAN_CHECK(reinterpret_cast<uintptr_t>(data) % SizeOf(type) == 0);
  Buffer buffer;
  buffer.owner_ = std::shared_ptr<void>(data, [release = std::move(release)](void*) {
    if (release) release();
  });
  buffer.data_ = data;
  buffer.elements_ = elements;
  buffer.type_ = type;
  buffer.memory_ = memory;
  return buffer;
}

Buffer Buffer::Slice(int64_t first, int64_t count) const {
  BANYAN_CHECK(first >= 0 && count >= 0 && first <= elements_ && count <= elements_ - first);
  Buffer slice = *this;
  slice.data_ = static_cast<uint8_t*>(data_) + first * SizeOf(type_);
  slice.elements_ = count;
  return slice;
}

Buffer Buffer::AsBytes() const {
  Buffer bytes = *this;
  bytes.elements_ = size_bytes();
  bytes.type_ = DataType::kByte;
  return bytes;
}

Buffer Buffer::As(DataType type) const {
  const int64_t size = SizeOf(type);
  BANYAN_CHECK(size_bytes() % size == 0 && reinterpret_cast<uintptr_t>(data_) % size == 0);
  Buffer numbers = *this;
  numbers.elements_ = size_bytes() / size;
  numbers.type_ = type;
  return numbers;
}

absl::Span<const float> Buffer::floats() const {
  BANYAN_CHECK(type_ == DataType::kFloat32 && memory_ != MemoryKind::kDevice);
  return {static_cast<const float*>(data_), static_cast<size_t>(elements_)};
}

absl::Span<float> Buffer::mutable_floats() {
  BANYAN_CHECK(type_ == DataType::kFloat32 && memory_ != MemoryKind::kDevice);
  return {static_cast<float*>(data_), static_cast<size_t>(elements_)};
}

absl::Span<const uint8_t> Buffer::bytes() const {
  BANYAN_CHECK(memory_ != MemoryKind::kDevice);
  return {static_cast<const uint8_t*>(data_), static_cast<size_t>(size_bytes())};
}

int64_t PayloadBytes(const Payload& payload) {
  int64_t size_bytes = 0;
  for (const Buffer& frame : payload) size_bytes += frame.size_bytes();
  return size_bytes;
}

}  // namespace banyan
