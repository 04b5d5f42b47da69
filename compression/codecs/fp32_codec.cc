#include "compression/codecs/fp32_codec.h"

#include <bit>
#include <cstring>

#include "compression/codecs/frame_check.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "a frame is the machine's own floats");
constexpr int64_t kBytesPerElement = sizeof(float);

}  // namespace

Payload Fp32Codec::Encode(const Buffer& values, const Encoding&, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(values.type() == DataType::kFloat32);
  if (values.empty()) return {};
  frames->push_back(
      {.codec = id(), .first_element = 0, .elements = values.elements(), .size_bytes = values.size_bytes()});
  return {values.AsBytes()};
}

absl::Status Fp32Codec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  absl::Status status = CheckFrameRange("fp32", header, chunk_elements);
  if (!status.ok()) return status;
  return CheckFrameBytes("fp32", header, frame, header.elements * kBytesPerElement);
}

void Fp32Codec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  if (frame.empty()) return;
  std::memcpy(chunk.subspan(header.first_element, header.elements).data(), frame.data(), frame.size_bytes());
}

void Fp32Codec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  AddBytesInto(chunk.subspan(header.first_element, header.elements), frame.bytes());
}

}  // namespace banyan
