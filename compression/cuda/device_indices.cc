#include "compression/cuda/device_indices.h"

namespace banyan {
namespace {

int64_t LowBytes(int64_t count, int low_bits) { return (count * low_bits + 7) / 8; }

// Runs the kernel without indices, sums what it counted of each tile, and runs it again with them.
template <typename CountAndRead>
void RunTwice(CountAndRead kernel, int64_t tiles, uint32_t* counts, uint32_t* indices, DeviceWork& work) {
  work.RunBlocks(tiles, kernel);
  work.RunBlocks(1, SumBeforeKernel{.numbers = counts, .count = tiles});
  kernel.indices = indices;
  work.RunBlocks(tiles, kernel);
}

int64_t Tiles(int64_t elements, int64_t tile) { return (elements + tile - 1) / tile; }

}  // namespace

SparseIndexForm SmallestIndexFormOnDevice(const DeviceIndices& indices, DeviceWork& work) {
  if (indices.count == 0) return {};
  GapSums* const device_sums = work.NewZeros<GapSums>(1);
  work.RunOver(indices.count, kIndexTile,
               SumGapsKernel{.indices = indices.data(), .count = indices.count, .sums = device_sums});
  const GapSums sums = work.Read(device_sums);
  if (!work.ok()) return {};
  return SmallestIndexForm(indices.count, static_cast<uint32_t>(sums.zeros[GapSums::kLast]),
                           [&](int low_bits) { return indices.count + static_cast<int64_t>(sums.zeros[low_bits]); });
}

void WriteIndicesOnDevice(const DeviceIndices& indices, const SparseIndexForm& form, int64_t at, uint32_t* words,
                          DeviceWork& work) {
  const int64_t tiles = Tiles(indices.count, kIndexTile);
  uint32_t* const zeros = work.New<uint32_t>(tiles);
  work.RunBlocks(
      tiles,
      CountZerosKernel{.indices = indices.data(), .count = indices.count, .low_bits = form.low_bits, .zeros = zeros});
  work.RunBlocks(1, SumBeforeKernel{.numbers = zeros, .count = tiles});
  work.RunBlocks(tiles, WriteIndicesKernel{.indices = indices.data(),
                                           .count = indices.count,
                                           .low_bits = form.low_bits,
                                           .zeros = zeros,
                                           .words = words,
                                           .low_at = 8 * at,
                                           .unary_at = 8 * (at + LowBytes(indices.count, form.low_bits))});
}

const uint32_t* ReadIndicesOnDevice(const uint8_t* bytes, const SparseIndexForm& form, int64_t count,
                                    DeviceWork& work) {
  uint32_t* const indices = work.New<uint32_t>(count);
  const int64_t low_bytes = LowBytes(count, form.low_bits);
  const int64_t unary_tiles = Tiles(form.size_bytes - low_bytes, kUnaryTile);
  uint32_t* const ones = work.New<uint32_t>(unary_tiles);
  RunTwice(ReadUnaryKernel{.bytes = bytes + low_bytes,
                           .size_bytes = form.size_bytes - low_bytes,
                           .low_bits = form.low_bits,
                           .ones = ones},
           unary_tiles, ones, indices, work);
  const int64_t tiles = Tiles(count, kIndexTile);
  uint32_t* const lows = work.New<uint32_t>(tiles);
  RunTwice(
      AddLowBitsKernel{
          .bytes = bytes, .size_bytes = low_bytes, .low_bits = form.low_bits, .count = count, .lows = lows},
      tiles, lows, indices, work);
  return indices;
}

}  // namespace banyan
