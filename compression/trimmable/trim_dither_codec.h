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
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_DITHER_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_DITHER_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/trimmable/prefix_codec.h"

namespace banyan {

class TrimDitherCodec : public PrefixCodec {
 public:
  int levels() const final { return 2; }

 protected:
  // The decoder takes the dither off again if `subtracts`.
  explicit TrimDitherCodec(bool subtracts) : subtracts_(subtracts) {}

  int64_t LevelBytes(int64_t elements, int level) const final;
  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const final;
  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const final;
  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const final;

 private:
  bool subtracts_;
};

class TrimSqCodec : public TrimDitherCodec {
 public:
  TrimSqCodec() : TrimDitherCodec(false) {}
  CodecId id() const override { return CodecId::kTrimSq; }

 protected:
  absl::string_view name() const override { return "trim_sq"; }
};

class TrimSdCodec : public TrimDitherCodec {
 public:
  TrimSdCodec() : TrimDitherCodec(true) {}
  CodecId id() const override { return CodecId::kTrimSd; }

 protected:
  absl::string_view name() const override { return "trim_sd"; }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_DITHER_CODEC_H_
