#include "compression/trimmable/range_layout.h"

#include <algorithm>
#include <bit>

namespace banyan {
namespace {

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

}  // namespace banyan
