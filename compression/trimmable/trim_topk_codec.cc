#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compression/codec.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/codecs/top_k_selection.h"
#include "compression/codecs/topk_frame.h"
#include "compression/trimmable/trim_codecs.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr absl::string_view kName = "trim_topk";

// Returns the indices in tiers of equal number, the largest elements first; rising within a tier.
std::vector<std::vector<uint32_t>> TiersOf(absl::Span<const float> values, std::vector<uint32_t> indices, int tiers) {
  const auto is_larger = [&](uint32_t a, uint32_t b) {
    const Magnitude left = MagnitudeOf(values[a]);
    const Magnitude right = MagnitudeOf(values[b]);
    return left != right ? left > right : a < b;
  };
  std::sort(indices.begin(), indices.end(), is_larger);
  std::vector<std::vector<uint32_t>> all;
  const size_t count = indices.size();
  auto begin = indices.begin();
  for (int tier = 0; tier < tiers; ++tier) {
    const auto end = indices.begin() + static_cast<std::ptrdiff_t>((count * (tier + 1) + tiers - 1) / tiers);
    all.emplace_back(begin, end);
    begin = end;
    std::sort(all.back().begin(), all.back().end());
  }
  return all;
}

// Top-k in tiers: what topk_codec.cc keeps, the largest quarter of it in level 0, the next quarter in level 1, and so
// on (MLT, Wang et al., NSDI 2024, orders packets so: the largest gradients matter most). One range, the whole chunk;
// each level is a frame of topk_frame.h, and a range is the sum of its levels. A cut keeps the largest. Stateless,
// hence thread-safe.
//
// Biased as topk is: the error is the share of the energy that is left out.
class TrimTopK : public Codec {
 public:
  CodecId id() const override { return CodecId::kTrimTopK; }
  int levels() const override { return 4; }
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override {
    BANYAN_CHECK(encoding.codec == id() && values.elements() <= kMaxSparseRange);
    if (values.empty()) return {};
    const int written = encoding.levels > 0 ? std::min(encoding.levels, levels()) : levels();
    const int64_t k = KeptElements(values.elements(), encoding.ratio);
    const std::vector<std::vector<uint32_t>> tiers =
        TiersOf(values.floats(), SelectTopK(values.floats(), encoding, k), levels());
    Payload payload;
    for (int level = 0; level < written; ++level) {
      payload.push_back(EncodeTopKFrame(values.floats(), tiers[level], encoding.value_codec));
      frames->push_back(
          {.codec = id(), .elements = values.elements(), .size_bytes = payload.back().size_bytes(), .level = level});
    }
    return payload;
  }

  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override {
    return CheckTopKFrame(kName, header, frame, chunk_elements, levels());
  }

  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    DecodeTopKFrame(header, frame, chunk);
  }

  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override {
    AddTopKFrame(header, frame, chunk);
  }

  void DecodeLevels(const FrameHeader& range, absl::Span<const Buffer> levels, absl::Span<float> chunk) const override {
    Decode(range, levels[0], chunk);
    DecodeAddLevels(range, levels.subspan(1), chunk);
  }

  void DecodeAddLevels(const FrameHeader& range, absl::Span<const Buffer> levels,
                       absl::Span<float> chunk) const override {
    for (const Buffer& level : levels) DecodeAdd(range, level, chunk);
  }
};

}  // namespace

const Codec& TrimTopKCodec() {
  static const TrimTopK codec;
  return codec;
}

}  // namespace banyan
