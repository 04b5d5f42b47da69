#include "compression/codecs/topk_codec.h"

#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/codecs/topk_frame.h"
#include "core/check.h"

namespace banyan {

Payload TopKCodec::Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(values.elements() <= kMaxSparseRange);
  if (values.empty()) return {};
  const int64_t k = KeptElements(values.elements(), encoding.ratio);
  Buffer frame = k == values.elements()
                     ? EncodeAllInTopKFrame(values.floats(), encoding.value_codec)
                     : EncodeTopKFrame(values.floats(), SelectTopK(values.floats(), encoding, k), encoding.value_codec);
  frames->push_back({.codec = id(), .elements = values.elements(), .size_bytes = frame.size_bytes()});
  return {std::move(frame)};
}

absl::Status TopKCodec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  return CheckTopKFrame("topk", header, frame, chunk_elements);
}

void TopKCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  DecodeTopKFrame(header, frame, chunk);
}

void TopKCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  AddTopKFrame(header, frame, chunk);
}

}  // namespace banyan
