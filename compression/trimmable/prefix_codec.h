// Base class of the codecs that write each range of a chunk's elements in levels, the most important first, such that
// any prefix of a range's levels decodes. So a queue that fills may drop last levels of what waits in it (Chen,
// Vargaftik, Ben Basat, "When ML Training Cuts Through Congestion", HotNets 2024, trim packets in the same way).
// Level 0 has the side information and a head of one bit or more for each element; it is never dropped.
// Stateless, hence thread-safe.
//
// Invariants:
// - Frames are in the order of levels, and within a level in that of ranges. So dropping the last frames of a chunk
//   cuts every range to a prefix.
// - The size of a frame follows from its level and its range's length.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_PREFIX_CODEC_H_
#define BANYAN_COMPRESSION_TRIMMABLE_PREFIX_CODEC_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codec.h"

namespace banyan {

// The ranges of elements into which a prefix-decodable codec cuts a chunk. Each range decodes alone, from a prefix of
// its levels. Pure functions.

// Long enough that side information weighs nothing, short enough that a cut takes little.
inline constexpr int64_t kRangeElements = 4096;
// Of a chunk, which may have 256 frames.
inline constexpr int64_t kMostLevelFrames = 240;

enum class RangeShape : uint8_t {
  kAnyLength,
  kPowersOfTwo  // a transform fills up others; only the last range, of fewer than 1,024 elements, is one
};

// Returns the lengths of the ranges of a chunk of `elements`, in their order. They have `wanted_elements` each, 0 for
// kRangeElements, or the next power of two. The last ones are shorter. Ranges become longer where frames in `levels`
// levels would be too many.
std::vector<int64_t> RangeLengths(int64_t elements, int64_t wanted_elements, int levels, RangeShape shape);

// Returns the length of the row that a range of `elements` fills: the next power of two. REQUIRES: there are some.
inline int64_t RowOf(int64_t elements) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(elements))); }

class PrefixCodec : public Codec {
 public:
  // As codec.h says, in the first `encoding.levels` levels, all if that is 0.
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const final;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const final;
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const final;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const final;
  void DecodeLevels(const FrameHeader& range, absl::Span<const Buffer> levels, absl::Span<float> chunk) const final;
  void DecodeAddLevels(const FrameHeader& range, absl::Span<const Buffer> levels, absl::Span<float> chunk) const final;

 protected:
  // Returns the codec's name, for error messages.
  virtual absl::string_view name() const = 0;
  virtual RangeShape shape() const { return RangeShape::kAnyLength; }
  // Returns the exact size in bytes of the frame of `level` for a range of `elements`. REQUIRES: there are some.
  virtual int64_t LevelBytes(int64_t elements, int level) const = 0;
  // Writes every byte of the first levels.size() levels. REQUIRES: there are values.
  virtual void EncodeRange(absl::Span<const float> values, uint64_t seed, absl::Span<uint8_t* const> levels) const = 0;
  // Checks the content of a frame of the right size.
  virtual absl::Status CheckLevel(const uint8_t* frame, int64_t elements, int level) const = 0;
  // Writes all `values` of a range from its first levels.size() levels, at least one. REQUIRES: they were checked.
  virtual void DecodeRange(absl::Span<const uint8_t* const> levels, absl::Span<float> values) const = 0;

 private:
  // Returns the headers of the first `written` levels of ranges with these lengths.
  std::vector<FrameHeader> HeadersOf(const std::vector<int64_t>& lengths, int written) const;
};

// --- side information: what stands in front of the heads of a range, a float32 scale and for some codecs the seed of
// their random choices. Pure functions. ---

inline constexpr int64_t kScaleBytes = sizeof(float);
inline constexpr int64_t kSeedBytes = sizeof(uint64_t);

// Returns the root mean square of `values`; a not-a-number where one of them is not finite, or their mean square is
// above what a float holds. REQUIRES: there are values.
float RootMeanSquare(absl::Span<const float> values);

// Checks the signs of `elements` that begin at `signs`, and the scale at `scale`. `codec` names the codec for the
// error.
absl::Status CheckHead(absl::string_view codec, const uint8_t* scale, const uint8_t* signs, int64_t elements);

// Checks the tails of `elements` (level_bits.h).
absl::Status CheckTails(absl::string_view codec, const uint8_t* tails, int64_t elements);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_PREFIX_CODEC_H_
