// Top-k in tiers: what topk_codec.h keeps, the largest quarter of it in level 0, the next quarter in level 1, and so on
// (MLT, Wang et al., NSDI 2024, orders packets so: the largest gradients matter most). One range, the whole chunk; each
// level is a frame of topk_frame.h, and a range is the sum of its levels. A cut keeps the largest. Stateless, hence
// thread-safe.
//
// Biased as topk is: the error is the share of the energy that is left out.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_TRIM_TOPK_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_TRIM_TOPK_CODEC_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compression/codec.h"

namespace banyan {

class TrimTopKCodec : public Codec {
 public:
  CodecId id() const override { return CodecId::kTrimTopK; }
  int levels() const override { return 4; }
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override;
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
  void DecodeLevels(const FrameHeader& range, absl::Span<const Buffer> levels, absl::Span<float> chunk) const override;
  void DecodeAddLevels(const FrameHeader& range, absl::Span<const Buffer> levels,
                       absl::Span<float> chunk) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_TRIM_TOPK_CODEC_H_
