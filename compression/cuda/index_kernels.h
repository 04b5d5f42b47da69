// Kernels that write and read the indices of sparse_indices.h. device.h tells what a kernel is. Values; whoever runs
// one keeps the memory that it points to.
#ifndef BANYAN_COMPRESSION_CUDA_INDEX_KERNELS_H_
#define BANYAN_COMPRESSION_CUDA_INDEX_KERNELS_H_

#include <cstdint>

#include "compression/cuda/block_scan.h"
#include "compression/cuda/device_math.h"
#include "compression/kernels/kernel_body.h"

namespace banyan {

// Indices that a block and a thread have.
inline constexpr int64_t kIndexRun = 4;
inline constexpr int64_t kIndexTile = kIndexRun * kScanThreads;

BANYAN_KERNEL_BODY uint32_t GapBefore(const uint32_t* indices, int64_t i) {
  return i == 0 ? indices[0] : indices[i] - indices[i - 1] - 1;
}

// The sums that a search for the smallest form asks for: zeros[b] += gap >> b over all gaps, for b from 0 to 30, and
// the last index.
struct GapSums {
  static constexpr int kLast = 31;
  uint64_t zeros[32];  // zeros[kLast] is the last index
};

// `sums` are zeros before. Blocks: one for each kIndexTile indices.
struct SumGapsKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = 2;
  static constexpr int kParts = kThreads / 32;  // threads that share the gaps of a tile for the same low bits
  struct Shared {
    uint32_t gaps[kIndexTile];
  };

  const uint32_t* indices = nullptr;
  int64_t count = 0;
  GapSums* sums = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kIndexTile;
    const int64_t tile = count - first < kIndexTile ? count - first : kIndexTile;
    if (step == 0) {
      for (int64_t i = thread; i < tile; i += kThreads) shared.gaps[i] = GapBefore(indices, first + i);
      return;
    }
    const int low_bits = thread % 32;
    if (low_bits == GapSums::kLast) {
      if (thread == GapSums::kLast && first + tile == count) sums->zeros[GapSums::kLast] = indices[count - 1];
      return;
    }
    uint64_t zeros = 0;
    for (int64_t i = thread / 32; i < tile; i += kParts) zeros += shared.gaps[i] >> low_bits;
    AtomicAdd(sums->zeros + low_bits, zeros);
  }
};

// The zeros in the unary part of each tile of indices. Blocks: one for each kIndexTile indices.
struct CountZerosKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = 3;
  struct Shared {
    uint32_t zeros;
  };

  const uint32_t* indices = nullptr;
  int64_t count = 0;
  int low_bits = 0;
  uint32_t* zeros = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    if (step == 0 && thread == 0) shared.zeros = 0;
    if (step == 2 && thread == 0) zeros[block] = shared.zeros;
    if (step != 1) return;
    uint32_t own = 0;
    for (int64_t j = 0; j < kIndexRun; ++j) {
      const int64_t i = block * kIndexTile + j * kThreads + thread;
      if (i < count) own += GapBefore(indices, i) >> low_bits;
    }
    AtomicAdd(&shared.zeros, own);
  }
};

// Writes both parts into words that are zeros before. The low bits go from bit `low_at` of them on, the unary part from
// bit `unary_at` on. `zeros` are the sums of the tiles before each tile. Blocks: as above.
struct WriteIndicesKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  struct Shared {
    BlockScan zeros;
  };

  const uint32_t* indices = nullptr;
  int64_t count = 0;
  int low_bits = 0;
  const uint32_t* zeros = nullptr;
  uint32_t* words = nullptr;
  int64_t low_at = 0;
  int64_t unary_at = 0;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kIndexTile + thread * kIndexRun;
    const int64_t end = first + kIndexRun < count ? first + kIndexRun : count;
    if (step == 0) {
      uint32_t own = 0;
      for (int64_t i = first; i < end; ++i) own += GapBefore(indices, i) >> low_bits;
      shared.zeros.Start(thread, own);
    } else if (step <= kScanSteps) {
      shared.zeros.Step(step - 1, thread);
    } else {
      Write(first, end, zeros[block] + shared.zeros.Before(thread));
    }
  }

  BANYAN_KERNEL_BODY void Write(int64_t first, int64_t end, uint32_t zeros_before) const {
    for (int64_t i = first; i < end; ++i) {
      const uint32_t gap = GapBefore(indices, i);
      zeros_before += gap >> low_bits;
      Or(low_at + i * low_bits, gap & ((1u << low_bits) - 1));
      Or(unary_at + zeros_before + i, 1);
    }
  }

  // Bits of one number may lie in two words.
  BANYAN_KERNEL_BODY void Or(int64_t bit, uint32_t number) const {
    const uint64_t shifted = uint64_t{number} << (bit % 32);
    const uint32_t lower = static_cast<uint32_t>(shifted);
    const uint32_t upper = static_cast<uint32_t>(shifted >> 32);
    if (lower != 0) AtomicOr(words + bit / 32, lower);
    if (upper != 0) AtomicOr(words + bit / 32 + 1, upper);
  }
};

