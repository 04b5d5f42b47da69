// Chunks between a device's memory and the wire. These functions do what encoded_chunk.h does on a host, but in the
// memory where a training loop has its gradients. Bytes and sums are the same to the last bit. The codecs fp16, topk,
// sign and onebit_rht have kernels.
//
//   absl::StatusOr<std::unique_ptr<CudaDevice>> device = CudaDevice::Open(0, stream);
//   const Buffer gradient = Buffer::Wrap(pointer, elements, DataType::kFloat32, MemoryKind::kDevice, nullptr);
//   absl::StatusOr<EncodedChunk> chunk =
//       EncodeChunkOnDevice({.codec = CodecId::kTopK, .ratio = 0.01}, gradient, 1, **device);
//   absl::StatusOr<EncodedChunk> to_send = CopyChunkToHost(*chunk, **device);
//   absl::Status added = DecodeAddChunkOnDevice(received, sum, **device);
//
// InvalidArgument says what is wrong with the arguments or with a frame, ResourceExhausted that the device's memory
// does not suffice; after another error the device can do no more. Pure functions but for the device's work.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/device.h"
#include "compression/encoded_chunk.h"
#include "compression/encoding.h"
#include "core/buffer.h"

namespace banyan {

// `values`, float32 in the device's memory, as one chunk whose frames are there too.
absl::StatusOr<EncodedChunk> EncodeChunkOnDevice(const Encoding& encoding, const Buffer& values, uint32_t weight,
                                                 Device& device);

// The chunk with all frames in the host's memory.
absl::StatusOr<EncodedChunk> CopyChunkToHost(const EncodedChunk& chunk, Device& device);

// Replaces all of `values`, float32 in the device's memory, by what the chunk says, or adds that to them. Frames may be
// in either memory; those of the device are copied to the host, where CheckChunk() looks at all of them before anything
// is written.
absl::Status DecodeChunkOnDevice(const EncodedChunk& chunk, Buffer& values, Device& device);
absl::Status DecodeAddChunkOnDevice(const EncodedChunk& chunk, Buffer& values, Device& device);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_
