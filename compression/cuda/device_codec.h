// The interface of a codec's work on a device: the same frames, to the bit, as Codec makes and reads on a host.
// Callers take device_chunk.h. Stateless, hence thread-safe on distinct devices.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"
#include "proto/compression/codec_id.h"

namespace banyan {

// A frame of a CheckedChunk, in both memories: what decides which kernels run is read on the host.
struct CheckedFrame {
  Buffer host;
  Buffer device;
  int64_t elements = 0;
};

enum class Into : uint8_t { kReplace, kAdd };

class DeviceCodec {
 public:
  virtual ~DeviceCodec() = default;

  virtual CodecId id() const = 0;

  // Encodes the `elements` values at `values` and returns their one frame, in the device's memory. REQUIRES: elements
  // > 0, and the encoding is one that Codec::Encode() takes.
  virtual absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding& encoding,
                                        Device& device) const = 0;

  // Writes all elements of `frame` to `out`, or adds them to what lies there. REQUIRES: it has some.
  virtual absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const = 0;
};

// All codecs that have kernels for a device. They live as long as the program.

// Returns the device's codec of `id`, null where there are no kernels for it.
const DeviceCodec* DeviceCodecFor(CodecId id);

// Returns the ids of all codecs that DeviceCodecFor() knows.
std::vector<CodecId> DeviceCodecIds();

const DeviceCodec& DeviceFp32Codec();
const DeviceCodec& DeviceFp16Codec();
const DeviceCodec& DeviceTopKCodec();
const DeviceCodec& DeviceSignCodec();
const DeviceCodec& DeviceOneBitRhtCodec();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_H_
