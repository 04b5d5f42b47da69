// Finds on a device the elements that top-k keeps. They are those that top_k_selection.h chooses on a host; a
// definition beside the algorithm there makes them unique. Pure functions but for the device's work.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_SELECTION_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_SELECTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compression/codecs/sparse_indices.h"
#include "compression/cuda/device.h"
#include "compression/cuda/device_work.h"
#include "core/buffer.h"

namespace banyan {

// Rising indices in a device's memory.
struct DeviceIndices {
  Buffer memory;  // uint32_t each
  int64_t count = 0;

  const uint32_t* data() const { return static_cast<const uint32_t*>(memory.data()); }
};

// SelectLargest() of the values: a radix selection of the k-th largest magnitude, two passes that list what reaches it.
// REQUIRES, here and below: 1 <= k <= elements <= INT32_MAX, `values` is the device's memory.
absl::StatusOr<DeviceIndices> SelectLargestOnDevice(const float* values, int64_t elements, int64_t k, Device& device);

// SelectLargestSampled() of the values.
absl::StatusOr<DeviceIndices> SelectLargestSampledOnDevice(const float* values, int64_t elements, int64_t k,
                                                           uint64_t seed, Device& device);

// The coding of sparse_indices.h for indices in a device's memory. Pure functions but for the device's work.

// SmallestIndexForm() of the indices; any form after an error in `work`.
SparseIndexForm SmallestIndexFormOnDevice(const DeviceIndices& indices, DeviceWork& work);

// Writes form.size_bytes bytes from the byte `at` of `words` on, which are zeros there and up to the next whole word.
// REQUIRES: the form is the smallest.
void WriteIndicesOnDevice(const DeviceIndices& indices, const SparseIndexForm& form, int64_t at, uint32_t* words,
                          DeviceWork& work);

// The `count` indices at `bytes`, as memory of `work`. REQUIRES: CheckSparseIndices() passed for as many.
const uint32_t* ReadIndicesOnDevice(const uint8_t* bytes, const SparseIndexForm& form, int64_t count, DeviceWork& work);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_SELECTION_H_
