#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/codecs/sparse_values.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/codecs/topk_frame.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/device_selection.h"
#include "compression/cuda/device_work.h"

namespace banyan {
namespace {

constexpr int64_t kWordBytes = sizeof(uint32_t);

int64_t WholeWords(int64_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes * kWordBytes; }

// A frame with its fields written, zeros in the place of the indices, and the values to be written.
Buffer NewFrame(const TopKFields& fields, DeviceWork& work) {
  Buffer memory = work.NewBuffer(WholeWords(TopKFrameBytes(fields)), DataType::kByte);
  if (!work.ok()) return memory;
  work.Clear(memory.mutable_data(), WholeWords(kTopKFieldBytes + fields.index_bytes));
  WriteBytesKernel write{.count = kTopKFieldBytes, .to = static_cast<uint8_t*>(memory.mutable_data())};
  WriteTopKFields(fields, write.bytes);
  work.RunBlocks(1, write);
  return memory.Slice(0, TopKFrameBytes(fields));
}

// Writes the values at `indices`, or all, behind fields and indices.
void WriteValues(const float* values, const uint32_t* indices, const TopKFields& fields, Buffer& frame,
                 DeviceWork& work) {
  if (!work.ok()) return;
  uint8_t* const bytes = static_cast<uint8_t*>(frame.mutable_data()) + kTopKFieldBytes + fields.index_bytes;
  work.RunOver(fields.values, GatherKernel::kThreads,
               GatherKernel{.values = values,
                            .indices = indices,
                            .count = fields.values,
                            .as_halves = fields.value_codec == CodecId::kFp16,
                            .bytes = bytes});
}

absl::StatusOr<Buffer> EncodeAll(const float* values, int64_t elements, CodecId value_codec, Device& device) {
  DeviceWork work(device);
  const TopKFields fields = {.value_codec = value_codec, .values = static_cast<uint32_t>(elements)};
  Buffer frame = NewFrame(fields, work);
  WriteValues(values, nullptr, fields, frame, work);
  if (!work.ok()) return work.status();
  return frame;
}

absl::StatusOr<Buffer> EncodeSparse(const float* values, const DeviceIndices& indices, const TopKFields& fields,
                                    DeviceWork& work) {
  const SparseIndexForm form = {.low_bits = fields.form, .size_bytes = fields.index_bytes};
  Buffer frame = NewFrame(fields, work);
  WriteIndicesOnDevice(indices, form, kTopKFieldBytes, static_cast<uint32_t*>(frame.mutable_data()), work);
  WriteValues(values, indices.data(), fields, frame, work);
  if (!work.ok()) return work.status();
  return frame;
}

// Top-k on a device: the frames of topk_codec.cc. The host asks the device three times how it goes on: for the least
// magnitude that is kept, for the number of elements, and for what decides the form of their indices. Stateless, hence
// thread-safe on distinct devices.
class TopKOnDevice : public DeviceCodec {
 public:
  CodecId id() const override { return CodecId::kTopK; }
  absl::StatusOr<Buffer> Encode(const float* values, int64_t elements, const Encoding& encoding,
                                Device& device) const override {
    const int64_t k = KeptElements(elements, encoding.ratio);
    if (k == elements) return EncodeAll(values, elements, encoding.value_codec, device);
    absl::StatusOr<DeviceIndices> indices =
        encoding.selection == TopKSelection::kExact
            ? SelectLargestOnDevice(values, elements, k, device)
            : SelectLargestSampledOnDevice(values, elements, k, encoding.seed, device);
    if (!indices.ok()) return indices.status();
    DeviceWork work(device);
    const SparseIndexForm form = SmallestIndexFormOnDevice(*indices, work);
    if (!work.ok()) return work.status();
    const TopKFields fields = {.value_codec = encoding.value_codec,
                               .form = static_cast<uint8_t>(form.low_bits),
                               .values = static_cast<uint32_t>(indices->count),
                               .index_bytes = static_cast<uint32_t>(form.size_bytes)};
    const int64_t all_bytes = kTopKFieldBytes + elements * SparseValueBytes(encoding.value_codec);
    if (TopKFrameBytes(fields) >= all_bytes) return EncodeAll(values, elements, encoding.value_codec, device);
    return EncodeSparse(values, *indices, fields, work);
  }

  absl::Status Decode(const CheckedFrame& frame, Into into, float* out, Device& device) const override {
    const TopKFields fields = ReadTopKFields(static_cast<const uint8_t*>(frame.host.data()));
    const uint8_t* const index_bytes = static_cast<const uint8_t*>(frame.device.data()) + kTopKFieldBytes;
    DeviceWork work(device);
    const uint32_t* indices = nullptr;
    if (fields.form != kAllTopKElements) {
      const SparseIndexForm form = {.low_bits = fields.form, .size_bytes = fields.index_bytes};
      indices = ReadIndicesOnDevice(index_bytes, form, fields.values, work);
      if (into == Into::kReplace) work.Clear(out, frame.elements * static_cast<int64_t>(sizeof(float)));
    }
    work.RunOver(fields.values, ScatterKernel::kThreads,
                 ScatterKernel{.bytes = index_bytes + fields.index_bytes,
                               .as_halves = fields.value_codec == CodecId::kFp16,
                               .indices = indices,
                               .count = fields.values,
                               .add = into == Into::kAdd,
                               .chunk = out});
    return work.status();
  }
};

}  // namespace

const DeviceCodec& DeviceTopKCodec() {
  static const TopKOnDevice codec;
  return codec;
}

}  // namespace banyan
