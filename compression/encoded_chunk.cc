#include "compression/encoded_chunk.h"

#include <algorithm>
#include <string>
#include <utility>

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

// Adds the chunk's frames from the `first` on.
void AddFrames(const CheckedChunk& chunk, size_t first, absl::Span<float> values) {
  BANYAN_CHECK(chunk.empty() || chunk.elements() == static_cast<int64_t>(values.size()));
  const EncodedChunk& encoded = chunk.encoded();
  for (size_t i = first; i < encoded.frames.size(); ++i) {
    KnownCodec(encoded.frames[i].codec).DecodeAdd(encoded.frames[i], encoded.payload[i], values);
  }
}

}  // namespace

CheckedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight) {
  EncodedChunk chunk;
  chunk.payload = KnownCodec(encoding.codec).Encode(values, encoding, &chunk.frames);
  chunk.weight = weight;
  return CheckedChunk(std::move(chunk), values.elements());
}

absl::StatusOr<CheckedChunk> CheckChunk(EncodedChunk chunk, int64_t chunk_elements) {
  if (chunk.frames.size() != chunk.payload.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("expected %d frames as the chunk's header says, got %d",
                                                      chunk.frames.size(), chunk.payload.size()));
  }
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    absl::Status status = CheckFrame(chunk.frames[i], chunk.payload[i], chunk_elements);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("frame ", i, ": ", status.message()));
  }
  return CheckedChunk(std::move(chunk), chunk_elements);
}

void DecodeChunk(const CheckedChunk& chunk, absl::Span<float> values) {
  const EncodedChunk& encoded = chunk.encoded();
  if (chunk.empty() || !CoversChunk(encoded.frames[0], values.size())) {
    std::fill(values.begin(), values.end(), 0.0f);
    return AddFrames(chunk, 0, values);
  }
  BANYAN_CHECK(chunk.elements() == static_cast<int64_t>(values.size()));
  KnownCodec(encoded.frames[0].codec).Decode(encoded.frames[0], encoded.payload[0], values);
  AddFrames(chunk, 1, values);
}

void DecodeAddChunk(const CheckedChunk& chunk, absl::Span<float> values) { AddFrames(chunk, 0, values); }

}  // namespace banyan
