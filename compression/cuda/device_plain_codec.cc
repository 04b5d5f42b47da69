#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/device_work.h"

namespace banyan {
namespace {

// All elements, each in one form, on a device: the frames of fp32_codec.cc and fp16_codec.cc. Stateless,
// hence thread-safe on distinct devices.
class PlainOnDevice : public DeviceCodec {
 public:
  explicit PlainOnDevice(CodecId id) : id_(id), as_halves_(id == CodecId::kFp16) {}

  CodecId id() const override { return id_; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding&, Device& device) const override {
    DeviceWork work(device);
    Buffer frame = work.NewBuffer((as_halves_ ? 2 : 4) * elements, DataType::kByte);
    work.RunOver(elements, GatherKernel::kThreads,
                 GatherKernel{.values = values,
                              .count = elements,
                              .as_halves = as_halves_,
                              .bytes = static_cast<uint8_t*>(frame.mutable_data())});
    if (!work.ok()) return work.status();
    return frame;
  }

  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override {
    DeviceWork work(device);
    work.RunOver(frame.elements, ScatterKernel::kThreads,
                 ScatterKernel{.bytes = static_cast<const uint8_t*>(frame.device.data()),
                               .as_halves = as_halves_,
                               .count = frame.elements,
                               .add = into == Into::kAdd,
                               .chunk = out});
    return work.status();
  }

 private:
  const CodecId id_;
  const bool as_halves_;
};

}  // namespace

const DeviceCodec& DeviceFp32Codec() {
  static const PlainOnDevice codec(CodecId::kFp32);
  return codec;
}

const DeviceCodec& DeviceFp16Codec() {
  static const PlainOnDevice codec(CodecId::kFp16);
  return codec;
}

}  // namespace banyan
