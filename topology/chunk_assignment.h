// The assignment of every chunk of every tensor to a tree. It is a pure function of the trees' shares, the largest
// chunk, and the tensors' sizes in KeyId order. Adding a key never changes the chunks of earlier keys. Large tensors
// are split evenly, small ones stay whole, and each chunk goes to the tree that is furthest behind its share (NETSTORM,
// section IV-C). Thread-compatible value.
#ifndef BANYAN_TOPOLOGY_CHUNK_ASSIGNMENT_H_
#define BANYAN_TOPOLOGY_CHUNK_ASSIGNMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ids.h"

namespace banyan {

// A tensor is never cut into more chunks than this.
inline constexpr int64_t kMaxChunksPerKey = int64_t{1} << 20;

struct ElementRange {
  int64_t first_element = 0;
  int64_t elements = 0;

  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

// Returns how many chunks a tensor is cut into that has slices: `borders` are the first elements of those after the
// first, which no chunk crosses. REQUIRES: elements and chunk_max_elements are at least 1, and the borders rise within
// the tensor.
int64_t CountChunks(int64_t elements, const std::vector<int64_t>& borders, int64_t chunk_max_elements);

// Returns the first border that does not rise within a tensor of so many elements; nothing if all do.
std::optional<int64_t> FindBadBorder(int64_t elements, const std::vector<int64_t>& borders);

class ChunkAssignment {
 public:
  // `shares` holds each tree's share in order of TreeIndex, positive and summing to 1. INVALID_ARGUMENT otherwise, or
  // when chunk_max_elements is below 1.
  static absl::StatusOr<ChunkAssignment> Create(const std::vector<double>& shares, int64_t chunk_max_elements);

  // Keys come in ascending order of KeyId, with `borders` as CountChunks has them. INVALID_ARGUMENT when the key is not
  // above the last one, has no elements, or would need more than kMaxChunksPerKey chunks, and for borders that do not
  // rise within it; nothing changes then.
  absl::Status AddKey(KeyId key, int64_t elements, const std::vector<int64_t>& borders = {});

  // 0 for a key that was not added, so that `chunk.value() < ChunksOf(key)` tells whether a chunk exists.
  uint32_t ChunksOf(KeyId key) const;
  // These require that the chunk exists.
  TreeIndex TreeOf(KeyId key, ChunkIndex chunk) const;
  ElementRange RangeOf(KeyId key, ChunkIndex chunk) const;
  // Return which slice of the key it is in, from 0 on, and the elements of that.
  size_t SliceOf(KeyId key, ChunkIndex chunk) const;
  ElementRange SliceRangeOf(KeyId key, ChunkIndex chunk) const {
    return Existing(key, chunk).slices[SliceOf(key, chunk)].range;
  }
  // Returns how many chunks of the model come before this one.
  uint32_t PlaceOf(KeyId key, ChunkIndex chunk) const;

 private:
  // Chunks of one slice are of one size, give or take an element.
  struct Slice {
    ElementRange range;
    int64_t first_chunk = 0;
    int64_t chunks = 0;
  };
  struct KeyChunks {
    std::vector<Slice> slices;
    uint32_t first_place = 0;
    std::vector<TreeIndex> trees;  // by ChunkIndex
  };

  ChunkAssignment(std::vector<int64_t> share_units, int64_t chunk_max_elements);
  std::vector<Slice> Cut(int64_t elements, const std::vector<int64_t>& borders) const;
  TreeIndex AssignChunk(int64_t elements);
  const KeyChunks& Existing(KeyId key, ChunkIndex chunk) const;

  // Shares as integers, so that every node gets the same answer whatever its compiler does to floating point.
  std::vector<int64_t> share_units_;
  int64_t share_units_total_ = 0;
  int64_t chunk_max_elements_ = 0;
  std::vector<int64_t> assigned_elements_;  // by TreeIndex
  int64_t assigned_total_ = 0;
  std::map<KeyId, KeyChunks> keys_;
  uint32_t chunks_ = 0;  // of all keys
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_CHUNK_ASSIGNMENT_H_
