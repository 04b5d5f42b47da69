#include "compression/stratified_choice.h"

#include <algorithm>

#include "compression/random_bits.h"
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

struct Fill {
  BANYAN_KERNEL_BODY static void Run(Strata strata, RandomKey key, uint32_t* indices, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t length = strata.length + (i < strata.longer);
      const uint32_t first = i * strata.length + std::min(i, strata.longer);
      const uint32_t offset = static_cast<uint32_t>((uint64_t{RandomWord(key, i)} * length) >> 32);
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
  RunKernel<Fill>(path, strata, KeyOfBlock(random.Next(), 0), indices.data(), static_cast<uint32_t>(count));
}

}  // namespace banyan
