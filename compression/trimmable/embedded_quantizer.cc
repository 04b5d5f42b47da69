#include "compression/trimmable/embedded_quantizer.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "compression/kernels/lanes.h"
#include "compression/kernels/vector_clones.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr int kCells = 8;
constexpr int kCodeBits = 32;
constexpr int kCoarseBits = 4;  // the sign and the cell
constexpr int kFineBits = kCodeBits - kCoarseBits;

// The last cell has no end of its own.
constexpr float kBounds[kCells] = {0, 0.2582f, 0.5224f, 0.7996f, 1.0993f, 1.4371f, 1.8435f, 2.4008f};
constexpr float kLeastEnd = 2.5f;

// The means of a normal number's magnitude in 8, 4, 2 and 1 neighbouring cells.
constexpr float kMeans1[] = {0.7978846f};
constexpr float kMeans2[] = {0.4967919f, 1.6052287f};
constexpr float kMeans3[] = {0.2553155f, 0.7886890f, 1.4059885f, 2.2353530f};
constexpr float kMeans4[] = {0.1283844f, 0.3880354f, 0.6567806f, 0.9423741f,
                             1.2562227f, 1.6180108f, 2.0689948f, 2.7325865f};
constexpr const float* kMeans[] = {kMeans1, kMeans2, kMeans3, kMeans4};

// The cell widths of a row with that greatest magnitude.
struct Widths {
  explicit Widths(float greatest) {
    for (int cell = 0; cell + 1 < kCells; ++cell) of[cell] = kBounds[cell + 1] - kBounds[cell];
    of[kCells - 1] = std::max(greatest, kLeastEnd) - kBounds[kCells - 1];
  }
  float of[kCells];
};

BANYAN_VECTOR_CLONES void Quantize(const float* __restrict row, float unit, const float* __restrict widths,
                                   uint32_t* __restrict codes, size_t count) {
  constexpr float kFineSteps = 0x1p28f;
  constexpr float kLastFine = 0x1.fffffep27f;
  for (size_t i = 0; i < count; ++i) {
    const auto word = std::bit_cast<uint32_t>(row[i]);
    const float magnitude = std::bit_cast<float>(word & ~kSignBit) / unit;
    uint32_t cell = 0;
    float bound = 0;
    float width = widths[0];
    for (int c = 1; c < kCells; ++c) {
      const bool is_above = magnitude >= kBounds[c];
      cell += is_above ? 1 : 0;
      bound = is_above ? kBounds[c] : bound;
      width = is_above ? widths[c] : width;
    }
    const float fine = (magnitude - bound) / width * kFineSteps;
    const auto place = static_cast<uint32_t>(static_cast<int32_t>(fine < kLastFine ? fine : kLastFine));
    codes[i] = (word & kSignBit) | (cell << kFineBits) | place;
  }
}

BANYAN_VECTOR_CLONES void DequantizeCoarse(const uint32_t* __restrict codes, int bits, const float* __restrict means,
                                           float* __restrict row, size_t count) {
  const int cell_bits = bits - 1;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t cell = (codes[i] & ~kSignBit) >> (kCodeBits - 1 - cell_bits);
    row[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(means[cell]) | (codes[i] & kSignBit));
  }
}

BANYAN_VECTOR_CLONES void DequantizeFine(const uint32_t* __restrict codes, int bits, const float* __restrict widths,
                                         float* __restrict row, size_t count) {
  const int dropped = kCodeBits - bits;
  const uint32_t fine_mask = (uint32_t{1} << kFineBits) - 1;
  const float step = 1.0f / static_cast<float>(uint32_t{1} << (bits - kCoarseBits));
  for (size_t i = 0; i < count; ++i) {
    const uint32_t cell = (codes[i] & ~kSignBit) >> kFineBits;
    const auto place = static_cast<float>(static_cast<int32_t>((codes[i] & fine_mask) >> dropped));
    const float magnitude = kBounds[cell] + (place + 0.5f) * step * widths[cell];
    row[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | (codes[i] & kSignBit));
  }
}

}  // namespace

void QuantizeEmbedded(absl::Span<const float> row, const QuantizerScale& scale, absl::Span<uint32_t> codes) {
  BANYAN_CHECK(row.size() == codes.size() && scale.unit > 0);
  Quantize(row.data(), scale.unit, Widths(scale.greatest).of, codes.data(), row.size());
}

void DequantizeEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<float> row) {
  BANYAN_CHECK(row.size() == codes.size() && bits >= 1 && bits <= kCodeBits);
  if (bits <= kCoarseBits) {
    DequantizeCoarse(codes.data(), bits, kMeans[bits - 1], row.data(), row.size());
  } else {
    DequantizeFine(codes.data(), bits, Widths(greatest).of, row.data(), row.size());
  }
}

}  // namespace banyan
