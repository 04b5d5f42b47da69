#include "compression/encoded_chunk.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codec.h"
#include "compression/codec_registry.h"
#include "core/check.h"

namespace banyan {
namespace {

// REQUIRES: the id passed CheckFrame() or is one of our own.
const Codec& KnownCodec(CodecId id) {
  const Codec* codec = CodecFor(id);
  BANYAN_CHECK(codec != nullptr);
  return *codec;
}

absl::Status CheckFrame(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) {
  const Codec* codec = CodecFor(header.codec);
  if (codec == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected a codec that this version knows, got number %d; run the same "
                        "version on all nodes",
                        static_cast<int>(header.codec)));
  }
  if (header.size_bytes != frame.size_bytes()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected %d bytes as the header says, got %d", header.size_bytes, frame.size_bytes()));
  }
  return codec->Check(header, frame, chunk_elements);
}

bool CoversChunk(const FrameHeader& header, int64_t chunk_elements) {
  return header.first_element == 0 && header.elements == chunk_elements;
}

}  // namespace

EncodedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight) {
  EncodedChunk chunk;
  chunk.payload = KnownCodec(encoding.codec).Encode(values, encoding, &chunk.frames);
  chunk.weight = weight;
  return chunk;
}

absl::Status CheckChunk(const EncodedChunk& chunk, int64_t chunk_elements) {
  if (chunk.frames.size() != chunk.payload.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("expected %d frames as the chunk's header says, got %d",
                                                      chunk.frames.size(), chunk.payload.size()));
  }
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    absl::Status status = CheckFrame(chunk.frames[i], chunk.payload[i], chunk_elements);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("frame ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

void DecodeChunk(const EncodedChunk& chunk, absl::Span<float> values) {
  size_t next = 0;
  if (!chunk.empty() && CoversChunk(chunk.frames[0], values.size())) {
    KnownCodec(chunk.frames[0].codec).Decode(chunk.frames[0], chunk.payload[0], values);
    next = 1;
  } else {
    std::fill(values.begin(), values.end(), 0.0f);
  }
  for (; next < chunk.frames.size(); ++next) {
    KnownCodec(chunk.frames[next].codec).DecodeAdd(chunk.frames[next], chunk.payload[next], values);
  }
}

void DecodeAddChunk(const EncodedChunk& chunk, absl::Span<float> values) {
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    KnownCodec(chunk.frames[i].codec).DecodeAdd(chunk.frames[i], chunk.payload[i], values);
  }
}

}  // namespace banyan
