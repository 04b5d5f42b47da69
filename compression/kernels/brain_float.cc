#include "compression/kernels/brain_float.h"

#include <bit>
#include <cstddef>

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers are written as the machine has them");

typedef uint16_t UnalignedWord __attribute__((aligned(1), may_alias));

struct Encoder {
  BANYAN_KERNEL_BODY static void Run(const float* __restrict values, UnalignedWord* __restrict words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(values[i]);
      const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
      const uint32_t quiet = (bits >> 16) | 0x40;
      words[i] = static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
    }
  }
};

BANYAN_KERNEL_BODY float FloatOf(uint16_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word) << 16); }

struct Decoder {
  BANYAN_KERNEL_BODY static void Run(const UnalignedWord* __restrict words, float* __restrict values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = FloatOf(words[i]);
  }
};

struct Adding {
  BANYAN_KERNEL_BODY static void Run(const UnalignedWord* __restrict words, float* __restrict sums, size_t count) {
    for (size_t i = 0; i < count; ++i) sums[i] += FloatOf(words[i]);
  }
};

}  // namespace

void FloatsToBrainFloats(absl::Span<const float> values, uint8_t* bytes, KernelPath path) {
  RunKernel<Encoder>(path, values.data(), reinterpret_cast<UnalignedWord*>(bytes), values.size());
}

void BrainFloatsToFloats(const uint8_t* bytes, absl::Span<float> values, KernelPath path) {
  RunKernel<Decoder>(path, reinterpret_cast<const UnalignedWord*>(bytes), values.data(), values.size());
}

void AddBrainFloatsInto(absl::Span<float> sums, const uint8_t* bytes, KernelPath path) {
  RunKernel<Adding>(path, reinterpret_cast<const UnalignedWord*>(bytes), sums.data(), sums.size());
}

}  // namespace banyan
