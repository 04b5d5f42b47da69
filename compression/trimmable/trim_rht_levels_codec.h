// As trim_rht_codec.h, with more levels to cut at: a coordinate after the transform in 1, 2, 3, 4, 8 and 32 bits, each
// level with the bits that the one before lacks. Level 0: the seed as uint64; the root mean square u of the row, its
// greatest magnitude in units of u, and a scale as float32; then the first bit of each code (embedded_quantizer.h).
// Levels 1 to 4: a scale as float32, then 1, 1, 1 and 4 bits each. Level 5: 24 bits each (bit_planes.h).
//
// With q the coordinates as codes cut to the level's bits, a range decodes to D H f q / n. The scale f = ||y||^2 / <y,
// q> makes the product with the truth its squared norm, as DRIVE's does (onebit_rht_codec.h): unbiased on rows of
// hundreds of elements. With all levels f is u: exact to about the rounding of the transform. Normalized mean squared
// error D / (1 - D), whatever the distribution: 0.571 with 1 bit, 0.137 with 2, 0.036 with 3, 0.0096 with 4, 0.00007
// with 8. Rows that are not finite are as with trim_rht. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_LEVELS_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_LEVELS_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/trimmable/prefix_codec.h"

namespace banyan {

class TrimRhtLevelsCodec : public PrefixCodec {
 public:
  CodecId id() const override { return CodecId::kTrimRhtLevels; }
  int levels() const override { return 6; }

 protected:
  absl::string_view name() const override { return "trim_rht_levels"; }
  RangeShape shape() const override { return RangeShape::kPowersOfTwo; }
  int64_t LevelBytes(int64_t elements, int level) const override;
  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const override;
  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override;
  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_RHT_LEVELS_CODEC_H_
