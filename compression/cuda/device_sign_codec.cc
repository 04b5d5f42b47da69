#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/device_work.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {
namespace {

int64_t ScaleBytes(int64_t elements) { return SignBlocks(elements) * static_cast<int64_t>(sizeof(float)); }

// Signs with mean magnitudes on a device: the frames of sign_codec.cc. Stateless, hence thread-safe on distinct
// devices.
class SignOnDevice : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kSign; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding&, Device& device) const override {
    DeviceWork work(device);
    Buffer frame = work.NewBuffer(ScaleBytes(elements) + SignBytes(elements), DataType::kByte);
    if (!work.ok()) return work.status();
    uint8_t* const bytes = static_cast<uint8_t*>(frame.mutable_data());
    work.RunOver(SignBlocks(elements), EncodeSignsKernel::kBlocks,
                 EncodeSignsKernel{
                     .values = values, .elements = elements, .scales = bytes, .bits = bytes + ScaleBytes(elements)});
    if (!work.ok()) return work.status();
    return frame;
  }

  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override {
    DeviceWork work(device);
    const uint8_t* const bytes = static_cast<const uint8_t*>(frame.device.data());
    work.RunOver(frame.elements, DecodeSignsKernel::kThreads,
                 DecodeSignsKernel{.scales = bytes,
                                   .bits = bytes + ScaleBytes(frame.elements),
                                   .elements = frame.elements,
                                   .add = into == Into::kAdd,
                                   .out = out});
    return work.status();
  }
};

}  // namespace

const DeviceCodec& DeviceSignCodec() {
  static const SignOnDevice codec;
  return codec;
}

}  // namespace banyan
