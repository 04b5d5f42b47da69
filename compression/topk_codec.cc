#include "compression/topk_codec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/frame_check.h"
#include "compression/little_endian.h"
#include "compression/sparse_indices.h"
#include "compression/sparse_values.h"
#include "compression/top_k_selection.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr absl::string_view kName = "topk";
constexpr int64_t kFieldBytes = 10;
constexpr uint8_t kAllElements = 255;

// What stands before indices and values.
struct Fields {
  CodecId value_codec = CodecId::kFp32;
  uint8_t form = kAllElements;
  uint32_t values = 0;
  uint32_t index_bytes = 0;
};

int64_t FrameBytes(const Fields& fields) {
  return kFieldBytes + int64_t{fields.index_bytes} + int64_t{fields.values} * SparseValueBytes(fields.value_codec);
}

// REQUIRES: kFieldBytes bytes.
Fields ReadFields(const uint8_t* frame) {
  return {.value_codec = static_cast<CodecId>(frame[0]),
          .form = frame[1],
          .values = LoadLittleEndian<uint32_t>(frame + 2),
          .index_bytes = LoadLittleEndian<uint32_t>(frame + 6)};
}

// A frame with these fields written and the rest to be written.
Buffer NewFrame(const Fields& fields) {
  Buffer frame = Buffer::AllocateForOverwrite(FrameBytes(fields), DataType::kByte);
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data());
  bytes[0] = static_cast<uint8_t>(fields.value_codec);
  bytes[1] = fields.form;
  StoreLittleEndian(fields.values, bytes + 2);
  StoreLittleEndian(fields.index_bytes, bytes + 6);
  return frame;
}

Buffer EncodeAll(absl::Span<const float> values, CodecId value_codec) {
  Buffer frame = NewFrame({.value_codec = value_codec, .values = static_cast<uint32_t>(values.size())});
  WriteValues(values, value_codec, static_cast<uint8_t*>(frame.mutable_data()) + kFieldBytes);
  return frame;
}

Buffer EncodeSparse(absl::Span<const float> values, const Encoding& encoding, int64_t k) {
  const std::vector<uint32_t> indices = encoding.selection == TopKSelection::kExact
                                            ? SelectLargest(values, k)
                                            : SelectLargestSampled(values, k, encoding.seed);
  const SparseIndexForm form = SmallestIndexForm(indices);
  const Fields fields = {.value_codec = encoding.value_codec,
                         .form = static_cast<uint8_t>(form.low_bits),
                         .values = static_cast<uint32_t>(indices.size()),
                         .index_bytes = static_cast<uint32_t>(form.size_bytes)};
  const int64_t all_bytes = kFieldBytes + static_cast<int64_t>(values.size()) * SparseValueBytes(encoding.value_codec);
  if (FrameBytes(fields) >= all_bytes) return EncodeAll(values, encoding.value_codec);
  Buffer frame = NewFrame(fields);
  uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data()) + kFieldBytes;
  WriteSparseIndices(indices, form, absl::MakeSpan(bytes, form.size_bytes));
  GatherValues(values, indices, encoding.value_codec, bytes + form.size_bytes);
  return frame;
}

absl::Status CheckAllElements(const Fields& fields, int64_t elements) {
  if (fields.values == elements && fields.index_bytes == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected all %d elements without indices in %s, got %d with %d bytes", elements, kName,
                      fields.values, fields.index_bytes));
}

absl::Status CheckIndices(const Fields& fields, const uint8_t* frame, int64_t elements) {
  absl::Status status = CheckSparseIndices(absl::MakeConstSpan(frame + kFieldBytes, fields.index_bytes), fields.form,
                                           fields.values, elements);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(status.message(), " in ", kName));
}

// What a checked frame says, as `all` or as `sparse` makes it of the chunk's part.
template <typename All, typename Sparse>
void Apply(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk, All all, Sparse sparse) {
  const uint8_t* bytes = frame.bytes().data();
  const Fields fields = ReadFields(bytes);
  const absl::Span<float> part = chunk.subspan(header.first_element, header.elements);
  const uint8_t* values = bytes + kFieldBytes + fields.index_bytes;
  if (fields.form == kAllElements) return all(values, fields.value_codec, part);
  std::vector<uint32_t> indices(fields.values);
  ReadSparseIndices(absl::MakeConstSpan(bytes + kFieldBytes, fields.index_bytes), fields.form, absl::MakeSpan(indices));
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
  if (frame.size_bytes() < kFieldBytes) return CheckFrameBytes(kName, header, frame, kFieldBytes);
  const uint8_t* bytes = frame.bytes().data();
  const Fields fields = ReadFields(bytes);
  status = CheckValueCodec(kName, fields.value_codec);
  if (status.ok()) status = CheckFrameBytes(kName, header, frame, FrameBytes(fields));
  if (!status.ok()) return status;
  return fields.form == kAllElements ? CheckAllElements(fields, header.elements)
                                     : CheckIndices(fields, bytes, header.elements);
}

void TopKCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  Apply(header, frame, chunk, ReadValues, ScatterValues);
}

void TopKCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  Apply(header, frame, chunk, AddValues, ScatterAddValues);
}

}  // namespace banyan
