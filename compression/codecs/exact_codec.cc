#include "compression/codecs/exact_codec.h"

#include <bit>
#include <cstring>

#include "compression/codecs/frame_check.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "a frame is the machine's own numbers");

template <typename T>
float ReadAs(const uint8_t* frame, size_t index) {
  T value;
  std::memcpy(&value, frame + index * sizeof(T), sizeof(T));
  return static_cast<float>(value);
}

float ReadAsFloat(DataType type, const uint8_t* frame, size_t index) {
  if (type == DataType::kFloat64) return ReadAs<double>(frame, index);
  return type == DataType::kInt32 ? ReadAs<int32_t>(frame, index) : ReadAs<int64_t>(frame, index);
}

}  // namespace

Payload ExactCodec::Encode(const Buffer& values, const Encoding&, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(values.empty() || values.type() == type_);
  if (values.empty()) return {};
  frames->push_back(
      {.codec = id(), .first_element = 0, .elements = values.elements(), .size_bytes = values.size_bytes()});
  return {values.AsBytes()};
}

absl::Status ExactCodec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  absl::Status status = CheckFrameRange(NameOf(type_), header, chunk_elements);
  if (!status.ok()) return status;
  return CheckFrameBytes(NameOf(type_), header, frame, header.elements * SizeOf(type_));
}

void ExactCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  const absl::Span<float> range = chunk.subspan(header.first_element, header.elements);
  for (size_t i = 0; i < range.size(); ++i) range[i] = ReadAsFloat(type_, frame.bytes().data(), i);
}

void ExactCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  const absl::Span<float> range = chunk.subspan(header.first_element, header.elements);
  for (size_t i = 0; i < range.size(); ++i) range[i] += ReadAsFloat(type_, frame.bytes().data(), i);
}

}  // namespace banyan
