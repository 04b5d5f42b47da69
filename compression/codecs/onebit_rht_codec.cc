#include "compression/codecs/onebit_rht_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"
#include "compression/codecs/scale_check.h"
#include "compression/kernels/hadamard.h"
#include "compression/kernels/lane_sums.h"
#include "compression/kernels/rht_layout.h"
#include "compression/kernels/sign_bits.h"
#include "core/buffer.h"

namespace banyan {
namespace {

constexpr int64_t kSeedBytes = sizeof(uint64_t);
constexpr int64_t kRowScaleBytes = sizeof(float);

struct Row {
  RandomKey key;
  absl::Span<float> transformed;  // scratch of the row's size
};

// Calls use(row, its values, its scale's bytes, its signs) for each row; `frame` starts at the scales.
template <typename Float, typename Byte, typename Use>
void ForEachRow(absl::Span<Float> values, uint64_t seed, Byte* frame, Use use) {
  const int64_t elements = static_cast<int64_t>(values.size());
  Buffer scratch = Buffer::AllocateForOverwrite(NextRhtRowSize(elements));
  Byte* signs = frame + RhtLayoutOf(elements).rows * kRowScaleBytes;
  uint64_t index = 0;
  for (int64_t first = 0; first < elements; ++index) {
    const int64_t size = NextRhtRowSize(elements - first);
    const Row row{.key = KeyOfBlock(seed, index), .transformed = scratch.mutable_floats().subspan(0, size)};
    use(row, values.subspan(first, std::min(size, elements - first)), frame, signs);
    frame += kRowScaleBytes;
    signs += SignBytes(size);
    first += size;
  }
}

void EncodeRow(const Row& row, absl::Span<const float> values, uint8_t* scale_bytes, uint8_t* signs) {
  const double squares = SumOfSquares(values);
  FlipAndTransform(values, row.key, row.transformed);
  const float scale = RhtScale(squares, PackSigns(row.transformed, signs));
  std::memcpy(scale_bytes, &scale, sizeof(scale));
  // The signs of not-a-numbers depend on the order of operands.
  if (std::isnan(scale)) std::memset(signs, 0, SignBytes(static_cast<int64_t>(row.transformed.size())));
}

uint64_t SeedOf(const uint8_t* frame) {
  uint64_t seed;
  std::memcpy(&seed, frame, sizeof(seed));
  return seed;
}

// Leaves H sign(y) in the row's scratch and returns the scale.
float DecodeRow(const Row& row, const uint8_t* scale_bytes, const uint8_t* signs) {
  UnpackSigns(signs, 1.0f, row.transformed);
  Transform(row.transformed);
  float scale;
  std::memcpy(&scale, scale_bytes, sizeof(scale));
  return scale;
}

}  // namespace

int64_t OneBitRhtCodec::FrameBytes(int64_t elements) const {
  const RhtLayout layout = RhtLayoutOf(elements);
  return kSeedBytes + layout.rows * kRowScaleBytes + layout.sign_bytes;
}

void OneBitRhtCodec::EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const {
  std::memcpy(frame, &seed, sizeof(seed));
  ForEachRow(values, seed, frame + kSeedBytes, EncodeRow);
}

absl::Status OneBitRhtCodec::CheckContent(const uint8_t* frame, int64_t elements) const {
  const RhtLayout layout = RhtLayoutOf(elements);
  const uint8_t* last_row = frame + FrameBytes(elements) - SignBytes(layout.last_row_size);
  if (!IsPaddingZero(last_row, layout.last_row_size)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected zero bits after the signs of %d elements in onebit_rht, got others", elements));
  }
  return CheckScales(name(), frame + kSeedBytes, layout.rows);
}

void OneBitRhtCodec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  ForEachRow(values, SeedOf(frame), frame + kSeedBytes,
             [](const Row& row, absl::Span<float> out, const uint8_t* scale, const uint8_t* signs) {
               FlipInto(row.transformed, row.key, DecodeRow(row, scale, signs), out);
             });
}

void OneBitRhtCodec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  ForEachRow(values, SeedOf(frame), frame + kSeedBytes,
             [](const Row& row, absl::Span<float> out, const uint8_t* scale, const uint8_t* signs) {
               FlipAddInto(row.transformed, row.key, DecodeRow(row, scale, signs), out);
             });
}

}  // namespace banyan