// Bytes of the unary part that a block and a thread have.
inline constexpr int64_t kUnaryRun = 4;
inline constexpr int64_t kUnaryTile = kUnaryRun * kScanThreads;

// Finds the ones of a unary part and writes the high part of each index without its ones: indices[i] = the zeros before
// the i-th one, times 2^low_bits. First with `indices` null, which counts the ones of each tile; then with the sums of
// the tiles before each tile. Blocks: one for each kUnaryTile bytes.
struct ReadUnaryKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  struct Shared {
    BlockScan ones;
  };

  const uint8_t* bytes = nullptr;
  int64_t size_bytes = 0;
  int low_bits = 0;
  uint32_t* ones = nullptr;
  uint32_t* indices = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kUnaryTile + thread * kUnaryRun;
    if (step == 0) {
      shared.ones.Start(thread, static_cast<uint32_t>(CountOnes(WordAt(first))));
    } else if (step <= kScanSteps) {
      shared.ones.Step(step - 1, thread);
    } else if (indices != nullptr) {
      Read(first, ones[block] + shared.ones.Before(thread));
    } else if (thread == 0) {
      ones[block] = shared.ones.Total();
    }
  }

  // Zeros behind the end.
  BANYAN_KERNEL_BODY uint32_t WordAt(int64_t first) const {
    uint32_t word = 0;
    for (int64_t i = 0; i < kUnaryRun && first + i < size_bytes; ++i) word |= uint32_t{bytes[first + i]} << (8 * i);
    return word;
  }

  BANYAN_KERNEL_BODY void Read(int64_t first, uint32_t ones_before) const {
    for (uint32_t word = WordAt(first); word != 0; word &= word - 1, ++ones_before) {
      const uint32_t zeros = static_cast<uint32_t>(8 * first + LowestOne(word)) - ones_before;
      indices[ones_before] = zeros << low_bits;
    }
  }
};

// Adds the low bits of all indices up to each, and its number, to what ReadUnaryKernel wrote. First with `indices`
// null, which sums the low bits of each tile; then with the sums of the tiles before each tile. Blocks: one for each
// kIndexTile indices.
struct AddLowBitsKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  struct Shared {
    BlockScan lows;
  };

  const uint8_t* bytes = nullptr;
  int64_t size_bytes = 0;
  int low_bits = 0;
  int64_t count = 0;
  uint32_t* lows = nullptr;
  uint32_t* indices = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kIndexTile + thread * kIndexRun;
    const int64_t end = first + kIndexRun < count ? first + kIndexRun : count;
    if (step == 0) {
      uint32_t sum = 0;
      for (int64_t i = first; i < end; ++i) sum += LowBitsAt(i);
      shared.lows.Start(thread, sum);
    } else if (step <= kScanSteps) {
      shared.lows.Step(step - 1, thread);
    } else if (indices != nullptr) {
      Add(first, end, lows[block] + shared.lows.Before(thread));
    } else if (thread == 0) {
      lows[block] = shared.lows.Total();
    }
  }

  BANYAN_KERNEL_BODY uint32_t LowBitsAt(int64_t i) const {
    const int64_t bit = i * low_bits;
    uint64_t word = 0;
    for (int64_t byte = 0; 8 * byte < bit % 8 + low_bits && bit / 8 + byte < size_bytes; ++byte) {
      word |= uint64_t{bytes[bit / 8 + byte]} << (8 * byte);
    }
    return static_cast<uint32_t>(word >> (bit % 8)) & ((1u << low_bits) - 1);
  }

  BANYAN_KERNEL_BODY void Add(int64_t first, int64_t end, uint32_t lows_before) const {
    for (int64_t i = first; i < end; ++i) {
      lows_before += LowBitsAt(i);
      indices[i] += lows_before + static_cast<uint32_t>(i);
    }
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_INDEX_KERNELS_H_
