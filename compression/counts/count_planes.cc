#include "compression/counts/count_planes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/check.h"

namespace banyan {
namespace {

// Words of a plane that are added at a time: what a sum works on stays in the innermost cache.
constexpr int64_t kBlockWords = 256;

struct FullAdder {
  BANYAN_KERNEL_BODY static void Run(const uint64_t* __restrict a, const uint64_t* __restrict b,
                                     const uint64_t* __restrict c, int64_t words, uint64_t* __restrict sum,
                                     uint64_t* __restrict carry) {
    for (int64_t i = 0; i < words; ++i) {
      const uint64_t either = a[i] ^ b[i];
      sum[i] = either ^ c[i];
      carry[i] = (a[i] & b[i]) | (either & c[i]);
    }
  }
};

struct HalfAdder {
  BANYAN_KERNEL_BODY static void Run(const uint64_t* __restrict a, const uint64_t* __restrict b, int64_t words,
                                     uint64_t* __restrict sum, uint64_t* __restrict carry) {
    for (int64_t i = 0; i < words; ++i) {
      sum[i] = a[i] ^ b[i];
      carry[i] = a[i] & b[i];
    }
  }
};

// One plane more of a comparison, from the highest down.
struct Comparing {
  BANYAN_KERNEL_BODY static void Run(const uint64_t* __restrict left, const uint64_t* __restrict right, int64_t words,
                                     uint64_t* __restrict greater, uint64_t* __restrict equal) {
    for (int64_t i = 0; i < words; ++i) {
      greater[i] |= equal[i] & left[i] & ~right[i];
      equal[i] &= ~(left[i] ^ right[i]);
    }
  }
};

// Adds one block. Planes of one weight wait in a queue; three become one and a carry for the next weight (Harley and
// Seal; "Faster Population Counts Using AVX2 Instructions", Mula, Kurz and Lemire, 2018, has the same for one word).
class BlockSum {
 public:
  explicit BlockSum(KernelPath path) : path_(path), arena_(kSlots * kBlockWords) {
    for (int slot = 0; slot < kSlots; ++slot) free_.push_back(arena_.data() + slot * kBlockWords);
  }

  void Run(absl::Span<const CountView> summands, int64_t words, int64_t first, int64_t count, int width,
           uint64_t* sum) {
    std::vector<const uint64_t*>* queue = &even_;
    std::vector<const uint64_t*>* carries = &odd_;
    queue->clear();
    for (int plane = 0; plane < width; ++plane) {
      for (const CountView& summand : summands) {
        if (plane < summand.width) queue->push_back(summand.planes + plane * words + first);
      }
      carries->clear();
      Reduce(*queue, *carries, count, sum + plane * words + first);
      std::swap(queue, carries);
    }
    for (const uint64_t* rest : *queue) Release(rest);
  }

 private:
  // What is alive at once: the carries of a weight, at most as many as summands, and the sums still to add.
  static constexpr int kSlots = 4 * kMostSummands;

  void Reduce(std::vector<const uint64_t*>& queue, std::vector<const uint64_t*>& carries, int64_t count,
              uint64_t* sum) {
    size_t next = 0;
    while (queue.size() - next > 1) {
      uint64_t* const partial = Take();
      uint64_t* const carry = Take();
      const size_t used = std::min<size_t>(queue.size() - next, 3);
      if (used == 3) {
        RunKernel<FullAdder>(path_, queue[next], queue[next + 1], queue[next + 2], count, partial, carry);
      } else {
        RunKernel<HalfAdder>(path_, queue[next], queue[next + 1], count, partial, carry);
      }
      for (size_t i = 0; i < used; ++i) Release(queue[next + i]);
      next += used;
      queue.push_back(partial);
      carries.push_back(carry);
    }
    if (queue.empty()) {
      std::fill_n(sum, count, uint64_t{0});
    } else {
      std::memcpy(sum, queue[next], count * sizeof(uint64_t));
      Release(queue[next]);
    }
  }

