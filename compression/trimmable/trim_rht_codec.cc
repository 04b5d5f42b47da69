#include "compression/trimmable/trim_rht_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compression/kernels/hadamard.h"
#include "compression/kernels/lane_sums.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/rht_layout.h"
#include "compression/kernels/sign_bits.h"
#include "compression/trimmable/range_layout.h"
#include "compression/trimmable/side_information.h"
#include "compression/trimmable/tail_bits.h"
#include "core/buffer.h"

namespace banyan {
namespace {

constexpr int64_t kRowSignsAt = kSeedBytes + kScaleBytes;

}  // namespace

int64_t TrimRhtCodec::LevelBytes(int64_t elements, int level) const {
  const int64_t row = RowOf(elements);
  return level == 0 ? kRowSignsAt + SignBytes(row) : TailBytes(row);
}

void TrimRhtCodec::EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const {
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

absl::Status TrimRhtCodec::CheckLevel(const uint8_t* frame, int64_t elements, int level) const {
  const int64_t row = RowOf(elements);
  return level == 0 ? CheckHead(name(), frame + kSeedBytes, frame + kRowSignsAt, row) : CheckTails(name(), frame, row);
}

void TrimRhtCodec::DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const {
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

}  // namespace banyan
