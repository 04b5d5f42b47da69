// The codecs of tensors whose sums are exact in their own type: float64, int32 and int64. A frame is the machine's own
// numbers. No rule of a configuration names them: a key's type does. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_EXACT_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_EXACT_CODEC_H_

#include <vector>

#include "compression/codec.h"
#include "core/data_type.h"

namespace banyan {

class ExactCodec : public Codec {
 public:
  // REQUIRES: `type` is exact, and `id` that of its codec.
  ExactCodec(CodecId id, DataType type) : id_(id), type_(type) {}

  CodecId id() const override { return id_; }
  // REQUIRES, besides: `values` are of this type. The frame shares their memory.
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override;
  // As float32, and so rounded. Sums of such tensors are made by compression/element_types.h instead.
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;

 private:
  CodecId id_;
  DataType type_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_EXACT_CODEC_H_
