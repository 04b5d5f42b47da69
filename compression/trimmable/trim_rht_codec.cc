#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/kernels/hadamard.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/sign_bits.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vector_math.h"
#include "compression/trimmable/level_bits.h"
#include "compression/trimmable/prefix_codec.h"
#include "compression/trimmable/trim_codecs.h"
#include "core/buffer.h"

namespace banyan {
namespace {

constexpr int64_t kRowSignsAt = kSeedBytes + kScaleBytes;

// Signs, then magnitudes, after a randomized Hadamard transform. A range of n elements is a row: filled up with zeros
// to a power of two, and transformed to y = H D x (hadamard.h). Level 0: the seed as uint64, the scale
// f = ||x||^2 / ||y||_1 as float32, the signs of y in the order of sign_bits.h. Level 1: the other 31 bits of each
// coordinate (level_bits.h). With both levels an element is that of D H y / n: exact up to the rounding of the
// transform. The head alone says D H f sign(y), as onebit_rht_codec.cc does.
//
// The head alone is unbiased on rows of hundreds of elements, with a normalized mean squared error of pi/2 - 1 = 0.571
// whatever their distribution. A row with an infinity or a not-a-number, or with magnitudes beyond about 2^112, decodes
// to not-a-numbers. Stateless, hence thread-safe.
class TrimRht : public PrefixCodec {
 public:
  CodecId id() const override { return CodecId::kTrimRht; }
  int levels() const override { return 2; }

 protected:
  absl::string_view name() const override { return "trim_rht"; }
  RangeShape shape() const override { return RangeShape::kPowersOfTwo; }
  int64_t LevelBytes(int64_t elements, int level) const override {
    const int64_t row = RowOf(elements);
    return level == 0 ? kRowSignsAt + SignBytes(row) : TailBytes(row);
  }

  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const override {
    Buffer row = Buffer::AllocateForOverwrite(RowOf(static_cast<int64_t>(values.size())));
    FlipAndTransform(values, KeyOfBlock(seed, 0), row.mutable_floats());
    StoreLittleEndian(seed, levels[0]);
    const float scale = RhtScale(SumOfSquares(values), PackSigns(row.floats(), levels[0] + kRowSignsAt));
    StoreLittleEndian(scale, levels[0] + kSeedBytes);
    if (std::isnan(scale)) {
      // The bits of not-a-numbers depend on the order of operands.
      std::memset(levels[0] + kRowSignsAt, 0, SignBytes(row.elements()));
      const absl::Span<float> transformed = row.mutable_floats();
      std::fill(transformed.begin(), transformed.end(), std::numeric_limits<float>::quiet_NaN());
    }
    if (levels.size() > 1) PackTails(row.floats(), levels[1]);
  }

  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override {
    const int64_t row = RowOf(elements);
    return level == 0 ? CheckHead(name(), frame + kSeedBytes, frame + kRowSignsAt, row)
                      : CheckTails(name(), frame, row);
  }

  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override {
    const uint8_t* signs = levels[0] + kRowSignsAt;
    Buffer row = Buffer::AllocateForOverwrite(RowOf(static_cast<int64_t>(values.size())));
    const bool is_whole = levels.size() > 1;
    if (is_whole) {
      UnpackTails(signs, levels[1], row.mutable_floats());
    } else {
      UnpackSigns(signs, 1.0f, row.mutable_floats());
    }
    Transform(row.mutable_floats());
    const float factor =
        is_whole ? 1.0f / static_cast<float>(row.elements()) : LoadLittleEndian<float>(levels[0] + kSeedBytes);
    FlipInto(row.floats(), KeyOfBlock(LoadLittleEndian<uint64_t>(levels[0]), 0), factor, values);
  }
};

}  // namespace

const Codec& TrimRhtCodec() {
  static const TrimRht codec;
  return codec;
}

}  // namespace banyan
