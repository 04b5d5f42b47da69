#include "compression/cuda/device_chunk.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compression/cuda/device_codec.h"

namespace banyan {
namespace {

absl::StatusOr<Buffer> CopyToDevice(const Buffer& host, Device& device) {
  absl::StatusOr<Buffer> copy = device.Allocate(host.elements(), host.type());
  if (!copy.ok()) return copy;
  absl::Status status = device.CopyToDevice(host.data(), host.size_bytes(), copy->mutable_data());
  if (!status.ok()) return status;
  return copy;
}

// True if the frames lie one behind the other and make up the whole chunk: then each may replace what there is.
bool TilesChunk(const CheckedChunk& chunk, int64_t elements) {
  int64_t end = 0;
  for (const FrameHeader& header : chunk.encoded().frames) {
    if (header.first_element != end) return false;
    end += header.elements;
  }
  return end == elements;
}

absl::Status DecodeOnDevice(const CheckedChunk& chunk, Into into, Buffer& values, Device& device) {
  if (into == Into::kReplace && !TilesChunk(chunk, values.elements())) {
    absl::Status status = device.Clear(values.mutable_data(), values.size_bytes());
    if (!status.ok()) return status;
    into = Into::kAdd;
  }
  const EncodedChunk& encoded = chunk.encoded();
  for (size_t i = 0; i < encoded.frames.size(); ++i) {
    const FrameHeader& header = encoded.frames[i];
    if (header.elements == 0) continue;
    absl::StatusOr<Buffer> frame = CopyToDevice(encoded.payload[i], device);
    if (!frame.ok()) return frame.status();
    float* const out = static_cast<float*>(values.mutable_data()) + header.first_element;
    absl::Status status = DeviceCodecFor(header.codec)
                              ->Decode({encoded.payload[i], *std::move(frame), header.elements}, into, out, device);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

bool HasKernels(CodecId codec) { return DeviceCodecFor(codec) != nullptr; }

bool HasKernels(const CheckedChunk& chunk) {
  const std::vector<FrameHeader>& frames = chunk.encoded().frames;
  return std::all_of(frames.begin(), frames.end(), [](const FrameHeader& frame) { return HasKernels(frame.codec); });
}

absl::StatusOr<CheckedChunk> EncodeOnDevice(const Encoding& encoding, const Buffer& values, uint32_t weight,
                                            Device& device) {
  EncodedChunk chunk{.frames = {}, .payload = {}, .weight = weight};
  if (values.empty()) return OwnChunk(std::move(chunk), 0);
  const absl::StatusOr<Buffer> there = CopyToDevice(values, device);
  if (!there.ok()) return there.status();
  const absl::StatusOr<Buffer> frame =
      DeviceCodecFor(encoding.codec)
          ->Encode(static_cast<const float*>(there->data()), values.elements(), encoding, device);
  if (!frame.ok()) return frame.status();
  Buffer host = Buffer::AllocateForOverwrite(frame->size_bytes(), DataType::kByte);
  absl::Status status = device.CopyToHost(frame->data(), host.size_bytes(), host.mutable_data());
  if (!status.ok()) return status;
  chunk.frames.push_back({.codec = encoding.codec, .elements = values.elements(), .size_bytes = host.size_bytes()});
  chunk.payload.push_back(std::move(host));
  return OwnChunk(std::move(chunk), values.elements());
}

absl::Status AddOnDevice(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum, Device& device) {
  absl::StatusOr<Buffer> there =
      is_fresh ? device.Allocate(sum.elements(), DataType::kFloat32) : CopyToDevice(sum, device);
  if (!there.ok()) return there.status();
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Into into = is_fresh && i == 0 ? Into::kReplace : Into::kAdd;
    absl::Status status = DecodeOnDevice(chunks[i], into, *there, device);
    if (!status.ok()) return status;
  }
  Buffer host = is_fresh ? sum : Buffer::AllocateForOverwrite(sum.elements());
  absl::Status status = device.CopyToHost(there->data(), host.size_bytes(), host.mutable_data());
  if (status.ok()) sum = std::move(host);
  return status;
}

}  // namespace banyan
