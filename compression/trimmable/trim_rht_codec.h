// Signs, then magnitudes, after a randomized Hadamard transform. A range of n elements is a row: filled up with zeros
// to a power of two, and transformed to y = H D x (hadamard.h). Level 0: the seed as uint64, the scale
// f = ||x||^2 / ||y||_1 as float32, the signs of y in the order of sign_bits.h. Level 1: the other 31 bits of each
// coordinate (tail_bits.h). With both levels an element is that of D H y / n: exact up to the rounding of the
// transform. The head alone says D H f sign(y), as onebit_rht_codec.h does.
//
// The head alone is unbiased on rows of hundreds of elements, with a normalized mean squared error of pi/2 - 1 = 0.571
// whatever their distribution. A row with an infinity or a not-a-number, or with magnitudes beyond about 2^112, decodes
// to not-a-numbers. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/trimmable/prefix_codec.h"

namespace banyan {

class TrimRhtCodec : public PrefixCodec {
 public:
  CodecId id() const override { return CodecId::kTrimRht; }
  int levels() const override { return 2; }

 protected:
  absl::string_view name() const override { return "trim_rht"; }
  RangeShape shape() const override { return RangeShape::kPowersOfTwo; }
  int64_t LevelBytes(int64_t elements, int level) const override;
  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const override;
  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override;
  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_CODEC_H_
