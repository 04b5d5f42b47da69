// Numbers in the bytes of frames, at any alignment.
#ifndef BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_
#define BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

namespace banyan {

static_assert(std::endian::native == std::endian::little, "frames hold the machine's own numbers");

// REQUIRES: sizeof(Number) bytes.
template <typename Number>
Number LoadLittleEndian(const uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return number;
}

// Writes sizeof(Number) bytes.
template <typename Number>
void StoreLittleEndian(Number number, uint8_t* bytes) {
  std::memcpy(bytes, &number, sizeof(number));
}

// Appends numbers of few bits to memory, the lowest bit of a byte first. Thread-compatible; whoever owns the memory
// keeps it until the writer is done.
class BitWriter {
 public:
  static constexpr int kMaxBits = 32;

  // Writes all of `bytes`, which has room for every bit that is appended; Finish() makes the rest zero.
  explicit BitWriter(absl::Span<uint8_t> bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // REQUIRES: 0 <= bits <= kMaxBits, value < 2^bits.
  void Append(uint64_t value, int bits) {
    pending_ |= value << pending_bits_;
    pending_bits_ += bits;
    if (pending_bits_ >= kMaxBits) Flush();
  }

  void AppendZeros(int64_t count) {
    for (; count > kMaxBits; count -= kMaxBits) Append(0, kMaxBits);
    Append(0, static_cast<int>(count));
  }

  void Finish() {
    for (; pending_bits_ > 0; pending_bits_ -= 8, pending_ >>= 8) *next_++ = static_cast<uint8_t>(pending_);
    std::fill(next_, end_, uint8_t{0});
  }

 private:
  void Flush() {
    StoreLittleEndian(static_cast<uint32_t>(pending_), next_);
    next_ += sizeof(uint32_t);
    pending_ >>= kMaxBits;
    pending_bits_ -= kMaxBits;
  }

  uint8_t* next_;
  uint8_t* end_;
  uint64_t pending_ = 0;
  int pending_bits_ = 0;  // below kMaxBits between two calls
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_
