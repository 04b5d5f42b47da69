#include "compression/encoded_chunk.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compression/codec.h"
#include "compression/codec_registry.h"
#include "compression/kernels/vector_math.h"
#include "core/check.h"

namespace banyan {
namespace {

// REQUIRES: the id passed CheckFrame() or is one of our own.
const Codec& KnownCodec(CodecId id) {
  const Codec* codec = CodecFor(id);
  BANYAN_CHECK(codec != nullptr);
  return *codec;
}

absl::Status CheckFrame(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) {
  const Codec* codec = CodecFor(header.codec);
  if (codec == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected a codec that this version knows, got number %d; run the same "
                        "version on all nodes",
                        static_cast<int>(header.codec)));
  }
  if (header.size_bytes != frame.size_bytes()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected %d bytes as the header says, got %d", header.size_bytes, frame.size_bytes()));
  }
  return codec->Check(header, frame, chunk_elements);
}

// What tells a range of elements from others.
using RangeKey = std::tuple<CodecId, int64_t, int64_t>;
RangeKey KeyOf(const FrameHeader& header) { return {header.codec, header.first_element, header.elements}; }

// Checks that ranges rise and do not overlap, and that each range's levels come once and in order.
absl::Status CheckRanges(const std::vector<FrameHeader>& frames) {
  std::map<RangeKey, int> levels;
  int64_t end = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].level == 0) {
      if (frames[i].first_element < end) {
        return absl::InvalidArgumentError(
            absl::StrFormat("frame %d: expected elements from %d on, behind those of the frames before it, got those "
                            "from %d",
                            i, end, frames[i].first_element));
      }
      end = frames[i].first_element + frames[i].elements;
    }
    if (KnownCodec(frames[i].codec).levels() == 1) continue;
    int& next = levels[KeyOf(frames[i])];
    if (frames[i].level != next) {
      return absl::InvalidArgumentError(
          absl::StrFormat("frame %d: expected level %d of the elements from %d, got level %d", i, next,
                          frames[i].first_element, frames[i].level));
    }
    ++next;
  }
  return absl::OkStatus();
}

// Calls use(codec, header of its first frame, its levels) for each range.
template <typename Use>
void ForEachRange(const EncodedChunk& chunk, Use use) {
  std::map<RangeKey, std::vector<Buffer>> levels;
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    if (KnownCodec(chunk.frames[i].codec).levels() > 1) levels[KeyOf(chunk.frames[i])].push_back(chunk.payload[i]);
  }
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    const FrameHeader& header = chunk.frames[i];
    if (header.level > 0) continue;
    const Codec& codec = KnownCodec(header.codec);
    if (codec.levels() > 1) {
      use(codec, header, absl::MakeConstSpan(levels[KeyOf(header)]));
    } else {
      use(codec, header, absl::MakeConstSpan(&chunk.payload[i], 1));
    }
  }
}

void AddRanges(const CheckedChunk& chunk, absl::Span<float> values) {
  BANYAN_CHECK(chunk.empty() || chunk.elements() == static_cast<int64_t>(values.size()));
  ForEachRange(chunk.encoded(),
               [values](const Codec& codec, const FrameHeader& range, absl::Span<const Buffer> levels) {
                 codec.DecodeAddLevels(range, levels, values);
               });
}

// True if the ranges lie one behind the other and make up the whole chunk: then each may replace what there is.
bool TilesChunk(const EncodedChunk& chunk, int64_t chunk_elements) {
  int64_t end = 0;
  for (const FrameHeader& header : chunk.frames) {
    if (header.level > 0) continue;
    if (header.first_element != end) return false;
    end += header.elements;
  }
  return end == chunk_elements;
}

// Half a step beyond the largest number of the format: from here on values are rounded to infinity.
constexpr float kEndOfHalves = 65520;
constexpr float kEndOfBrainFloats = std::bit_cast<float>(uint32_t{0x7f7f8000});

std::optional<float> EndOf(CodecId codec) {
  if (codec == CodecId::kFp16) return kEndOfHalves;
  if (codec == CodecId::kBf16) return kEndOfBrainFloats;
  // The others scale by what is in the chunk, or keep float32.
  return std::nullopt;
}

}  // namespace

Encoding WithoutOverflow(Encoding encoding, absl::Span<const float> values) {
  const std::optional<float> end = EndOf(encoding.codec);
  if (end.has_value() && HasFiniteFrom(values, *end)) encoding.codec = CodecId::kFp32;
  return encoding;
}

CheckedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight) {
  EncodedChunk chunk;
  chunk.payload = KnownCodec(encoding.codec).Encode(values, encoding, &chunk.frames);
  chunk.weight = weight;
  return CheckedChunk(std::move(chunk), values.elements());
}

absl::StatusOr<CheckedChunk> CheckChunk(EncodedChunk chunk, int64_t chunk_elements) {
  if (chunk.frames.size() != chunk.payload.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("expected %d frames as the chunk's header says, got %d",
                                                      chunk.frames.size(), chunk.payload.size()));
  }
  for (size_t i = 0; i < chunk.frames.size(); ++i) {
    absl::Status status = CheckFrame(chunk.frames[i], chunk.payload[i], chunk_elements);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("frame ", i, ": ", status.message()));
  }
  absl::Status status = CheckRanges(chunk.frames);
  if (!status.ok()) return status;
  return CheckedChunk(std::move(chunk), chunk_elements);
}

CheckedChunk OwnChunk(EncodedChunk chunk, int64_t chunk_elements) {
  return CheckedChunk(std::move(chunk), chunk_elements);
}

void DecodeChunk(const CheckedChunk& chunk, absl::Span<float> values) {
  const EncodedChunk& encoded = chunk.encoded();
  if (chunk.empty() || !TilesChunk(encoded, static_cast<int64_t>(values.size()))) {
    std::fill(values.begin(), values.end(), 0.0f);
    return AddRanges(chunk, values);
  }
  BANYAN_CHECK(chunk.elements() == static_cast<int64_t>(values.size()));
  ForEachRange(encoded, [values](const Codec& codec, const FrameHeader& range, absl::Span<const Buffer> levels) {
    codec.DecodeLevels(range, levels, values);
  });
}

void DecodeAddChunk(const CheckedChunk& chunk, absl::Span<float> values) { AddRanges(chunk, values); }

CheckedChunk CutChunk(const CheckedChunk& chunk, size_t frames) {
  const std::vector<FrameHeader>& all = chunk.encoded().frames;
  const auto heads = std::count_if(all.begin(), all.end(), [](const FrameHeader& frame) { return frame.level == 0; });
  const size_t kept = std::clamp(frames, static_cast<size_t>(heads), all.size());
  CheckedChunk cut = chunk;
  cut.encoded_.frames.resize(kept);
  cut.encoded_.payload.resize(kept);
  return cut;
}

CheckedChunk CutToShare(const CheckedChunk& chunk, double share) {
  const double most_bytes = share * static_cast<double>(chunk.payload_bytes());
  size_t frames = 0;
  int64_t bytes = 0;
  for (const FrameHeader& frame : chunk.encoded().frames) {
    bytes += frame.size_bytes;
    if (static_cast<double>(bytes) > most_bytes) break;
    ++frames;
  }
  return CutChunk(chunk, frames);
}

}  // namespace banyan
