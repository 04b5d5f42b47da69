#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/device_work.h"

namespace banyan {
namespace {

// Halves on a device: the frames of fp16_codec.cc. Stateless, hence thread-safe on distinct devices.
class Fp16OnDevice : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kFp16; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding&, Device& device) const override {
    DeviceWork work(device);
    Buffer frame = work.NewBuffer(2 * elements, DataType::kByte);
    work.RunOver(elements, GatherKernel::kThreads,
                 GatherKernel{.values = values,
                              .count = elements,
                              .as_halves = true,
                              .bytes = static_cast<uint8_t*>(frame.mutable_data())});
    if (!work.ok()) return work.status();
    return frame;
  }

  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override {
    DeviceWork work(device);
    work.RunOver(frame.elements, ScatterKernel::kThreads,
                 ScatterKernel{.bytes = static_cast<const uint8_t*>(frame.device.data()),
                               .as_halves = true,
                               .count = frame.elements,
                               .add = into == Into::kAdd,
                               .chunk = out});
    return work.status();
  }
};

}  // namespace

const DeviceCodec& DeviceFp16Codec() {
  static const Fp16OnDevice codec;
  return codec;
}

}  // namespace banyan
