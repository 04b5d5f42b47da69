#include "compression/trimmable/trim_sign_codec.h"

#include "compression/kernels/little_endian.h"
#include "compression/kernels/sign_bits.h"
#include "compression/trimmable/side_information.h"
#include "compression/trimmable/tail_bits.h"

namespace banyan {

int64_t TrimSignCodec::LevelBytes(int64_t elements, int level) const {
  return level == 0 ? kScaleBytes + SignBytes(elements) : TailBytes(elements);
}

void TrimSignCodec::EncodeRange(absl::Span<const float> values, uint64_t, absl::Span<uint8_t* const> levels) const {
  StoreLittleEndian(RootMeanSquare(values), levels[0]);
  PackSigns(values, levels[0] + kScaleBytes);
  if (levels.size() > 1) PackTails(values, levels[1]);
}

absl::Status TrimSignCodec::CheckLevel(const uint8_t* frame, int64_t elements, int level) const {
  return level == 0 ? CheckHead(name(), frame, frame + kScaleBytes, elements) : CheckTails(name(), frame, elements);
}

void TrimSignCodec::DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const {
  const uint8_t* signs = levels[0] + kScaleBytes;
  if (levels.size() > 1) return UnpackTails(signs, levels[1], values);
  UnpackSigns(signs, LoadLittleEndian<float>(levels[0]), values);
}

}  // namespace banyan
