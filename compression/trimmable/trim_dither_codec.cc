#include "compression/trimmable/trim_dither_codec.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compression/kernels/little_endian.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/sign_bits.h"
#include "compression/trimmable/dither.h"
#include "compression/trimmable/side_information.h"
#include "core/buffer.h"

namespace banyan {
namespace {

constexpr float kDeviations = 2.5f;
constexpr int64_t kSignsAt = kSeedBytes + kScaleBytes;

float BoundOf(absl::Span<const float> values) {
  const float bound = kDeviations * RootMeanSquare(values);
  return std::isfinite(bound) ? bound : std::numeric_limits<float>::quiet_NaN();
}

void EncodeHead(absl::Span<const float> values, uint64_t seed, uint8_t* head) {
  const float bound = BoundOf(values);
  StoreLittleEndian(seed, head);
  StoreLittleEndian(bound, head + kSeedBytes);
  // The signs of not-a-numbers depend on the order of operands.
  if (std::isnan(bound)) {
    std::memset(head + kSignsAt, 0, SignBytes(static_cast<int64_t>(values.size())));
    return;
  }
  Buffer dithered = Buffer::AllocateForOverwrite(static_cast<int64_t>(values.size()));
  AddDither(values, KeyOfBlock(seed, 0), bound, dithered.mutable_floats());
  PackSigns(dithered.floats(), head + kSignsAt);
}

}  // namespace

int64_t TrimDitherCodec::LevelBytes(int64_t elements, int level) const {
  return level == 0 ? kSignsAt + SignBytes(elements) : elements * static_cast<int64_t>(sizeof(float));
}

void TrimDitherCodec::EncodeRange(absl::Span<const float> values, uint64_t seed,
                                  absl::Span<uint8_t* const> levels) const {
  EncodeHead(values, seed, levels[0]);
  if (levels.size() > 1) std::memcpy(levels[1], values.data(), values.size() * sizeof(float));
}

absl::Status TrimDitherCodec::CheckLevel(const uint8_t* frame, int64_t elements, int level) const {
  return level == 0 ? CheckHead(name(), frame + kSeedBytes, frame + kSignsAt, elements) : absl::OkStatus();
}

void TrimDitherCodec::DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const {
  if (levels.size() > 1) {
    std::memcpy(values.data(), levels[1], values.size() * sizeof(float));
    return;
  }
  const auto bound = LoadLittleEndian<float>(levels[0] + kSeedBytes);
  UnpackSigns(levels[0] + kSignsAt, bound, values);
  if (subtracts_) SubtractDither(KeyOfBlock(LoadLittleEndian<uint64_t>(levels[0]), 0), bound, values);
}

}  // namespace banyan
