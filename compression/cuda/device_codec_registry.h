// All codecs that have kernels for a device, by id. Pure functions; the codecs live as long as the program and serve
// every thread.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_REGISTRY_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_REGISTRY_H_

#include <vector>

#include "compression/cuda/device_codec.h"
#include "proto/compression/codec_id.h"

namespace banyan {

// Returns the device's codec of `id`, null where there are no kernels for it.
const DeviceCodec* DeviceCodecFor(CodecId id);

// Returns the ids of all codecs that DeviceCodecFor() knows.
std::vector<CodecId> DeviceCodecIds();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_CODEC_REGISTRY_H_
