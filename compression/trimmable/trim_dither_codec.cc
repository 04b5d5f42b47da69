#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/sign_bits.h"
#include "compression/trimmable/level_bits.h"
#include "compression/trimmable/prefix_codec.h"
#include "compression/trimmable/trim_codecs.h"
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

// One bit by chance, then the number. An element is cut to [-L, L], with L 2.5 times the root mean square of the range.
// A dither e, uniform in [-L, L), is added, and the head is the sign h of the sum. Level 0: the seed of the dither as
// uint64, L as float32, the signs in the order of sign_bits.h. Level 1: the elements as float32, so that with both
// levels all is exact. 32 bits and not 31: the head is not always the element's own sign.
//
// From the head alone
// - trim_sq, stochastic quantization, decodes L h: +L with probability (L + v) / 2L. Error of Gaussian values 5.25.
// - trim_sd, subtractive dithering, decodes L h - e with the same dither. The error is uniform in [-L, L) whatever the
//   value, hence L^2 / 3: 2.08.
// Both are unbiased but for what is cut off, 0.001 of the energy of Gaussian values. Its authors (HotNets 2024, see
// prefix_codec.h) print e uniform in [-L/2, L/2) for an h of magnitude L, which makes the mean twice the value;
// trim_dither_codec_test.cc shows it. Where an element is not finite, a head alone is a not-a-number in the whole
// range. Stateless, hence thread-safe.
class TrimDither : public PrefixCodec {
 public:
  // The decoder takes the dither off again if `subtracts`.
  TrimDither(CodecId id, absl::string_view name, bool subtracts) : id_(id), name_(name), subtracts_(subtracts) {}

  CodecId id() const override { return id_; }
  int levels() const override { return 2; }

 protected:
  absl::string_view name() const override { return name_; }
  int64_t LevelBytes(int64_t elements, int level) const override {
    return level == 0 ? kSignsAt + SignBytes(elements) : elements * static_cast<int64_t>(sizeof(float));
  }

  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const override {
    EncodeHead(values, seed, levels[0]);
    if (levels.size() > 1) std::memcpy(levels[1], values.data(), values.size() * sizeof(float));
  }

  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override {
    return level == 0 ? CheckHead(name(), frame + kSeedBytes, frame + kSignsAt, elements) : absl::OkStatus();
  }

  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override {
    if (levels.size() > 1) {
      std::memcpy(values.data(), levels[1], values.size() * sizeof(float));
      return;
    }
    const auto bound = LoadLittleEndian<float>(levels[0] + kSeedBytes);
    UnpackSigns(levels[0] + kSignsAt, bound, values);
    if (subtracts_) SubtractDither(KeyOfBlock(LoadLittleEndian<uint64_t>(levels[0]), 0), bound, values);
  }

 private:
  CodecId id_;
  absl::string_view name_;
  bool subtracts_;
};

}  // namespace

const Codec& TrimSqCodec() {
  static const TrimDither codec(CodecId::kTrimSq, "trim_sq", false);
  return codec;
}

const Codec& TrimSdCodec() {
  static const TrimDither codec(CodecId::kTrimSd, "trim_sd", true);
  return codec;
}

}  // namespace banyan
