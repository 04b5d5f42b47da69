// Kernels of the frames of onebit_rht_codec.cc. Rows lie one after the other in memory of RhtLayout::row_elements
// floats. So an element and its place in its row's memory have the same number. device.h tells what a kernel is.
// Values; whoever runs one keeps the memory that it points to.
#ifndef BANYAN_COMPRESSION_CUDA_RHT_KERNELS_H_
#define BANYAN_COMPRESSION_CUDA_RHT_KERNELS_H_

#include <cstdint>

#include "compression/cuda/device_math.h"
#include "compression/cuda/sign_kernels.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/random_bits.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {

struct RhtRow {
  int64_t index = 0;
  int64_t first = 0;
  int64_t size = 0;
};

BANYAN_KERNEL_BODY RhtRow RhtRowAfter(const RhtRow& row, int64_t elements) {
  const int64_t first = row.first + row.size;
  return {.index = row.index + 1, .first = first, .size = NextRhtRowSize(elements - first)};
}

// The row of the element `at` of the rows of `elements`.
BANYAN_KERNEL_BODY RhtRow RhtRowAt(int64_t elements, int64_t at) {
  const int64_t long_rows = elements / kLongestRhtRow;
  const int64_t index = at / kLongestRhtRow < long_rows ? at / kLongestRhtRow : long_rows;
  const int64_t first = index * kLongestRhtRow;
  RhtRow row{.index = index, .first = first, .size = NextRhtRowSize(elements - first)};
  while (at >= row.first + row.size) row = RhtRowAfter(row, elements);
  return row;
}

// The row of that index.
BANYAN_KERNEL_BODY RhtRow RhtRowOf(int64_t elements, int64_t index) {
  const int64_t long_rows = elements / kLongestRhtRow;
  RhtRow row = RhtRowAt(elements, (index < long_rows ? index : long_rows) * kLongestRhtRow);
  while (row.index < index) row = RhtRowAfter(row, elements);
  return row;
}

// The random sign, where a float has it, of the element `at` (hadamard.h).
BANYAN_KERNEL_BODY uint32_t RhtFlip(uint64_t seed, const RhtRow& row, int64_t at) {
  const uint32_t i = static_cast<uint32_t>(at - row.first);
  const RandomKey key = KeyOfBlock(seed, static_cast<uint64_t>(row.index));
  return RandomWord(key, i / 512 * 16 + i % 16) >> (i / 16 % 32) << 31;
}

BANYAN_KERNEL_BODY void Butterfly(float& a, float& b) {
  const float difference = a - b;
  a = a + b;
  b = difference;
}

// rows = H D values, or H signs, as far as strides below kTile go. Each tile has a piece of a long row or several short
// rows, whose sizes divide their places. Blocks: one for each tile.
struct TransformTilesKernel {
  static constexpr int64_t kTile = 4096;
  static constexpr int kStrides = 12;  // log2(kTile)
  static constexpr int kThreads = 256;
  static constexpr int kSteps = kStrides + 2;
  struct Shared {
    float row[kTile];
  };

  int64_t elements = 0;
  int64_t row_elements = 0;
  uint64_t seed = 0;
  const float* values = nullptr;  // one of these two
  const uint8_t* signs = nullptr;
  float* rows = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kTile;
    if (step > 0 && step <= kStrides) return Stride(first, int64_t{1} << (step - 1), thread, shared);
    for (int64_t i = thread; i < kTile && first + i < row_elements; i += kThreads) {
      if (step == 0) {
        shared.row[i] = ValueAt(first + i);
      } else {
        rows[first + i] = shared.row[i];
      }
    }
  }

  BANYAN_KERNEL_BODY float ValueAt(int64_t at) const {
    constexpr uint32_t kOne = 0x3f800000;
    if (signs != nullptr) return FloatOfBits(kOne ^ SignAt(signs, row_elements, at));
    const float value = at < elements ? values[at] : 0;
    return FloatOfBits(BitsOf(value) ^ RhtFlip(seed, RhtRowAt(elements, at), at));
  }

  BANYAN_KERNEL_BODY void Stride(int64_t first, int64_t stride, int thread, Shared& shared) const {
    for (int64_t pair = thread; pair < kTile / 2; pair += kThreads) {
      const int64_t i = 2 * pair - pair % stride;
      if (first + i >= row_elements || stride >= RhtRowAt(elements, first + i).size) continue;
      Butterfly(shared.row[i], shared.row[i + stride]);
    }
  }
};

// The strides from kTile on, of the rows that are longer than a tile; these are the first ones. Blocks: kTile /
// kThreads for each of them.
struct TransformAcrossKernel {
  static constexpr int64_t kTile = TransformTilesKernel::kTile;
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  static constexpr int kMostTiles = static_cast<int>(kLongestRhtRow / kTile);
  struct Shared {};

