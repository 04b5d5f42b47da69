#include <bit>
#include <cstring>
#include <vector>

#include "compression/codec.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "a frame is the machine's own floats");
constexpr int64_t kBytesPerElement = sizeof(float);

// Lossless: one frame of little-endian float32. Encoding copies nothing, the frame is the values' own memory.
// Stateless, hence thread-safe.
class Fp32 : public Codec {
 public:
  CodecId id() const override { return CodecId::kFp32; }
  Payload Encode(const Buffer& values, const Encoding&, std::vector<FrameHeader>* frames) const override {
    BANYAN_CHECK(values.type() == DataType::kFloat32);
    if (values.empty()) return {};
    frames->push_back(
        {.codec = id(), .first_element = 0, .elements = values.elements(), .size_bytes = values.size_bytes()});
    return {values.AsBytes()};
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    absl::Status status = CheckFrameRange("fp32", header, chunk_elements);
    if (!status.ok()) return status;
    return CheckFrameBytes("fp32", header, frame, header.elements * kBytesPerElement);
  }

  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    if (frame.empty()) return;
    std::memcpy(chunk.subspan(header.first_element, header.elements).data(), frame.data(), frame.size_bytes());
  }

  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    AddBytesInto(chunk.subspan(header.first_element, header.elements), frame.bytes());
  }
};

}  // namespace

const Codec& Fp32Codec() {
  static const Fp32 codec;
  return codec;
}

}  // namespace banyan
