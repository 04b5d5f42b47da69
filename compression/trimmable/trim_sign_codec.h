// Signs, then magnitudes. Level 0: a float32 s, the root mean square of the range, and the signs in the order of
// sign_bits.h. Level 1: the other 31 bits of each element (tail_bits.h). With both levels exact; the head alone says s
// times the sign.
//
// The head alone is biased: every element comes back with the same magnitude. Normalized mean squared error
// 2 - 2 sqrt(2 / pi) = 0.404 of Gaussian values, 2 - sqrt(2) = 0.586 of Laplace values. Its authors (HotNets 2024, see
// prefix_codec.h) find that trainings diverge when more than 2 % is cut: it is here to be compared with. Where an
// element is not finite, a head alone is a not-a-number in the whole range. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_SIGN_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_SIGN_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/trimmable/prefix_codec.h"

namespace banyan {

class TrimSignCodec : public PrefixCodec {
 public:
  CodecId id() const override { return CodecId::kTrimSign; }
  int levels() const override { return 2; }

 protected:
  absl::string_view name() const override { return "trim_sign"; }
  int64_t LevelBytes(int64_t elements, int level) const override;
  void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const override;
  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override;
  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_SIGN_CODEC_H_