  uint64_t* Take() {
    BANYAN_CHECK(!free_.empty());
    uint64_t* const slot = free_.back();
    free_.pop_back();
    return slot;
  }

  // Takes a slot back; the planes of a summand are none.
  void Release(const uint64_t* plane) {
    if (plane < arena_.data() || plane >= arena_.data() + arena_.size()) return;
    free_.push_back(arena_.data() + (plane - arena_.data()));
  }

  KernelPath path_;
  std::vector<uint64_t> arena_;
  std::vector<uint64_t*> free_;
  std::vector<const uint64_t*> even_, odd_;
};

// The planes of a block, `stride` words apart.
struct Planes {
  const uint64_t* first = nullptr;
  int64_t stride = 0;
  int width = 0;

  const uint64_t* At(int plane, const uint64_t* zeros) const { return plane < width ? first + plane * stride : zeros; }
};

// Compares block by block; `left` and `right` give the planes from a word on.
template <typename Left, typename Right>
void Compare(int64_t words, uint64_t* greater, KernelPath path, Left left, Right right) {
  const std::vector<uint64_t> zeros(kBlockWords);
  std::vector<uint64_t> equal(kBlockWords);
  for (int64_t first = 0; first < words; first += kBlockWords) {
    const int64_t count = std::min(kBlockWords, words - first);
    std::fill_n(greater + first, count, uint64_t{0});
    std::fill_n(equal.data(), count, ~uint64_t{0});
    const Planes a = left(first);
    const Planes b = right(first);
    for (int plane = std::max(a.width, b.width) - 1; plane >= 0; --plane) {
      RunKernel<Comparing>(path, a.At(plane, zeros.data()), b.At(plane, zeros.data()), count, greater + first,
                           equal.data());
    }
  }
}

}  // namespace

int CountWidth(int64_t most) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(most))); }

void SumCounts(absl::Span<const CountView> summands, int64_t words, absl::Span<uint64_t> sum, KernelPath path) {
  BANYAN_CHECK(summands.size() <= kMostSummands);
  if (words == 0) return;
  const int width = static_cast<int>(static_cast<int64_t>(sum.size()) / words);
  BlockSum block(path);
  for (int64_t first = 0; first < words; first += kBlockWords) {
    block.Run(summands, words, first, std::min(kBlockWords, words - first), width, sum.data());
  }
}

void WhereGreater(CountView left, CountView right, int64_t words, uint64_t* greater, KernelPath path) {
  const auto planes_of = [words](const CountView& view, int64_t first) {
    return Planes{view.planes + first, words, view.width};
  };
  Compare(
      words, greater, path, [&](int64_t first) { return planes_of(left, first); },
      [&](int64_t first) { return planes_of(right, first); });
}

void WhereAbove(CountView numbers, int64_t bound, int64_t words, uint64_t* above, KernelPath path) {
  const int width = CountWidth(bound);
  std::vector<uint64_t> bounds(static_cast<size_t>(width * kBlockWords));
  FillCounts(bound, width, kBlockWords, bounds.data());
  Compare(
      words, above, path,
      [&](int64_t first) {
        return Planes{numbers.planes + first, words, numbers.width};
      },
      [&](int64_t) {
        return Planes{bounds.data(), kBlockWords, width};
      });
}

void FillCounts(int64_t value, int width, int64_t words, uint64_t* planes) {
  for (int plane = 0; plane < width; ++plane) {
    std::fill_n(planes + plane * words, words, (value >> plane & 1) != 0 ? ~uint64_t{0} : uint64_t{0});
  }
}

void ClearPlaneEnd(int64_t elements, uint64_t* plane) {
  if (elements % 64 != 0) plane[elements / 64] &= (uint64_t{1} << (elements % 64)) - 1;
}

bool IsPlaneEndClear(int64_t elements, const uint64_t* plane) {
  return elements % 64 == 0 || plane[elements / 64] >> (elements % 64) == 0;
}

}  // namespace banyan
