// The header before indices and values in a frame of topk_codec.h. Value; thread-compatible.
#ifndef BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_
#define BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_

#include <cstdint>

#include "proto/compression/codec_id.h"

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

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_TOPK_FRAME_H_
