#include "compression/trimmable/prefix_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_format.h"
#include "compression/codecs/frame_check.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/sign_bits.h"
#include "compression/kernels/vector_math.h"
#include "compression/trimmable/level_bits.h"
#include "core/check.h"

namespace banyan {
namespace {

using LevelPointers = absl::InlinedVector<const uint8_t*, 8>;

LevelPointers PointersOf(absl::Span<const Buffer> levels) {
  LevelPointers pointers;
  for (const Buffer& level : levels) pointers.push_back(level.bytes().data());
  return pointers;
}

// Returns frames of these sizes, to be written, in memory that they share.
Payload NewFrames(const std::vector<FrameHeader>& headers) {
  int64_t size_bytes = 0;
  for (const FrameHeader& header : headers) size_bytes += header.size_bytes;
  const Buffer whole = Buffer::AllocateForOverwrite(size_bytes, DataType::kByte);
  Payload frames;
  int64_t offset = 0;
  for (const FrameHeader& header : headers) {
    frames.push_back(whole.Slice(offset, header.size_bytes));
    offset += header.size_bytes;
  }
  return frames;
}

// Ranges share no random choices.
uint64_t SeedOfRange(uint64_t seed, size_t range) {
  const RandomKey key = KeyOfBlock(seed, range);
  return uint64_t{key.first} << 32 | key.second;
}

constexpr int64_t kShortestCut = 1024;

int64_t FloorOf(int64_t elements) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(elements))); }

// Appends what is left after all ranges of full length.
void AppendRest(int64_t left, RangeShape shape, std::vector<int64_t>& lengths) {
  while (shape == RangeShape::kPowersOfTwo && left >= kShortestCut) {
    lengths.push_back(FloorOf(left));
    left -= lengths.back();
  }
  if (left > 0) lengths.push_back(left);
}

std::vector<int64_t> CutRange(int64_t elements, int64_t length, RangeShape shape) {
  std::vector<int64_t> lengths(elements / length, length);
  AppendRest(elements % length, shape, lengths);
  return lengths;
}

}  // namespace

std::vector<int64_t> RangeLengths(int64_t elements, int64_t wanted_elements, int levels, RangeShape shape) {
  int64_t length = wanted_elements > 0 ? wanted_elements : kRangeElements;
  if (shape == RangeShape::kPowersOfTwo) length = RowOf(length);
  const int64_t most_ranges = std::max<int64_t>(1, kMostLevelFrames / levels);
  while (elements / length >= most_ranges) length *= 2;
  std::vector<int64_t> lengths = CutRange(elements, length, shape);
  while (static_cast<int64_t>(lengths.size()) > most_ranges) {
    if (length >= elements) return {elements};
    lengths = CutRange(elements, length *= 2, shape);
  }
  return lengths;
}

Payload PrefixCodec::Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const {
  BANYAN_CHECK(encoding.codec == id());
  if (values.empty()) return {};
  const int written = encoding.levels > 0 ? std::min(encoding.levels, levels()) : levels();
  const std::vector<FrameHeader> headers =
      HeadersOf(RangeLengths(values.elements(), encoding.range_elements, levels(), shape()), written);
  frames->insert(frames->end(), headers.begin(), headers.end());
  Payload payload = NewFrames(headers);
  const size_t ranges = headers.size() / written;
  absl::InlinedVector<uint8_t*, 8> pointers(written);
  for (size_t range = 0; range < ranges; ++range) {
    for (int level = 0; level < written; ++level) {
      pointers[level] = static_cast<uint8_t*>(payload[level * ranges + range].mutable_data());
    }
    EncodeRange(values.floats().subspan(headers[range].first_element, headers[range].elements),
                SeedOfRange(encoding.seed, range), pointers);
  }
  return payload;
}

std::vector<FrameHeader> PrefixCodec::HeadersOf(const std::vector<int64_t>& lengths, int written) const {
  std::vector<FrameHeader> headers;
  for (int level = 0; level < written; ++level) {
    int64_t first = 0;
    for (const int64_t length : lengths) {
      headers.push_back({.codec = id(),
                         .first_element = first,
                         .elements = length,
                         .size_bytes = LevelBytes(length, level),
                         .level = level});
      first += length;
    }
  }
  return headers;
}

absl::Status PrefixCodec::Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const {
  absl::Status status = CheckFrameRange(name(), header, chunk_elements, levels());
  if (!status.ok()) return status;
  status = CheckFrameBytes(name(), header, frame, header.elements == 0 ? 0 : LevelBytes(header.elements, header.level));
  if (!status.ok() || header.elements == 0) return status;
  return CheckLevel(frame.bytes().data(), header.elements, header.level);
}

void PrefixCodec::Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  DecodeLevels(header, {&frame, 1}, chunk);
}

void PrefixCodec::DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const {
  DecodeAddLevels(header, {&frame, 1}, chunk);
}

void PrefixCodec::DecodeLevels(const FrameHeader& range, absl::Span<const Buffer> levels,
                               absl::Span<float> chunk) const {
  if (range.elements == 0) return;
  DecodeRange(PointersOf(levels), chunk.subspan(range.first_element, range.elements));
}

void PrefixCodec::DecodeAddLevels(const FrameHeader& range, absl::Span<const Buffer> levels,
                                  absl::Span<float> chunk) const {
  if (range.elements == 0) return;
  Buffer decoded = Buffer::AllocateForOverwrite(range.elements);
  DecodeRange(PointersOf(levels), decoded.mutable_floats());
  AddBytesInto(chunk.subspan(range.first_element, range.elements), decoded.AsBytes().bytes());
}

float RootMeanSquare(absl::Span<const float> values) {
  const auto root = static_cast<float>(std::sqrt(SumOfSquares(values) / static_cast<double>(values.size())));
  return std::isfinite(root) ? root : std::numeric_limits<float>::quiet_NaN();
}

absl::Status CheckHead(absl::string_view codec, const uint8_t* scale, const uint8_t* signs, int64_t elements) {
  if (!IsPaddingZero(signs, elements)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected zero bits after the signs of %d elements in %s, got others", elements, codec));
  }
  return CheckScales(codec, scale, 1);
}

absl::Status CheckTails(absl::string_view codec, const uint8_t* tails, int64_t elements) {
  if (IsTailPaddingZero(tails, elements)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected zero bits beside the tails of %d elements in %s, got others", elements, codec));
}

}  // namespace banyan