  int64_t elements = 0;
  float* rows = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t unit = block * kThreads + thread;
    const RhtRow row = RhtRowOf(elements, unit / kTile);
    float* const from = rows + row.first + unit % kTile;
    const int tiles = static_cast<int>(row.size / kTile);
    float v[kMostTiles] = {};
    for (int j = 0; j < kMostTiles; ++j) v[j] = j < tiles ? from[j * kTile] : 0;
    for (int stride = 1; stride < kMostTiles; stride *= 2) {
      for (int j = 0; j < kMostTiles; ++j) {
        if ((j & stride) == 0 && stride < tiles) Butterfly(v[j], v[j + stride]);
      }
    }
    for (int j = 0; j < kMostTiles; ++j) {
      if (j < tiles) from[j * kTile] = v[j];
    }
  }
};

// The scale of each row, its sums in the order of vector_math.h: the first sixteen threads have the lanes of the
// squares of the values, the others those of the magnitudes of the transformed row. Blocks: one for each row.
struct ScaleRowsKernel {
  static constexpr int kThreads = 2 * kLaneCount;
  static constexpr int kSteps = 2;
  struct Shared {
    double squares[kLaneCount];
    double magnitudes[kLaneCount];
  };

  const float* values = nullptr;
  int64_t elements = 0;
  const float* rows = nullptr;
  uint8_t* scales = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const RhtRow row = RhtRowOf(elements, block);
    if (step == 0) {
      const int lane = thread % kLaneCount;
      if (thread < kLaneCount) {
        shared.squares[lane] = SumOfSquares(row, lane);
      } else {
        shared.magnitudes[lane] = SumOfMagnitudes(row, lane);
      }
    } else if (thread == 0) {
      const float scale = RhtScale(TotalOfLanes(shared.squares), TotalOfLanes(shared.magnitudes));
      StoreNumber(BitsOf(scale), scales + row.index * static_cast<int64_t>(sizeof(scale)));
    }
  }

  BANYAN_KERNEL_BODY double SumOfSquares(const RhtRow& row, int lane) const {
    const int64_t end = row.first + row.size < elements ? row.first + row.size : elements;
    double sum = 0;
    for (int64_t i = row.first + lane; i < end; i += kLaneCount) {
      const double exact = static_cast<double>(values[i]);
      sum += exact * exact;
    }
    return sum;
  }

  BANYAN_KERNEL_BODY double SumOfMagnitudes(const RhtRow& row, int lane) const {
    double sum = 0;
    for (int64_t i = row.first + lane; i < row.first + row.size; i += kLaneCount) sum += MagnitudeInDouble(rows[i]);
    return sum;
  }
};

// The signs of transformed rows, zeros where the scale is not a number. Blocks: one for each kThreads of Units().
struct PackRowsKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const float* rows = nullptr;
  int64_t elements = 0;
  int64_t row_elements = 0;
  const uint8_t* scales = nullptr;
  uint8_t* signs = nullptr;

  // A word of each lane of each whole group, then the bytes of the last row where that is shorter than a group.
  BANYAN_KERNEL_BODY int64_t Words() const { return row_elements / kSignGroup * kLaneCount; }
  BANYAN_KERNEL_BODY int64_t Units() const { return Words() + SignBytes(row_elements % kSignGroup); }

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t unit = block * kThreads + thread;
    if (unit >= Units()) return;
    if (unit < Words()) {
      const int64_t first = unit / kLaneCount * kSignGroup;
      const uint32_t word = PackLaneOfGroup(rows + first, static_cast<int>(unit % kLaneCount));
      StoreNumber(HasSigns(first) ? word : 0u, signs + unit * 4);
    } else {
      const int64_t first = row_elements / kSignGroup * kSignGroup + (unit - Words()) * 8;
      const uint8_t byte = PackTailByte(rows + first, row_elements - first);
      signs[first / 8] = HasSigns(first) ? byte : uint8_t{0};
    }
  }

  BANYAN_KERNEL_BODY bool HasSigns(int64_t at) const {
    return !IsNotANumber(FloatOfBits(LoadNumber<uint32_t>(scales + RhtRowAt(elements, at).index * 4)));
  }
};

// out[i] = scale D row, or is added to. Blocks: one for each kThreads elements.
struct FlipRowsKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const float* rows = nullptr;
  int64_t elements = 0;
  uint64_t seed = 0;
  const uint8_t* scales = nullptr;
  bool add = false;
  float* out = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t i = block * kThreads + thread;
    if (i >= elements) return;
    const RhtRow row = RhtRowAt(elements, i);
    const float scale = FloatOfBits(LoadNumber<uint32_t>(scales + row.index * 4));
    const float value = FloatOfBits(BitsOf(ScaleAsHost(rows[i], scale)) ^ RhtFlip(seed, row, i));
    out[i] = add ? AddAsHost(out[i], value) : value;
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_RHT_KERNELS_H_
