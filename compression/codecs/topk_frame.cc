#include "compression/codecs/topk_frame.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/sparse_values.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/kernels/little_endian.h"

namespace banyan {
namespace {

// A frame with these fields written and the rest to be written.
Buffer NewFrame(const TopKFields& fields) {
  Buffer frame = Buffer::AllocateForOverwrite(TopKFrameBytes(fields), DataType::kByte);
  WriteTopKFields(fields, static_cast<uint8_t*>(frame.mutable_data()));
  return frame;
}

absl::Status CheckAllElements(const TopKFields& fields, int64_t elements, absl::string_view codec) {
  if (fields.values == elements && fields.index_bytes == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected all %d elements without indices in %s, got %d with %d bytes", elements, codec,
                      fields.values, fields.index_bytes));
}

absl::Status CheckIndices(const TopKFields& fields, const uint8_t* frame, int64_t elements, absl::string_view codec) {
  absl::Status status = CheckSparseIndices(absl::MakeConstSpan(frame + kTopKFieldBytes, fields.index_bytes),
                                           fields.form, fields.values, elements);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(status.message(), " in ", codec));
}

// What a checked frame says, as `all` or as `sparse` makes it of the chunk's part.
template <typename All, typename Sparse>
void ApplyTopK(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk, All all, Sparse sparse) {
  const uint8_t* bytes = frame.bytes().data();
  const TopKFields fields = ReadTopKFields(bytes);
  const absl::Span<float> part = chunk.subspan(header.first_element, header.elements);
  const uint8_t* values = bytes + kTopKFieldBytes + fields.index_bytes;
  if (fields.form == kAllTopKElements) return all(values, fields.value_codec, part);
  std::vector<uint32_t> indices(fields.values);
  ReadSparseIndices(absl::MakeConstSpan(bytes + kTopKFieldBytes, fields.index_bytes), fields.form,
                    absl::MakeSpan(indices));
  sparse(values, fields.value_codec, indices, part);
}

}  // namespace

int64_t TopKFrameBytes(const TopKFields& fields) {
  return kTopKFieldBytes + int64_t{fields.index_bytes} + int64_t{fields.values} * SparseValueBytes(fields.value_codec);
}

TopKFields ReadTopKFields(const uint8_t* frame) {
  return {.value_codec = static_cast<CodecId>(frame[0]),
          .form = frame[1],
          .values = LoadLittleEndian<uint32_t>(frame + 2),
          .index_bytes = LoadLittleEndian<uint32_t>(frame + 6)};
}

void WriteTopKFields(const TopKFields& fields, uint8_t* frame) {
  frame[0] = static_cast<uint8_t>(fields.value_codec);
  frame[1] = fields.form;
  StoreLittleEndian(fields.values, frame + 2);
  StoreLittleEndian(fields.index_bytes, frame + 6);
}

std::vector<uint32_t> SelectTopK(absl::Span<const float> values, const Encoding& encoding, int64_t k) {
  return encoding.selection == TopKSelection::kExact ? SelectLargest(values, k)
                                                     : SelectLargestSampled(values, k, encoding.seed);
}

Buffer EncodeAllInTopKFrame(absl::Span<const float> values, CodecId value_codec) {
  Buffer frame = NewFrame({.value_codec = value_codec, .values = static_cast<uint32_t>(values.size())});
  WriteValues(values, value_codec, static_cast<uint8_t*>(frame.mutable_data()) + kTopKFieldBytes);
  return frame;
}

Buffer EncodeTopKFrame(absl::Span<const float> values, absl::Span<const uint32_t> indices, CodecId value_codec) {
  const SparseIndexForm form = SmallestIndexForm(indices);
  const TopKFields fields = {.value_codec = value_codec,
                             .form = static_cast<uint8_t>(form.low_bits),
                             .values = static_cast<uint32_t>(indices.size()),
                             .index_bytes = static_cast<uint32_t>(form.size_bytes)};
  const int64_t all_bytes = kTopKFieldBytes + static_cast<int64_t>(values.size()) * SparseValueBytes(value_codec);
  if (TopKFrameBytes(fields) >= all_bytes) return EncodeAllInTopKFrame(values, value_codec);
  Buffer frame = NewFrame(fields);
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data()) + kTopKFieldBytes;
  WriteSparseIndices(indices, form, absl::MakeSpan(bytes, form.size_bytes));
  GatherValues(values, indices, value_codec, bytes + form.size_bytes);
  return frame;
}

absl::Status CheckTopKFrame(absl::string_view codec, const FrameHeader& header, const Buffer& frame,
                            int64_t chunk_elements, int levels) {
  absl::Status status = CheckFrameRange(codec, header, std::min(chunk_elements, kMaxSparseRange), levels);
  if (!status.ok()) return status;
  if (frame.size_bytes() < kTopKFieldBytes) return CheckFrameBytes(codec, header, frame, kTopKFieldBytes);
  const uint8_t* bytes = frame.bytes().data();
  const TopKFields fields = ReadTopKFields(bytes);
  status = CheckValueCodec(codec, fields.value_codec);
  if (status.ok()) status = CheckFrameBytes(codec, header, frame, TopKFrameBytes(fields));
  if (!status.ok()) return status;
  return fields.form == kAllTopKElements ? CheckAllElements(fields, header.elements, codec)
                                         : CheckIndices(fields, bytes, header.elements, codec);
}

void DecodeTopKFrame(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) {
  ApplyTopK(header, frame, chunk, ReadValues, ScatterValues);
}

void AddTopKFrame(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) {
  ApplyTopK(header, frame, chunk, AddValues, ScatterAddValues);
}

}  // namespace banyan
