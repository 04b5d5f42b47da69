#include "compression/codecs/stratified_choice.h"

#include "compression/kernels/random_bits.h"
#include "core/check.h"
#include "core/random.h"

namespace banyan {
namespace {

struct Fill {
  BANYAN_KERNEL_BODY static void Run(Strata strata, uint32_t* indices, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) indices[i] = strata.Choice(i);
  }
};

}  // namespace

Strata StrataOf(int64_t range, int64_t count, uint64_t seed) {
  BANYAN_CHECK(1 <= count && count <= range && range <= INT32_MAX);
  Random random(seed);
  const uint32_t turn = static_cast<uint32_t>(random.Below(range));
  return {.range = static_cast<uint32_t>(range),
          .length = static_cast<uint32_t>(range / count),
          .longer = static_cast<uint32_t>(range % count),
          .turn = turn,
          .key = KeyOfBlock(random.Next(), 0)};
}

void ChooseStratified(int64_t range, uint64_t seed, absl::Span<uint32_t> indices, KernelPath path) {
  const int64_t count = indices.size();
  RunKernel<Fill>(path, StrataOf(range, count, seed), indices.data(), static_cast<uint32_t>(count));
}

}  // namespace banyan
