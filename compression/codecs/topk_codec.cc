#include "compression/codecs/topk_codec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/sparse_values.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/codecs/topk_frame.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr absl::string_view kName = "topk";

// A frame with these fields written and the rest to be written.
Buffer NewFrame(const TopKFields& fields) {
  Buffer frame = Buffer::AllocateForOverwrite(TopKFrameBytes(fields), DataType::kByte);
  WriteTopKFields(fields, static_cast<uint8_t*>(frame.mutable_data()));
  return frame;
}

Buffer EncodeAll(absl::Span<const float> values, CodecId value_codec) {
  Buffer frame = NewFrame({.value_codec = value_codec, .values = static_cast<uint32_t>(values.size())});
  WriteValues(values, value_codec, static_cast<uint8_t*>(frame.mutable_data()) + kTopKFieldBytes);
  return frame;
}

Buffer EncodeSparse(absl::Span<const float> values, const Encoding& encoding, int64_t k) {
  const std::vector<uint32_t> indices = encoding.selection == TopKSelection::kExact
                                            ? SelectLargest(values, k)
                                            : SelectLargestSampled(values, k, encoding.seed);
  const SparseIndexForm form = SmallestIndexForm(indices);
  const TopKFields fields = {.value_codec = encoding.value_codec,
                             .form = static_cast<uint8_t>(form.low_bits),
                             .values = static_cast<uint32_t>(indices.size()),
                             .index_bytes = static_cast<uint32_t>(form.size_bytes)};
  const int64_t all_bytes =
      kTopKFieldBytes + static_cast<int64_t>(values.size()) * SparseValueBytes(encoding.value_codec);
  if (TopKFrameBytes(fields) >= all_bytes) return EncodeAll(values, encoding.value_codec);
  Buffer frame = NewFrame(fields);
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data()) + kTopKFieldBytes;
  WriteSparseIndices(indices, form, absl::MakeSpan(bytes, form.size_bytes));
  GatherValues(values, indices, encoding.value_codec, bytes + form.size_bytes);
  return frame;
}

absl::Status CheckAllElements(const TopKFields& fields, int64_t elements) {
  if (fields.values == elements && fields.index_bytes == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected all %d elements without indices in %s, got %d with %d bytes", elements, kName,
                      fields.values, fields.index_bytes));
}

absl::Status CheckIndices(const TopKFields& fields, const uint8_t* frame, int64_t elements) {
  absl::Status status = CheckSparseIndices(absl::MakeConstSpan(frame + kTopKFieldBytes, fields.index_bytes),
                                           fields.form, fields.values, elements);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(status.message(), " in ", kName));
}

// What a checked frame says, as `all` or as `sparse` makes it of the chunk's part.
template <typename All, typename Sparse>
void Apply(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk, All all, Sparse sparse) {
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

Payload TopKCodec::Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(values.elements() <= kMaxSparseRange);
  if (values.empty()) return {};
  const int64_t k = KeptElements(values.elements(), encoding.ratio);
  Buffer frame = k == values.elements() ? EncodeAll(values.floats(), encoding.value_codec)
                                        : EncodeSparse(values.floats(), encoding, k);
  frames->push_back({.codec = id(), .elements = values.elements(), .size_bytes = frame.size_bytes()});
  return {std::move(frame)};
}

absl::Status TopKCodec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  absl::Status status = CheckFrameRange(kName, header, std::min(chunk_elements, kMaxSparseRange));
  if (!status.ok()) return status;
  if (frame.size_bytes() < kTopKFieldBytes) return CheckFrameBytes(kName, header, frame, kTopKFieldBytes);
  const uint8_t* bytes = frame.bytes().data();
  const TopKFields fields = ReadTopKFields(bytes);
  status = CheckValueCodec(kName, fields.value_codec);
  if (status.ok()) status = CheckFrameBytes(kName, header, frame, TopKFrameBytes(fields));
  if (!status.ok()) return status;
  return fields.form == kAllTopKElements ? CheckAllElements(fields, header.elements)
                                         : CheckIndices(fields, bytes, header.elements);
}

void TopKCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  Apply(header, frame, chunk, ReadValues, ScatterValues);
}

void TopKCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  Apply(header, frame, chunk, AddValues, ScatterAddValues);
}

}  // namespace banyan
