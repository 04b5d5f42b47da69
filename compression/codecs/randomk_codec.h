// Random-k: elements that a seed chooses, the others as zeros. Sender and receiver compute the same choice, hence the
// indices need no bytes. Stateless, hence thread-safe.
//
// One frame over the whole chunk, little-endian, at any alignment:
//   0   value codec  1 byte: 0 (fp32) or 1 (fp16), the numbers of CodecId
//   1   values       4 bytes: their number k, at least 1
//   5   seed         8 bytes
//   13  values       4 or 2 bytes each, in the order of ChooseStratified()
//
// k = max(1, round(ratio * n)) elements are kept. With all of them they stand in their own order, and the seed is 0.
//
// Bytes per kept element: 4 or 2.
// The choice is even: each element comes with probability k/n, without replacement (stratified_choice.h). Values are
// not scaled by n/k. The decoded ones are k/n of the chunk on average, a bias that error feedback makes up for, as in
// DC2; an unbiased one would be n/k times as noisy, and error feedback diverges with it. Normalized mean squared error:
// 1 - k/n whatever the values are, on average. Halves add at most 2^-22 of what is kept as long as
// magnitudes lie between 2^-14 and 65,504; below they lose bits, 65,520 and more becomes infinite.
#ifndef BANYAN_COMPRESSION_CODECS_RANDOMK_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_RANDOMK_CODEC_H_

#include <vector>

#include "compression/codec.h"

namespace banyan {

class RandomKCodec : public Codec {
 public:
  CodecId id() const override { return CodecId::kRandomK; }
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override;
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_RANDOMK_CODEC_H_
