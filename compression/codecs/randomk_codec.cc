#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "compression/codec.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/sparse_values.h"
#include "compression/codecs/stratified_choice.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/kernels/little_endian.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr absl::string_view kName = "randomk";
constexpr int64_t kFieldBytes = 13;

// What stands before the values.
struct Fields {
  CodecId value_codec = CodecId::kFp32;
  uint32_t values = 0;
  uint64_t seed = 0;
};

int64_t FrameBytes(const Fields& fields) {
  return kFieldBytes + int64_t{fields.values} * SparseValueBytes(fields.value_codec);
}

// REQUIRES: kFieldBytes bytes.
Fields ReadFields(const uint8_t* frame) {
  return {.value_codec = static_cast<CodecId>(frame[0]),
          .values = LoadLittleEndian<uint32_t>(frame + 1),
          .seed = LoadLittleEndian<uint64_t>(frame + 5)};
}

void WriteFields(const Fields& fields, uint8_t* frame) {
  frame[0] = static_cast<uint8_t>(fields.value_codec);
  StoreLittleEndian(fields.values, frame + 1);
  StoreLittleEndian(fields.seed, frame + 5);
}

std::vector<uint32_t> Choice(const Fields& fields, int64_t elements) {
  std::vector<uint32_t> indices(fields.values);
  ChooseStratified(elements, fields.seed, absl::MakeSpan(indices));
  return indices;
}

// What a checked frame says, as `all` or as `sparse` makes it of the chunk's part.
template <typename All, typename Sparse>
void ApplyRandomK(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk, All all, Sparse sparse) {
  const uint8_t* bytes = frame.bytes().data();
  const Fields fields = ReadFields(bytes);
  const absl::Span<float> part = chunk.subspan(header.first_element, header.elements);
  const uint8_t* values = bytes + kFieldBytes;
  if (fields.values == header.elements) return all(values, fields.value_codec, part);
  sparse(values, fields.value_codec, Choice(fields, header.elements), part);
}

// Random-k: elements that a seed chooses, the others as zeros. Sender and receiver compute the same choice, hence the
// indices need no bytes. Stateless, hence thread-safe.
//
// One frame over the whole chunk, little-endian, at any alignment:
//   0   value codec  1 byte: 0 (fp32) or 1 (fp16), the numbers of CodecId
//   1   values       4 bytes: their number k, at least 1
//   5   seed         8 bytes
//   13  values       4 or 2 bytes each, in the order of ChooseStratified()
//
// k = max(1, round(ratio * n)) elements are kept. With all of them they stand in their own order, and the seed is 0.
//
// Bytes per kept element: 4 or 2.
// The choice is even: each element comes with probability k/n, without replacement (stratified_choice.h). Values are
// not scaled by n/k. The decoded ones are k/n of the chunk on average, a bias that error feedback makes up for, as in
// DC2; an unbiased one would be n/k times as noisy, and error feedback diverges with it. Normalized mean squared error:
// 1 - k/n whatever the values are, on average. Halves add at most 2^-22 of what is kept as long as
// magnitudes lie between 2^-14 and 65,504; below they lose bits, 65,520 and more becomes infinite.
class RandomK : public Codec {
 public:
  CodecId id() const override { return CodecId::kRandomK; }
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override {
    const int64_t elements = values.elements();
    BANYAN_CHECK(elements <= kMaxSparseRange);
    if (elements == 0) return {};
    const int64_t k = KeptElements(elements, encoding.ratio);
    const Fields fields = {.value_codec = encoding.value_codec,
                           .values = static_cast<uint32_t>(k),
                           .seed = k == elements ? 0 : encoding.seed};
    Buffer frame = Buffer::AllocateForOverwrite(FrameBytes(fields), DataType::kByte);
    uint8_t* bytes = static_cast<uint8_t*>(frame.mutable_data());
    WriteFields(fields, bytes);
    if (k == elements) {
      WriteValues(values.floats(), fields.value_codec, bytes + kFieldBytes);
    } else {
      GatherValues(values.floats(), Choice(fields, elements), fields.value_codec, bytes + kFieldBytes);
    }
    frames->push_back({.codec = id(), .elements = elements, .size_bytes = frame.size_bytes()});
    return {std::move(frame)};
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    absl::Status status = CheckFrameRange(kName, header, std::min(chunk_elements, kMaxSparseRange));
    if (!status.ok()) return status;
    if (frame.size_bytes() < kFieldBytes) return CheckFrameBytes(kName, header, frame, kFieldBytes);
    const Fields fields = ReadFields(frame.bytes().data());
    status = CheckValueCodec(kName, fields.value_codec);
    if (status.ok()) status = CheckFrameBytes(kName, header, frame, FrameBytes(fields));
    if (!status.ok()) return status;
    if (fields.values >= 1 && fields.values <= header.elements) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrFormat("expected 1 to %d values in %s, got %d", header.elements, kName, fields.values));
  }

  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    ApplyRandomK(header, frame, chunk, ReadValues, ScatterValues);
  }

  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    ApplyRandomK(header, frame, chunk, AddValues, ScatterAddValues);
  }
};

}  // namespace

const Codec& RandomKCodec() {
  static const RandomK codec;
  return codec;
}

}  // namespace banyan
