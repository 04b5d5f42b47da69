#include <bit>
#include <cstring>
#include <vector>

#include "compression/codec.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "core/check.h"
#include "core/data_type.h"

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

// The codecs of tensors whose sums are exact in their own type: float64, int32 and int64. A frame is the machine's own
// numbers. No rule of a configuration names them: a key's type does. Stateless, hence thread-safe.
class Exact : public Codec {
 public:
  // REQUIRES: `type` is exact, and `id` that of its codec.
  Exact(CodecId id, DataType type) : id_(id), type_(type) {}

  CodecId id() const override { return id_; }
  // REQUIRES, besides: `values` are of this type. The frame shares their memory.
  Payload Encode(const Buffer& values, const Encoding&, std::vector<FrameHeader>* frames) const override {
    BANYAN_CHECK(values.empty() || values.type() == type_);
    if (values.empty()) return {};
    frames->push_back(
        {.codec = id(), .first_element = 0, .elements = values.elements(), .size_bytes = values.size_bytes()});
    return {values.AsBytes()};
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    absl::Status status = CheckFrameRange(NameOf(type_), header, chunk_elements);
    if (!status.ok()) return status;
    return CheckFrameBytes(NameOf(type_), header, frame, header.elements * SizeOf(type_));
  }

  // As float32, and so rounded. Sums of such tensors are made by compression/element_types.h instead.
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    const absl::Span<float> range = chunk.subspan(header.first_element, header.elements);
    for (size_t i = 0; i < range.size(); ++i) range[i] = ReadAsFloat(type_, frame.bytes().data(), i);
  }

  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    const absl::Span<float> range = chunk.subspan(header.first_element, header.elements);
    for (size_t i = 0; i < range.size(); ++i) range[i] += ReadAsFloat(type_, frame.bytes().data(), i);
  }

 private:
  CodecId id_;
  DataType type_;
};

}  // namespace

const Codec& Float64Codec() {
  static const Exact codec(CodecId::kFloat64, DataType::kFloat64);
  return codec;
}

const Codec& Int32Codec() {
  static const Exact codec(CodecId::kInt32, DataType::kInt32);
  return codec;
}

const Codec& Int64Codec() {
  static const Exact codec(CodecId::kInt64, DataType::kInt64);
  return codec;
}

}  // namespace banyan
