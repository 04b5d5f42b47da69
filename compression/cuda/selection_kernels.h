// Kernels that find the k-th largest magnitude (magnitudes.h) digit by digit, and list what reaches it in rising order.
// device.h tells what a kernel is. Values; whoever runs one keeps the memory that it points to.
#ifndef BANYAN_COMPRESSION_CUDA_SELECTION_KERNELS_H_
#define BANYAN_COMPRESSION_CUDA_SELECTION_KERNELS_H_

#include <cstdint>

#include "compression/cuda/block_scan.h"
#include "compression/cuda/device_math.h"
#include "compression/kernels/kernel_body.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

BANYAN_KERNEL_BODY uint32_t MagnitudeBitsOf(float value) { return BitsOf(value) & ~kSignBit; }

// samples[i] = the value at the i-th choice of the strata. Blocks: one for each kThreads of `count`.
struct SampleKernel {
  static constexpr int kThreads = 256;
  static constexpr int kSteps = 1;
  struct Shared {};

  const float* values = nullptr;
  Strata strata = {};
  int64_t count = 0;
  float* samples = nullptr;

  BANYAN_KERNEL_BODY void Step(int, int64_t block, int thread, Shared&) const {
    const int64_t i = block * kThreads + thread;
    if (i < count) samples[i] = values[strata.Choice(static_cast<uint32_t>(i))];
  }
};

// The knowledge so far of a magnitude that `rank` values reach: its first digits, and the rank among the values that
// have these digits too.
struct RankedMagnitude {
  uint32_t digits = 0;
  uint32_t rank = 0;
};

inline constexpr int kDigits = 256;  // of most digits; the last one may have fewer bits

// Counts the values that have the known digits by their next digit, the `bits` bits from `shift` on. `counts` has
// kDigits zeros before. Blocks: one for each kTile values.
struct CountDigitsKernel {
  static constexpr int kThreads = 256;
  static constexpr int64_t kTile = 16 * kThreads;
  static constexpr int kSteps = 3;
  struct Shared {
    uint32_t counts[kDigits];
  };

  const float* values = nullptr;
  int64_t elements = 0;
  const RankedMagnitude* found = nullptr;
  int shift = 0;
  int bits = 8;
  uint32_t* counts = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    if (step == 0) {
      shared.counts[thread] = 0;
    } else if (step == 1) {
      const int64_t end = (block + 1) * kTile < elements ? (block + 1) * kTile : elements;
      for (int64_t i = block * kTile + thread; i < end; i += kThreads) Count(MagnitudeBitsOf(values[i]), shared);
    } else if (shared.counts[thread] != 0) {
      AtomicAdd(counts + thread, shared.counts[thread]);
    }
  }

  BANYAN_KERNEL_BODY void Count(uint32_t magnitude, Shared& shared) const {
    const uint32_t known = found->digits >> shift >> bits;
    if (magnitude >> shift >> bits != known) return;
    AtomicAdd(shared.counts + ((magnitude >> shift) & ((1u << bits) - 1)), 1);
  }
};

// Adds the next digit, from these counts. One block.
struct ChooseDigitKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  static_assert(kThreads == kDigits);
  struct Shared {
    BlockScan reach;  // how many have a digit or a higher one, the highest first
    uint32_t rank;
  };

  const uint32_t* counts = nullptr;
  int shift = 0;
  RankedMagnitude* found = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t, int thread, Shared& shared) const {
    const uint32_t digit = static_cast<uint32_t>(kDigits - 1 - thread);
    if (step == 0) {
      shared.reach.Start(thread, counts[digit]);
      if (thread == 0) shared.rank = found->rank;
    } else if (step <= kScanSteps) {
      shared.reach.Step(step - 1, thread);
    } else if (shared.reach.Before(thread) < shared.rank && shared.rank <= shared.reach.Upto(thread)) {
      found->digits |= digit << shift;
      found->rank = shared.rank - shared.reach.Before(thread);
    }
  }
};

// The rule that says which elements are kept: those above a magnitude, and of those equal to it the first `equal_ones`.
struct KeepRule {
  uint32_t above = 0;
  uint32_t equal_ones = 0;

  // Returns how many values are kept when `above_count` are above the magnitude and `equal_count` equal it.
  BANYAN_KERNEL_BODY uint32_t Kept(uint32_t above_count, uint32_t equal_count) const {
    return above_count + (equal_count < equal_ones ? equal_count : equal_ones);
  }
};

// The elements that a block and a thread of the next two kernels have.
inline constexpr int64_t kKeepRun = 8;
inline constexpr int64_t kKeepTile = kKeepRun * kScanThreads;

