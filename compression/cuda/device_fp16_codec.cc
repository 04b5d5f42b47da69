#include "compression/cuda/device_fp16_codec.h"

#include "compression/cuda/device_work.h"

namespace banyan {

absl::StatusOr<Buffer> DeviceFp16Codec::Encode(const float* values, int64_t elements, const Encoding&,
                                               Device& device) const {
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

absl::Status DeviceFp16Codec::Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const {
  DeviceWork work(device);
  work.RunOver(frame.elements, ScatterKernel::kThreads,
               ScatterKernel{.bytes = static_cast<const uint8_t*>(frame.device.data()),
                             .as_halves = true,
                             .count = frame.elements,
                             .add = into == Into::kAdd,
                             .chunk = out});
  return work.status();
}

}  // namespace banyan
