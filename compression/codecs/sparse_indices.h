// Codes which elements of a chunk a sparse frame holds: rising indices as bytes, in the smaller of a bitmap and a delta
// coding. Pure functions.
//
// Both are one coding with a parameter, Golomb-Rice (Rice, "Some practical universal noiseless coding techniques",
// 1979): a gap is the number of elements that are left out before an index. Its `low_bits` lowest bits are written as
// they are, the rest of it in unary: that many zeros, then a one. With no low bits what remains is the bitmap, up to
// its last one. First come the low bits of all gaps, then the unary part of all gaps. Both go from the lowest bit of a
// byte up and are padded with zeros to a whole byte. Apart from each other both are read fast. Every sequence of bits
// that has the right number of ones is a rising sequence of indices.
//
// Bits per index of a random choice, beside the alternatives:
//   ratio of elements kept                 0.001   0.01    0.1    0.3
//   entropy, no coding is smaller          11.41   8.08   4.69   2.94
//   this coding with the best low_bits     11.49   8.11   4.76   2.96
//   high part of indices in unary (Elias)  11.95   8.56   5.25   3.67
//   gaps as bytes of seven bits            15.04  10.21   8.00   8.00
//   bitmap                                 1000    100     10    3.33
#ifndef BANYAN_COMPRESSION_CODECS_SPARSE_INDICES_H_
#define BANYAN_COMPRESSION_CODECS_SPARSE_INDICES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace banyan {

// Elements of the longest range that has sparse indices.
inline constexpr int64_t kMaxSparseRange = INT32_MAX;

inline constexpr int kMaxSparseLowBits = 30;

struct SparseIndexForm {
  int low_bits = 0;
  int64_t size_bytes = 0;

  friend bool operator==(const SparseIndexForm&, const SparseIndexForm&) = default;
};

// The form with the fewest bits, never larger than the bitmap. REQUIRES: `indices` rise and lie below kMaxSparseRange.
SparseIndexForm SmallestIndexForm(absl::Span<const uint32_t> indices);

// The same for `count` indices of which only the last and the length of the unary part for given low bits are known.
// REQUIRES: count > 0.
SparseIndexForm SmallestIndexForm(int64_t count, uint32_t last, absl::FunctionRef<int64_t(int)> unary_bits);

// Writes `indices` to all of `bytes`. REQUIRES: the form is SmallestIndexForm(indices), `bytes` is as long as it says.
void WriteSparseIndices(absl::Span<const uint32_t> indices, const SparseIndexForm& form, absl::Span<uint8_t> bytes);

// Checks that `bytes` are exactly `count` indices below `range`, with no bit beside them. REQUIRES: 0 <= range <=
// kMaxSparseRange.
absl::Status CheckSparseIndices(absl::Span<const uint8_t> bytes, int low_bits, int64_t count, int64_t range);

// Fills `indices`. REQUIRES: CheckSparseIndices() passed for as many.
void ReadSparseIndices(absl::Span<const uint8_t> bytes, int low_bits, absl::Span<uint32_t> indices);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_SPARSE_INDICES_H_
