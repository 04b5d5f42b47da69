// The coding of sparse_indices.h for indices in a device's memory. Pure functions but for the device's work.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_INDICES_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_INDICES_H_

#include <cstdint>

#include "compression/codecs/sparse_indices.h"
#include "compression/cuda/device_selection.h"
#include "compression/cuda/device_work.h"

namespace banyan {

// SmallestIndexForm() of the indices; any form after an error in `work`.
SparseIndexForm SmallestIndexFormOnDevice(const DeviceIndices& indices, DeviceWork& work);

// Writes form.size_bytes bytes from the byte `at` of `words` on, which are zeros there and up to the next whole word.
// REQUIRES: the form is the smallest.
void WriteIndicesOnDevice(const DeviceIndices& indices, const SparseIndexForm& form, int64_t at, uint32_t* words,
                          DeviceWork& work);

// The `count` indices at `bytes`, as memory of `work`. REQUIRES: CheckSparseIndices() passed for as many.
const uint32_t* ReadIndicesOnDevice(const uint8_t* bytes, const SparseIndexForm& form, int64_t count, DeviceWork& work);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_INDICES_H_
