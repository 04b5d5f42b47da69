#include "compression/stratified_choice.h"

#include <algorithm>

#include "core/check.h"
#include "core/random.h"

namespace banyan {
namespace {

// Where the strata lie: the first `longer` of them have one element more than `length`.
struct Strata {
  uint32_t range;
  uint32_t length;
  uint32_t longer;
  uint32_t turn;
};

// A counter through a mixing function (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014)
// gives the draw of any stratum by itself, which lets the compiler compute many at once.
inline uint32_t Draw(uint64_t key, uint64_t stratum) {
  uint64_t mixed = key + (stratum + 1) * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<uint32_t>(mixed >> 32);
}

struct Fill {
  BANYAN_KERNEL_BODY static void Run(Strata strata, uint64_t key, uint32_t* indices, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t length = strata.length + (i < strata.longer);
      const uint32_t first = i * strata.length + std::min(i, strata.longer);
      const uint32_t offset = static_cast<uint32_t>((uint64_t{Draw(key, i)} * length) >> 32);
      const uint32_t index = strata.turn + first + offset;  // below twice the range
      indices[i] = index >= strata.range ? index - strata.range : index;
    }
  }
};

}  // namespace

void ChooseStratified(int64_t range, uint64_t seed, absl::Span<uint32_t> indices, KernelPath path) {
  const int64_t count = indices.size();
  BANYAN_CHECK(1 <= count && count <= range && range <= INT32_MAX);
  Random random(seed);
  const Strata strata = {.range = static_cast<uint32_t>(range),
                         .length = static_cast<uint32_t>(range / count),
                         .longer = static_cast<uint32_t>(range % count),
                         .turn = static_cast<uint32_t>(random.Below(range))};
  RunKernel<Fill>(path, strata, random.Next(), indices.data(), static_cast<uint32_t>(count));
}

}  // namespace banyan
