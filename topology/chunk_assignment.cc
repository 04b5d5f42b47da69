#include "topology/chunk_assignment.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// Units per whole: fine enough for thousands of trees, small enough that products with element counts fit 128 bits.
constexpr double kShareUnits = 1 << 30;

int64_t ChunksOfSlice(int64_t elements, int64_t chunk_max_elements) { return (elements - 1) / chunk_max_elements + 1; }

}  // namespace

int64_t CountChunks(int64_t elements, const std::vector<int64_t>& borders, int64_t chunk_max_elements) {
  int64_t chunks = 0;
  int64_t first = 0;
  for (const int64_t border : borders) {
    chunks += ChunksOfSlice(border - first, chunk_max_elements);
    first = border;
  }
  return chunks + ChunksOfSlice(elements - first, chunk_max_elements);
}

std::optional<int64_t> FindBadBorder(int64_t elements, const std::vector<int64_t>& borders) {
  int64_t last = 0;
  for (const int64_t border : borders) {
    if (border <= last || border >= elements) return border;
    last = border;
  }
  return std::nullopt;
}

absl::StatusOr<ChunkAssignment> ChunkAssignment::Create(const std::vector<double>& shares, int64_t chunk_max_elements) {
  if (chunk_max_elements < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a chunk must hold at least 1 element, got ", chunk_max_elements));
  }
  std::vector<int64_t> units;
  double sum = 0;
  for (const double share : shares) {
    if (!(share > 0 && share <= 1 + 1e-9)) {
      return absl::InvalidArgumentError(absl::StrCat("a tree's share must be in (0, 1], got ", share));
    }
    sum += share;
    units.push_back(std::max<int64_t>(1, std::llround(share * kShareUnits)));
  }
  if (!(std::abs(sum - 1) < 1e-6)) {
    return absl::InvalidArgumentError(absl::StrCat("the shares of ", shares.size(), " trees must sum to 1, got ", sum));
  }
  return ChunkAssignment(std::move(units), chunk_max_elements);
}

ChunkAssignment::ChunkAssignment(std::vector<int64_t> share_units, int64_t chunk_max_elements)
    : share_units_(std::move(share_units)),
      share_units_total_(std::accumulate(share_units_.begin(), share_units_.end(), int64_t{0})),
      chunk_max_elements_(chunk_max_elements),
      assigned_elements_(share_units_.size(), 0) {}

std::vector<ChunkAssignment::Slice> ChunkAssignment::Cut(int64_t elements, const std::vector<int64_t>& borders) const {
  std::vector<Slice> slices;
  int64_t chunk = 0;
  for (size_t i = 0; i <= borders.size(); ++i) {
    const int64_t first = i == 0 ? 0 : borders[i - 1];
    const int64_t count = (i == borders.size() ? elements : borders[i]) - first;
    const int64_t chunks = ChunksOfSlice(count, chunk_max_elements_);
    slices.push_back({{first, count}, std::exchange(chunk, chunk + chunks), chunks});
  }
  return slices;
}

absl::Status ChunkAssignment::AddKey(KeyId key, int64_t elements, const std::vector<int64_t>& borders) {
  if (!keys_.empty() && key <= keys_.rbegin()->first) {
    return absl::InvalidArgumentError(absl::StrCat("keys must be added in ascending order: ", key.value(),
                                                   " came after ", keys_.rbegin()->first.value()));
  }
  if (elements < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.value(), " must have at least 1 element, got ", elements));
  }
  if (const std::optional<int64_t> bad = FindBadBorder(elements, borders); bad.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("the slices of key ", key.value(), " must rise within its ",
                                                   elements, " elements, but one begins at ", *bad));
  }
  const int64_t chunks = CountChunks(elements, borders, chunk_max_elements_);
  if (chunks > kMaxChunksPerKey) {
    return absl::InvalidArgumentError(absl::StrCat("key ", key.value(), " with ", elements, " elements needs ", chunks,
                                                   " chunks, more than the ", kMaxChunksPerKey,
                                                   " allowed; raise chunks.max_elements"));
  }
  KeyChunks& added = keys_[key];
  added.slices = Cut(elements, borders);
  added.first_place = std::exchange(chunks_, chunks_ + static_cast<uint32_t>(chunks));
  added.trees.resize(chunks);
  for (int64_t i = 0; i < chunks; ++i) {
    added.trees[i] = AssignChunk(RangeOf(key, ChunkIndex(static_cast<uint32_t>(i))).elements);
  }
  return absl::OkStatus();
}

TreeIndex ChunkAssignment::AssignChunk(int64_t elements) {
  assigned_total_ += elements;
  size_t furthest_behind = 0;
  absl::int128 largest_deficit = 0;
  for (size_t i = 0; i < share_units_.size(); ++i) {
    const absl::int128 deficit =
        absl::int128(share_units_[i]) * assigned_total_ - absl::int128(assigned_elements_[i]) * share_units_total_;
    if (i > 0 && deficit <= largest_deficit) continue;
    largest_deficit = deficit;
    furthest_behind = i;
  }
  assigned_elements_[furthest_behind] += elements;
  return TreeIndex(static_cast<uint32_t>(furthest_behind));
}

uint32_t ChunkAssignment::ChunksOf(KeyId key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? 0 : static_cast<uint32_t>(found->second.trees.size());
}

const ChunkAssignment::KeyChunks& ChunkAssignment::Existing(KeyId key, ChunkIndex chunk) const {
  const auto found = keys_.find(key);
  BANYAN_CHECK(found != keys_.end() && chunk.value() < found->second.trees.size());
  return found->second;
}

TreeIndex ChunkAssignment::TreeOf(KeyId key, ChunkIndex chunk) const {
  return Existing(key, chunk).trees[chunk.value()];
}

uint32_t ChunkAssignment::PlaceOf(KeyId key, ChunkIndex chunk) const {
  return Existing(key, chunk).first_place + chunk.value();
}

size_t ChunkAssignment::SliceOf(KeyId key, ChunkIndex chunk) const {
  const std::vector<Slice>& slices = Existing(key, chunk).slices;
  const auto after = std::upper_bound(slices.begin(), slices.end(), int64_t{chunk.value()},
                                      [](int64_t index, const Slice& slice) { return index < slice.first_chunk; });
  return after - slices.begin() - 1;
}

ElementRange ChunkAssignment::RangeOf(KeyId key, ChunkIndex chunk) const {
  const Slice& slice = Existing(key, chunk).slices[SliceOf(key, chunk)];
  const int64_t size = slice.range.elements / slice.chunks;
  const int64_t larger = slice.range.elements % slice.chunks;  // so many first chunks hold one element more
  const int64_t index = chunk.value() - slice.first_chunk;
  return {.first_element = slice.range.first_element + index * size + std::min(index, larger),
          .elements = size + (index < larger ? 1 : 0)};
}

}  // namespace banyan
