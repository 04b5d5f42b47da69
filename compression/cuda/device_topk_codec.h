// Top-k on a device: the frames of topk_codec.h. The host asks the device three times how it goes on: for the least
// magnitude that is kept, for the number of elements, and for what decides the form of their indices. Stateless, hence
// thread-safe on distinct devices.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_TOPK_CODEC_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_TOPK_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"

namespace banyan {

class DeviceTopKCodec : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kTopK; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding& encoding,
                                Device& device) const override;
  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_TOPK_CODEC_H_
