// All codecs that have kernels for a device. Pure functions; the codecs live as long as the program and serve every
// thread, on distinct devices.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_CODECS_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_CODECS_H_

#include <vector>

#include "compression/cuda/device_codec.h"
#include "proto/compression/codec_id.h"

namespace banyan {

// Returns the device's codec of `id`, null where there are no kernels for it.
const DeviceCodec* DeviceCodecFor(CodecId id);

// Returns the ids of all codecs that DeviceCodecFor() knows.
std::vector<CodecId> DeviceCodecIds();

const DeviceCodec& DeviceFp16Codec();
const DeviceCodec& DeviceTopKCodec();
const DeviceCodec& DeviceSignCodec();
const DeviceCodec& DeviceOneBitRhtCodec();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_CODECS_H_
