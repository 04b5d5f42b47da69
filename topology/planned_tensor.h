// What plans know of the model: the size of each tensor, and where chunks end in it. Values; thread-compatible.
#ifndef BANYAN_TOPOLOGY_PLANNED_TENSOR_H_
#define BANYAN_TOPOLOGY_PLANNED_TENSOR_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace banyan {

struct PlannedTensor {
  // Implicit: most models are of float32, and a number says all of their tensors.
  PlannedTensor(int64_t elements, int64_t element_bytes = 4,  // NOLINT(google-explicit-constructor)
                std::vector<int64_t> borders = {})
      : elements(elements), element_bytes(element_bytes), borders(std::move(borders)) {}

  double bits() const { return 8.0 * static_cast<double>(element_bytes) * static_cast<double>(elements); }

  int64_t elements;
  int64_t element_bytes;         // of an element on its way, when nothing is compressed
  std::vector<int64_t> borders;  // of its slices; see CountChunks in topology/chunk_assignment.h
};

// Returns the bits of all tensors.
inline double BitsOf(const std::vector<PlannedTensor>& tensors) {
  double bits = 0;
  for (const PlannedTensor& tensor : tensors) bits += tensor.bits();
  return bits;
}

// Returns the elements of all tensors.
inline int64_t ElementsOf(const std::vector<PlannedTensor>& tensors) {
  int64_t elements = 0;
  for (const PlannedTensor& tensor : tensors) elements += tensor.elements;
  return elements;
}

// Returns the bits of the widest element; of a float where there is no tensor.
inline double WidestElementBits(const std::vector<PlannedTensor>& tensors) {
  int64_t bytes = tensors.empty() ? 4 : 0;
  for (const PlannedTensor& tensor : tensors) bytes = std::max(bytes, tensor.element_bytes);
  return 8.0 * static_cast<double>(bytes);
}

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNED_TENSOR_H_
