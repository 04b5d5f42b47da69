#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/kernels/little_endian.h"
#include "compression/kernels/sign_bits.h"
#include "compression/trimmable/level_bits.h"
#include "compression/trimmable/prefix_codec.h"
#include "compression/trimmable/trim_codecs.h"

namespace banyan {
namespace {

// Signs, then magnitudes. Level 0: a float32 s, the root mean square of the range, and the signs in the order of
// sign_bits.h. Level 1: the other 31 bits of each element (level_bits.h). With both levels exact; the head alone says s
// times the sign.
//
// The head alone is biased: every element comes back with the same magnitude. Normalized mean squared error
// 2 - 2 sqrt(2 / pi) = 0.404 of Gaussian values, 2 - sqrt(2) = 0.586 of Laplace values. Its authors (HotNets 2024, see
// prefix_codec.h) find that trainings diverge when more than 2 % is cut: it is here to be compared with. Where an
// element is not finite, a head alone is a not-a-number in the whole range. Stateless, hence thread-safe.
class TrimSign : public PrefixCodec {
 public:
  CodecId id() const override { return CodecId::kTrimSign; }
  int levels() const override { return 2; }

 protected:
  absl::string_view name() const override { return "trim_sign"; }
  int64_t LevelBytes(int64_t elements, int level) const override {
    return level == 0 ? kScaleBytes + SignBytes(elements) : TailBytes(elements);
  }

  void EncodeRange(absl::Span<const float> values, uint64_t, absl::Span<uint8_t* const> levels) const override {
    StoreLittleEndian(RootMeanSquare(values), levels[0]);
    PackSigns(values, levels[0] + kScaleBytes);
    if (levels.size() > 1) PackTails(values, levels[1]);
  }

  absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const override {
    return level == 0 ? CheckHead(name(), frame, frame + kScaleBytes, elements) : CheckTails(name(), frame, elements);
  }

  void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const override {
    const uint8_t* signs = levels[0] + kScaleBytes;
    if (levels.size() > 1) return UnpackTails(signs, levels[1], values);
    UnpackSigns(signs, LoadLittleEndian<float>(levels[0]), values);
  }
};

}  // namespace

const Codec& TrimSignCodec() {
  static const TrimSign codec;
  return codec;
}

}  // namespace banyan
