// The ranges of elements into which a prefix-decodable codec cuts a chunk. Each range decodes alone, from a prefix of
// its levels. Pure functions.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_RANGE_LAYOUT_H_
#define BANYAN_COMPRESSION_TRIMMABLE_RANGE_LAYOUT_H_

#include <bit>
#include <cstdint>
#include <vector>

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_RANGE_LAYOUT_H_
