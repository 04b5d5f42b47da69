// A frame of topk_codec.cc: the largest elements of a range and where they are. Values and pure functions;
// thread-compatible.
#ifndef BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_
#define BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

inline constexpr int64_t kTopKFieldBytes = 10;

// A form that has all elements and no indices.
inline constexpr uint8_t kAllTopKElements = 255;

struct TopKFields {
  CodecId value_codec = CodecId::kFp32;
  uint8_t form = kAllTopKElements;
  uint32_t values = 0;
  uint32_t index_bytes = 0;
};

// Returns the size of the whole frame in bytes. REQUIRES: CheckValueCodec() passes.
int64_t TopKFrameBytes(const TopKFields& fields);

// Read, or write, kTopKFieldBytes bytes.
TopKFields ReadTopKFields(const uint8_t* frame);
void WriteTopKFields(const TopKFields& fields, uint8_t* frame);

// Returns the indices of the k largest of `values`, chosen as `encoding` says, rising. REQUIRES: as
// top_k_selection.h.
std::vector<uint32_t> SelectTopK(absl::Span<const float> values, const Encoding& encoding, int64_t k);

// Returns the frame of the `values` at `indices`, which rise. All values are in it where that is not larger.
Buffer EncodeTopKFrame(absl::Span<const float> values, absl::Span<const uint32_t> indices, CodecId value_codec);
// Returns the frame of all `values`.
Buffer EncodeAllInTopKFrame(absl::Span<const float> values, CodecId value_codec);

// Checks a frame that a peer sent, as Codec::Check does. `codec` names the codec, which has `levels`, for the error.
absl::Status CheckTopKFrame(absl::string_view codec, const FrameHeader& header, const Buffer& frame,
                            int64_t chunk_elements, int levels = 1);
// Write, or add to, the elements of the frame's range in `chunk`. REQUIRES: CheckTopKFrame() passed.
void DecodeTopKFrame(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk);
void AddTopKFrame(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_