// Counts the values of each tile that are above the rule's magnitude, and those that equal it. Blocks: one for each
// tile of kKeepTile.
struct CountKeptKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = 3;
  struct Shared {
    uint32_t above;
    uint32_t equal;
  };

  const float* values = nullptr;
  int64_t elements = 0;
  KeepRule rule = {};
  uint32_t* above = nullptr;
  uint32_t* equal = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    if (step == 0 && thread == 0) {
      shared.above = 0;
      shared.equal = 0;
    } else if (step == 1) {
      Count(block, thread, shared);
    } else if (step == 2 && thread == 0) {
      above[block] = shared.above;
      equal[block] = shared.equal;
    }
  }

  BANYAN_KERNEL_BODY void Count(int64_t block, int thread, Shared& shared) const {
    uint32_t own_above = 0;
    uint32_t own_equal = 0;
    for (int64_t j = 0; j < kKeepRun; ++j) {
      const int64_t i = block * kKeepTile + j * kThreads + thread;
      const uint32_t magnitude = i < elements ? MagnitudeBitsOf(values[i]) : 0;
      own_above += magnitude > rule.above;
      own_equal += i < elements && magnitude == rule.above;
    }
    AtomicAdd(&shared.above, own_above);
    AtomicAdd(&shared.equal, own_equal);
  }
};

// Writes the indices of the values that are kept; `above` and `equal` are the sums of the tiles before each tile.
// Blocks: as above.
struct ListKeptKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  static constexpr int kEqualShift = 16;  // both counts of a tile in one number
  static_assert(kKeepTile < 1 << kEqualShift);
  struct Shared {
    BlockScan counts;
  };

  const float* values = nullptr;
  int64_t elements = 0;
  KeepRule rule = {};
  const uint32_t* above = nullptr;
  const uint32_t* equal = nullptr;
  uint32_t* indices = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    const int64_t first = block * kKeepTile + thread * kKeepRun;
    const int64_t end = first + kKeepRun < elements ? first + kKeepRun : elements;
    if (step == 0) {
      uint32_t counts = 0;
      for (int64_t i = first; i < end; ++i) {
        const uint32_t magnitude = MagnitudeBitsOf(values[i]);
        counts += (magnitude > rule.above) + (uint32_t{magnitude == rule.above} << kEqualShift);
      }
      shared.counts.Start(thread, counts);
    } else if (step <= kScanSteps) {
      shared.counts.Step(step - 1, thread);
    } else {
      const uint32_t before = shared.counts.Before(thread);
      List(first, end, above[block] + (before & ((1u << kEqualShift) - 1)), equal[block] + (before >> kEqualShift));
    }
  }

  BANYAN_KERNEL_BODY void List(int64_t first, int64_t end, uint32_t above_before, uint32_t equal_before) const {
    for (int64_t i = first; i < end; ++i) {
      const uint32_t magnitude = MagnitudeBitsOf(values[i]);
      const bool is_equal = magnitude == rule.above;
      if (magnitude > rule.above || (is_equal && equal_before < rule.equal_ones)) {
        indices[rule.Kept(above_before, equal_before)] = static_cast<uint32_t>(i);
      }
      above_before += magnitude > rule.above;
      equal_before += is_equal;
    }
  }
};

// Turns numbers into the sums of those before each, and writes the sum of all where `totals` is not null; modulo 2^32.
// Block b has the `count` numbers from numbers[b * count] on, and totals[b].
struct SumBeforeKernel {
  static constexpr int kThreads = kScanThreads;
  static constexpr int kSteps = kScanSteps + 2;
  struct Shared {
    BlockScan sums;
  };

  uint32_t* numbers = nullptr;
  int64_t count = 0;
  uint32_t* totals = nullptr;

  BANYAN_KERNEL_BODY void Step(int step, int64_t block, int thread, Shared& shared) const {
    uint32_t* const own = numbers + block * count;
    const int64_t run = (count + kThreads - 1) / kThreads;
    const int64_t first = thread * run < count ? thread * run : count;
    const int64_t end = first + run < count ? first + run : count;
    if (step == 0) {
      uint32_t sum = 0;
      for (int64_t i = first; i < end; ++i) sum += own[i];
      shared.sums.Start(thread, sum);
    } else if (step <= kScanSteps) {
      shared.sums.Step(step - 1, thread);
    } else {
      WriteSums(own, first, end, shared.sums.Before(thread));
      if (thread == 0 && totals != nullptr) totals[block] = shared.sums.Total();
    }
  }

  BANYAN_KERNEL_BODY static void WriteSums(uint32_t* own, int64_t first, int64_t end, uint32_t before) {
    for (int64_t i = first; i < end; ++i) {
      const uint32_t number = own[i];
      own[i] = before;
      before += number;
    }
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_SELECTION_KERNELS_H_
