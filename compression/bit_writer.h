// Appends numbers of few bits to memory, the lowest bit of a byte first. Thread-compatible; whoever owns the memory
// keeps it until the writer is done.
#ifndef BANYAN_COMPRESSION_BIT_WRITER_H_
#define BANYAN_COMPRESSION_BIT_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

namespace banyan {

class BitWriter {
 public:
  static constexpr int kMaxBits = 56;

  // Writes all of `bytes`, which has room for every bit that is appended; Finish() makes the rest zero.
  explicit BitWriter(absl::Span<uint8_t> bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // REQUIRES: 0 <= bits <= kMaxBits, value < 2^bits.
  void Append(uint64_t value, int bits) {
    pending_ |= value << pending_bits_;
    pending_bits_ += bits;
    // Whole words, although only the whole bytes of them are done: what follows is written again.
    if (end_ - next_ >= static_cast<ptrdiff_t>(sizeof(pending_))) {
      std::memcpy(next_, &pending_, sizeof(pending_));
    } else {
      std::memcpy(next_, &pending_, end_ - next_);
    }
    next_ += pending_bits_ >> 3;
    pending_ >>= pending_bits_ & ~7;
    pending_bits_ &= 7;
  }

  void AppendZeros(int64_t count) {
    for (; count > kMaxBits; count -= kMaxBits) Append(0, kMaxBits);
    Append(0, static_cast<int>(count));
  }

  void Finish() {
    if (pending_bits_ > 0) *next_++ = static_cast<uint8_t>(pending_);
    std::fill(next_, end_, uint8_t{0});
  }

 private:
  uint8_t* next_;
  uint8_t* end_;
  uint64_t pending_ = 0;
  int pending_bits_ = 0;  // below 8 between two calls
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_BIT_WRITER_H_
