#include "compression/codecs/one_frame_codec.h"

#include "compression/codecs/frame_check.h"
#include "core/check.h"

namespace banyan {

Payload OneFrameCodec::Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(encoding.codec == id());
  if (values.empty()) return {};
  Buffer frame = Buffer::AllocateForOverwrite(FrameBytes(values.elements()), DataType::kByte);
  EncodeFrame(values.floats(), encoding.seed, static_cast<uint8_t*>(frame.mutable_data()));
  frames->push_back(
      {.codec = id(), .first_element = 0, .elements = values.elements(), .size_bytes = frame.size_bytes()});
  return {frame};
}

absl::Status OneFrameCodec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  absl::Status status = CheckFrameRange(name(), header, chunk_elements);
  if (!status.ok()) return status;
  status = CheckFrameBytes(name(), header, frame, header.elements == 0 ? 0 : FrameBytes(header.elements));
  if (!status.ok() || header.elements == 0) return status;
  return CheckContent(frame.bytes().data(), header.elements);
}

absl::Status OneFrameCodec::CheckContent(const uint8_t*, int64_t) const { return absl::OkStatus(); }

void OneFrameCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  if (header.elements == 0) return;
  DecodeFrame(frame.bytes().data(), chunk.subspan(header.first_element, header.elements));
}

void OneFrameCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  if (header.elements == 0) return;
  AddFrame(frame.bytes().data(), chunk.subspan(header.first_element, header.elements));
}

}  // namespace banyan
