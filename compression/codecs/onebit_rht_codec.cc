#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/hadamard.h"
#include "compression/kernels/sign_bits.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vector_math.h"
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

// One bit per element: the signs after a randomized Hadamard transform, with the unbiased scale of DRIVE (Vargaftik et
// al., "DRIVE: One-bit Distributed Mean Estimation", 2021).
//
// Elements are cut into rows of 32,768. What is left over is cut into rows of the largest power of two that fits, down
// to 1,024. At last comes one row of the next power of two, filled up with zeros. Each row x of n is turned into
// y = H D x (hadamard.h, key KeyOfBlock(seed, row)), n times longer in square norm than x. The frame, little-endian:
// the seed as uint64; a float32 scale f = ||x||^2 / ||y||_1 per row, summed as in vector_math.h; then for each row the
// signs of y in the order of sign_bits.h, zero bits after the last. An element is that of D H f sign(y). In the words
// of the paper, with the rotation Rx = y / sqrt(n), its scale is S = ||x||^2 / ||Rx||_1 = sqrt(n) f.
//
// The product of the decoded row with the true one is always ||x||^2. That makes the estimate unbiased for a rotation
// drawn uniformly, and nearly so for this transform on rows of hundreds of elements. Rows of a few elements, or with
// nearly all of their weight on a few, are biased. Normalized mean squared error of a long row: pi/2 - 1 = 0.571,
// whatever the distribution of its elements. A row with an infinity or a not-a-number, or with magnitudes beyond about
// 2^112, decodes to not-a-numbers. Stateless, hence thread-safe.
class OneBitRht : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kOneBitRht; }

 protected:
  absl::string_view name() const override { return "onebit_rht"; }
  int64_t FrameBytes(int64_t elements) const override {
    const RhtLayout layout = RhtLayoutOf(elements);
    return kSeedBytes + layout.rows * kRowScaleBytes + layout.sign_bytes;
  }

  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override {
    std::memcpy(frame, &seed, sizeof(seed));
    ForEachRow(values, seed, frame + kSeedBytes, EncodeRow);
  }

  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override {
    const RhtLayout layout = RhtLayoutOf(elements);
    const uint8_t* last_row = frame + FrameBytes(elements) - SignBytes(layout.last_row_size);
    if (!IsPaddingZero(last_row, layout.last_row_size)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("expected zero bits after the signs of %d elements in onebit_rht, got others", elements));
    }
    return CheckScales(name(), frame + kSeedBytes, layout.rows);
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    ForEachRow(values, SeedOf(frame), frame + kSeedBytes,
               [](const Row& row, absl::Span<float> out, const uint8_t* scale, const uint8_t* signs) {
                 FlipInto(row.transformed, row.key, DecodeRow(row, scale, signs), out);
               });
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override {
    ForEachRow(values, SeedOf(frame), frame + kSeedBytes,
               [](const Row& row, absl::Span<float> out, const uint8_t* scale, const uint8_t* signs) {
                 FlipAddInto(row.transformed, row.key, DecodeRow(row, scale, signs), out);
               });
  }
};

}  // namespace

const Codec& OneBitRhtCodec() {
  static const OneBitRht codec;
  return codec;
}

}  // namespace banyan
