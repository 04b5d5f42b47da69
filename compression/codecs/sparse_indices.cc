#include "compression/codecs/sparse_indices.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/little_endian.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr int kWordBytes = sizeof(uint64_t);

int64_t BytesOfBits(int64_t bits) { return (bits + 7) / 8; }

// What the gaps behind the first one add to the unary part, apart from their ones. All gaps together are less than the
// range.
BANYAN_VECTOR_CLONES uint32_t UnaryZeros(const uint32_t* indices, int64_t count, int low_bits) {
  uint32_t zeros = 0;
  for (int64_t i = 1; i < count; ++i) zeros += (indices[i] - indices[i - 1] - 1) >> low_bits;
  return zeros;
}

int64_t UnaryBits(absl::Span<const uint32_t> indices, int low_bits) {
  const int64_t count = indices.size();
  return count + (indices[0] >> low_bits) + UnaryZeros(indices.data(), count, low_bits);
}

// The eight bytes from `offset` on, zero behind the end. REQUIRES: offset <= bytes.size().
uint64_t WordAt(absl::Span<const uint8_t> bytes, int64_t offset) {
  uint64_t word = 0;
  const int64_t left = static_cast<int64_t>(bytes.size()) - offset;
  if (left >= kWordBytes) {
    std::memcpy(&word, bytes.data() + offset, kWordBytes);
  } else if (left > 0) {
    std::memcpy(&word, bytes.data() + offset, left);
  }
  return word;
}

uint32_t LowBitsAt(absl::Span<const uint8_t> bytes, int64_t i, int low_bits) {
  const int64_t bit = i * low_bits;
  return (WordAt(bytes, bit / 8) >> (bit % 8)) & ((uint64_t{1} << low_bits) - 1);
}

absl::Span<const uint8_t> LowPart(absl::Span<const uint8_t> bytes, int low_bits, int64_t count) {
  return bytes.subspan(0, BytesOfBits(count * low_bits));
}

absl::Span<const uint8_t> UnaryPart(absl::Span<const uint8_t> bytes, int low_bits, int64_t count) {
  return bytes.subspan(BytesOfBits(count * low_bits));
}

int64_t CountOnes(absl::Span<const uint8_t> bytes) {
  int64_t ones = 0;
  for (size_t offset = 0; offset < bytes.size(); offset += kWordBytes) ones += std::popcount(WordAt(bytes, offset));
  return ones;
}

absl::Status Refused(const char* expected, int64_t count, int64_t got) {
  return absl::InvalidArgumentError(
      absl::StrFormat("expected %d sparse indices with %s, got %d", count, expected, got));
}

// Whether both parts have their exact sizes and no bit but those of `count` indices.
absl::Status CheckParts(absl::Span<const uint8_t> low, absl::Span<const uint8_t> unary, int low_bits, int64_t count) {
  const int padding_bits = static_cast<int>(8 * low.size() - count * low_bits);
  if (padding_bits > 0 && low.back() >> (8 - padding_bits) != 0) {
    return Refused("zeros behind their low bits", count, low.back());
  }
  const int64_t ones = CountOnes(unary);
  if (ones != count) return Refused("a one for each in their unary part", count, ones);
  if (!unary.empty() && unary.back() == 0) return Refused("nothing behind the last one", count, unary.back());
  return absl::OkStatus();
}

}  // namespace

SparseIndexForm SmallestIndexForm(absl::Span<const uint32_t> indices) {
  if (indices.empty()) return {};
  return SmallestIndexForm(indices.size(), indices.back(), [&](int low_bits) { return UnaryBits(indices, low_bits); });
}

