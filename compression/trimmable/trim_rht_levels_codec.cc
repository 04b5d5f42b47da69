#include "compression/trimmable/trim_rht_levels_codec.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "compression/codecs/scale_check.h"
#include "compression/kernels/hadamard.h"
#include "compression/kernels/lane_sums.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/random_bits.h"
#include "compression/trimmable/bit_planes.h"
#include "compression/trimmable/embedded_quantizer.h"
#include "compression/trimmable/range_layout.h"
#include "compression/trimmable/side_information.h"
#include "core/buffer.h"

namespace banyan {
namespace {

constexpr int kLevels = 6;
constexpr BitPlane kPlanes[kLevels] = {{31, 1}, {30, 1}, {29, 1}, {28, 1}, {24, 4}, {0, 24}};
constexpr int64_t kUnitAt = kSeedBytes;
constexpr int64_t kGreatestAt = kUnitAt + kScaleBytes;
constexpr int64_t kFirstScaleAt = kGreatestAt + kScaleBytes;

// Where the scale of a level lies in its frame, and its plane behind.
int64_t ScaleAt(int level) { return level == 0 ? kFirstScaleAt : 0; }
bool HasScale(int level) { return level + 1 < kLevels; }
int64_t PlaneAt(int level) { return ScaleAt(level) + (HasScale(level) ? kScaleBytes : 0); }

// The bits of a code in the first levels up to `level`.
int BitsUpTo(int level) { return 32 - kPlanes[level].lowest; }

// A transformed row with its codes.
struct CodedRow {
  absl::Span<const float> row;
  std::vector<uint32_t> codes;
  QuantizerScale scale;
  double squares = 0;
};

CodedRow CodeOf(absl::Span<const float> row) {
  CodedRow coded{.row = row, .codes = std::vector<uint32_t>(row.size()), .scale = {}, .squares = SumOfSquares(row)};
  coded.scale.unit = RootMeanSquare(row);
  if (!(coded.scale.unit > 0)) return coded;
  float greatest = 0;
  for (const float value : row) greatest = std::max(greatest, std::abs(value));
  coded.scale.greatest = greatest / coded.scale.unit;
  QuantizeEmbedded(row, coded.scale, absl::MakeSpan(coded.codes));
  return coded;
}

// The scale with which the codes cut to `level` are unbiased.
float ScaleOf(const CodedRow& coded, int level) {
  if (!(coded.scale.unit > 0)) return coded.scale.unit;
  return static_cast<float>(coded.squares /
                            CorrelateEmbedded(coded.codes, BitsUpTo(level), coded.scale.greatest, coded.row));
}

void WriteLevel(const CodedRow& coded, int level, uint8_t* frame) {
  if (HasScale(level)) StoreLittleEndian(ScaleOf(coded, level), frame + ScaleAt(level));
  PackPlane(coded.codes, kPlanes[level], frame + PlaneAt(level));
}

}  // namespace

int64_t TrimRhtLevelsCodec::LevelBytes(int64_t elements, int level) const {
  return PlaneAt(level) + PlaneBytes(RowOf(elements), kPlanes[level].width);
}

void TrimRhtLevelsCodec::EncodeRange(absl::Span<const float> values, uint64_t seed,
                                     absl::Span<uint8_t* const> levels) const {
  Buffer row = Buffer::AllocateForOverwrite(RowOf(static_cast<int64_t>(values.size())));
  FlipAndTransform(values, KeyOfBlock(seed, 0), row.mutable_floats());
  const CodedRow coded = CodeOf(row.floats());
  StoreLittleEndian(seed, levels[0]);
  StoreLittleEndian(coded.scale.unit, levels[0] + kUnitAt);
  StoreLittleEndian(coded.scale.greatest, levels[0] + kGreatestAt);
  for (size_t level = 0; level < levels.size(); ++level) WriteLevel(coded, static_cast<int>(level), levels[level]);
}

absl::Status TrimRhtLevelsCodec::CheckLevel(const uint8_t* frame, int64_t elements, int level) const {
  const int64_t row = RowOf(elements);
  if (!IsPlanePaddingZero(frame + PlaneAt(level), row, kPlanes[level].width)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected zero bits after level %d of %d elements in %s, got others", level, elements, name()));
  }
  if (!HasScale(level)) return absl::OkStatus();
  // Level 0 has the unit and the greatest magnitude in front of its scale.
  return level == 0 ? CheckScales(name(), frame + kUnitAt, 3) : CheckScales(name(), frame + ScaleAt(level), 1);
}

void TrimRhtLevelsCodec::DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const {
  std::vector<uint32_t> codes(RowOf(static_cast<int64_t>(values.size())));
  for (size_t level = 0; level < levels.size(); ++level) {
    UnpackPlane(levels[level] + PlaneAt(static_cast<int>(level)), kPlanes[level], absl::MakeSpan(codes));
  }
  const int last = static_cast<int>(levels.size()) - 1;
  Buffer row = Buffer::AllocateForOverwrite(static_cast<int64_t>(codes.size()));
  DequantizeEmbedded(codes, BitsUpTo(last), LoadLittleEndian<float>(levels[0] + kGreatestAt), row.mutable_floats());
  Transform(row.mutable_floats());
  const uint8_t* scale = HasScale(last) ? levels[last] + ScaleAt(last) : levels[0] + kUnitAt;
  FlipInto(row.floats(), KeyOfBlock(LoadLittleEndian<uint64_t>(levels[0]), 0),
           LoadLittleEndian<float>(scale) / static_cast<float>(codes.size()), values);
}

}  // namespace banyan
