#include "compression/cuda/device_chunk.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/sparse_values.h"
#include "compression/cuda/device_codec.h"

namespace banyan {
namespace {

absl::StatusOr<const DeviceCodec*> FindDeviceCodec(CodecId id) {
  const DeviceCodec* codec = DeviceCodecFor(id);
  if (codec != nullptr) return codec;
  return absl::InvalidArgumentError(
      absl::StrFormat("expected fp16, topk, sign or onebit_rht on a device, got codec %d; take the host's "
                      "codec for others",
                      static_cast<int>(id)));
}

absl::Status CheckDeviceFloats(const Buffer& values) {
  const bool is_good =
      values.empty() || (values.type() == DataType::kFloat32 && values.memory() == MemoryKind::kDevice);
  if (is_good) return absl::OkStatus();
  return absl::InvalidArgumentError("expected float32 values in the device's memory, got others");
}

absl::Status CheckEncoding(const Encoding& encoding, int64_t elements) {
  if (encoding.codec != CodecId::kTopK) return absl::OkStatus();
  if (elements > kMaxSparseRange) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected at most %d elements for topk, got %d", kMaxSparseRange, elements));
  }
  return CheckValueCodec("topk", encoding.value_codec);
}

absl::StatusOr<Buffer> CopyFrameToHost(const Buffer& frame, Device& device) {
  if (frame.memory() != MemoryKind::kDevice) return frame;
  Buffer host = Buffer::AllocateForOverwrite(frame.size_bytes(), DataType::kByte);
  absl::Status status = device.CopyToHost(frame.data(), frame.size_bytes(), host.mutable_data());
  if (!status.ok()) return status;
  return host;
}

absl::StatusOr<Buffer> CopyFrameToDevice(const Buffer& frame, Device& device) {
  if (frame.memory() == MemoryKind::kDevice) return frame;
  absl::StatusOr<Buffer> copy = device.Allocate(frame.size_bytes(), DataType::kByte);
  if (!copy.ok()) return copy;
  absl::Status status = device.CopyToDevice(frame.data(), frame.size_bytes(), copy->mutable_data());
  if (!status.ok()) return status;
  return copy;
}

absl::Status DecodeFrame(const FrameHeader& header, CheckedFrame frame, Into into, Buffer& values, Device& device) {
  if (header.elements == 0) return absl::OkStatus();
  absl::StatusOr<Buffer> copy = CopyFrameToDevice(frame.device, device);
  if (!copy.ok()) return copy.status();
  frame.device = *std::move(copy);
  frame.elements = header.elements;
  float* const out = static_cast<float*>(values.mutable_data()) + header.first_element;
  return DeviceCodecFor(header.codec)->Decode(frame, into, out, device);
}

// A first frame over all elements may replace what is there, instead of being added to zeros.
absl::StatusOr<Into> StartWith(Into into, const EncodedChunk& chunk, Buffer& values, Device& device) {
  if (into == Into::kAdd) return into;
  const bool covers =
      !chunk.empty() && chunk.frames[0].first_element == 0 && chunk.frames[0].elements == values.elements();
  if (covers) return Into::kReplace;
  absl::Status status = device.Clear(values.mutable_data(), values.size_bytes());
  if (!status.ok()) return status;
  return Into::kAdd;
}

// What the chunk's frames are on the host, when all of them can be decoded on the device.
absl::StatusOr<CheckedChunk> CheckedOnHost(const EncodedChunk& chunk, const Buffer& values, Device& device) {
  absl::Status status = CheckDeviceFloats(values);
  if (!status.ok()) return status;
  absl::StatusOr<EncodedChunk> host = CopyChunkToHost(chunk, device);
  if (!host.ok()) return host.status();
  absl::StatusOr<CheckedChunk> checked = CheckChunk(*std::move(host), values.elements());
  if (!checked.ok()) return checked;
  for (const FrameHeader& header : chunk.frames) {
    absl::StatusOr<const DeviceCodec*> codec = FindDeviceCodec(header.codec);
    if (!codec.ok()) return codec.status();
  }
  return checked;
}

absl::Status DecodeInto(Into into, const EncodedChunk& chunk, Buffer& values, Device& device) {
  absl::StatusOr<CheckedChunk> host = CheckedOnHost(chunk, values, device);
  if (!host.ok()) return host.status();
  if (values.empty()) return absl::OkStatus();
  absl::StatusOr<Into> first = StartWith(into, chunk, values, device);
  if (!first.ok()) return first.status();
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    const CheckedFrame frame = {.host = host->encoded().payload[i], .device = chunk.payload[i]};
    absl::Status status = DecodeFrame(chunk.frames[i], frame, i == 0 ? *first : Into::kAdd, values, device);
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat("frame ", i, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EncodedChunk> EncodeChunkOnDevice(const Encoding& encoding, const Buffer& values, uint32_t weight,
                                                 Device& device) {
  absl::StatusOr<const DeviceCodec*> codec = FindDeviceCodec(encoding.codec);
  if (!codec.ok()) return codec.status();
  absl::Status status = CheckDeviceFloats(values);
  if (status.ok()) status = CheckEncoding(encoding, values.elements());
  if (!status.ok()) return status;
  EncodedChunk chunk{.frames = {}, .payload = {}, .weight = weight};
  if (values.empty()) return chunk;
  absl::StatusOr<Buffer> frame =
      (*codec)->Encode(static_cast<const float*>(values.data()), values.elements(), encoding, device);
  if (!frame.ok()) return frame.status();
  chunk.frames.push_back({.codec = encoding.codec, .elements = values.elements(), .size_bytes = frame->size_bytes()});
  chunk.payload.push_back(*std::move(frame));
  return chunk;
}

absl::StatusOr<EncodedChunk> CopyChunkToHost(const EncodedChunk& chunk, Device& device) {
  EncodedChunk host{.frames = chunk.frames, .payload = {}, .weight = chunk.weight};
  for (const Buffer& frame : chunk.payload) {
    absl::StatusOr<Buffer> copy = CopyFrameToHost(frame, device);
    if (!copy.ok()) return copy.status();
    host.payload.push_back(*std::move(copy));
  }
  return host;
}

absl::Status DecodeChunkOnDevice(const EncodedChunk& chunk, Buffer& values, Device& device) {
  return DecodeInto(Into::kReplace, chunk, values, device);
}

absl::Status DecodeAddChunkOnDevice(const EncodedChunk& chunk, Buffer& values, Device& device) {
  return DecodeInto(Into::kAdd, chunk, values, device);
}

}  // namespace banyan
