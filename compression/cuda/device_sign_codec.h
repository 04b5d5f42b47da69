// Signs with mean magnitudes on a device: the frames of sign_codec.h. Stateless, hence thread-safe on distinct devices.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_SIGN_CODEC_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_SIGN_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device_codec.h"

namespace banyan {

class DeviceSignCodec : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kSign; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding& encoding,
                                Device& device) const override;
  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_SIGN_CODEC_H_