SparseIndexForm SmallestIndexForm(int64_t count, uint32_t last, absl::FunctionRef<int64_t(int)> unary_bits) {
  // All bits together are convex in low_bits, and fewest near the logarithm of the mean gap.
  const uint64_t mean_gap = (uint64_t{last} + 1) / count;
  int best = std::min<int>(std::bit_width(mean_gap) - 1, kMaxSparseLowBits);
  int64_t best_bits = count * best + unary_bits(best);
  for (int step : {-1, 1}) {
    for (int low_bits = best + step; low_bits >= 0 && low_bits <= kMaxSparseLowBits; low_bits += step) {
      const int64_t bits = count * low_bits + unary_bits(low_bits);
      if (bits >= best_bits) break;
      best = low_bits;
      best_bits = bits;
    }
  }
  const auto form_with = [&](int low_bits) -> SparseIndexForm {
    const int64_t size_bytes = BytesOfBits(count * low_bits) + BytesOfBits(unary_bits(low_bits));
    return {.low_bits = low_bits, .size_bytes = size_bytes};
  };
  // Two parts may need a byte more than the bitmap, which is one.
  const SparseIndexForm form = form_with(best);
  const SparseIndexForm bitmap = form_with(0);
  return bitmap.size_bytes <= form.size_bytes ? bitmap : form;
}

void WriteSparseIndices(absl::Span<const uint32_t> indices, const SparseIndexForm& form, absl::Span<uint8_t> bytes) {
  BANYAN_CHECK(static_cast<int64_t>(bytes.size()) == form.size_bytes);
  const int64_t low_bytes = BytesOfBits(static_cast<int64_t>(indices.size()) * form.low_bits);
  BitWriter low(bytes.subspan(0, low_bytes));
  BitWriter unary(bytes.subspan(low_bytes));
  const uint32_t mask = (uint32_t{1} << form.low_bits) - 1;
  uint32_t next = 0;  // the index that would leave no gap
  for (uint32_t index : indices) {
    const uint32_t gap = index - next;
    uint32_t zeros = gap >> form.low_bits;
    next = index + 1;
    low.Append(gap & mask, form.low_bits);
    if (zeros >= BitWriter::kMaxBits) {
      unary.AppendZeros(zeros);
      zeros = 0;
    }
    unary.Append(uint64_t{1} << zeros, static_cast<int>(zeros) + 1);
  }
  low.Finish();
  unary.Finish();
}

absl::Status CheckSparseIndices(absl::Span<const uint8_t> bytes, int low_bits, int64_t count, int64_t range) {
  BANYAN_CHECK(range >= 0 && range <= kMaxSparseRange);
  if (low_bits < 0 || low_bits > kMaxSparseLowBits) return Refused("0 to 30 low bits", count, low_bits);
  if (count < 0 || count > range) return Refused("their number inside the range", count, range);
  if (BytesOfBits(count * low_bits) > static_cast<int64_t>(bytes.size())) {
    return Refused("all their low bits", count, bytes.size());
  }
  const absl::Span<const uint8_t> low = LowPart(bytes, low_bits, count);
  const absl::Span<const uint8_t> unary = UnaryPart(bytes, low_bits, count);
  absl::Status status = CheckParts(low, unary, low_bits, count);
  if (!status.ok() || count == 0) return status;
  // All gaps and the indices themselves reach up to the last index.
  const int64_t zeros = 8 * static_cast<int64_t>(unary.size()) - std::countl_zero(unary.back()) - count;
  if (zeros > range >> low_bits) return Refused("the last one inside the range", count, zeros);
  int64_t last = (zeros << low_bits) + count - 1;
  for (int64_t i = 0; low_bits > 0 && i < count; ++i) last += LowBitsAt(low, i, low_bits);
  if (last >= range) return Refused("the last one inside the range", count, last);
  return absl::OkStatus();
}

void ReadSparseIndices(absl::Span<const uint8_t> bytes, int low_bits, absl::Span<uint32_t> indices) {
  const int64_t count = indices.size();
  const absl::Span<const uint8_t> low = LowPart(bytes, low_bits, count);
  const absl::Span<const uint8_t> unary = UnaryPart(bytes, low_bits, count);
  int64_t i = 0;
  uint32_t lows = 0;  // all low bits so far, and one for each index
  for (int64_t offset = 0; i < count; offset += kWordBytes) {
    for (uint64_t word = WordAt(unary, offset); word != 0; word &= word - 1, ++i) {
      const uint32_t zeros = static_cast<uint32_t>(8 * offset + std::countr_zero(word) - i);
      lows += LowBitsAt(low, i, low_bits);
      indices[i] = (zeros << low_bits) + lows + static_cast<uint32_t>(i);
    }
  }
}

}  // namespace banyan
