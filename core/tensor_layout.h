// What a key's tensor is made of: the type of its elements, and of a group, which tensors lie one after another in it.
// Values; thread-compatible.
#ifndef BANYAN_CORE_TENSOR_LAYOUT_H_
#define BANYAN_CORE_TENSOR_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/data_type.h"

namespace banyan {

struct TensorLayout {
  static constexpr size_t kMostParts = 65536;
  static constexpr size_t kMostNameBytes = size_t{8} << 20;  // of all parts together

  struct Part {
    std::string name;
    int64_t elements = 0;  // may be none
    friend bool operator==(const Part&, const Part&) = default;
  };

  std::vector<Part> parts;  // empty: a tensor that is no group
  DataType type = DataType::kFloat32;

  bool is_group() const { return !parts.empty(); }
  // Returns the elements of all parts.
  int64_t Elements() const;
  // Returns a number that is the same for equal layouts on all machines; 0 for no group of float32.
  uint64_t Hash() const;

  friend bool operator==(const TensorLayout&, const TensorLayout&) = default;
};

// The elements of a tensor and, of a group, its parts. Refers to both.
struct TensorShape {
  int64_t elements = 0;
  const TensorLayout& layout;
};

// Says for users what two shapes are where they differ first: "11 elements" and "10", "float16 elements" and "float32
// elements", or "'w' with 11 elements as tensor 3" and "2 tensors". REQUIRES: they differ.
std::pair<std::string, std::string> DescribeDifference(const TensorShape& one, const TensorShape& other);

}  // namespace banyan

#endif  // BANYAN_CORE_TENSOR_LAYOUT_H_
