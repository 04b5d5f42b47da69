#include "compression/kernels/ternary_kernels.h"

#include <algorithm>
#include <bit>

#include "compression/kernels/quantize_kernels.h"
#include "compression/kernels/random_bits.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "scales are written as the machine has them");

constexpr int64_t kBlockBytes = kTernaryBlock / kTritsPerByte;
constexpr int kProbabilityBits = 24;
constexpr uint8_t kLargestByte = 242;  // 3^5 - 1

// 0, 1 or 2 for -1, 0 or 1. Signs come from the bits, as compilers vectorise that everywhere.
BANYAN_KERNEL_BODY uint8_t TritOf(float value, float factor, RandomKey key, uint32_t index) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const int32_t probability = static_cast<int32_t>(std::bit_cast<float>(bits & 0x7fffffff) * factor);
  const int32_t random = static_cast<int32_t>(RandomWord(key, index) >> (32 - kProbabilityBits));
  const int32_t sign = 1 - static_cast<int32_t>(bits >> 31 << 1);
  // All ones, as a mask, where it is kept: the difference of two numbers below 2^25 has its sign.
  const int32_t kept = (random - probability) >> 31;
  return static_cast<uint8_t>(1 + (sign & kept));
}

// Where a block has no element, its trit is 1, which stands for 0.
BANYAN_KERNEL_BODY void Pack(const uint8_t* __restrict trits, int64_t bytes, uint8_t* __restrict out) {
  for (int64_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<uint8_t>(trits[i] + 3 * trits[i + bytes] + 9 * trits[i + 2 * bytes] +
                                  27 * trits[i + 3 * bytes] + 81 * trits[i + 4 * bytes]);
  }
}

BANYAN_KERNEL_BODY void EncodeBlock(const float* __restrict values, int64_t count, int64_t bytes, RandomKey key,
                                    UnalignedScale* scale, uint8_t* __restrict out) {
  const float largest = LargestMagnitude(values, count);
  *scale = largest;
  const float factor = largest > 0 ? static_cast<float>(1 << kProbabilityBits) / largest : 0.0f;
  alignas(64) uint8_t trits[kTernaryBlock];
  if (factor == 0 || count < kTernaryBlock) {
    for (uint8_t& trit : trits) trit = 1;
  }
  if (factor != 0) {
    for (int64_t i = 0; i < count; ++i) trits[i] = TritOf(values[i], factor, key, static_cast<uint32_t>(i));
  }
  Pack(trits, bytes, out);
}

struct Encoder {
  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, uint64_t seed, UnalignedScale* scales,
                                     uint8_t* out) {
    int64_t block = 0;
    for (; (block + 1) * kTernaryBlock <= count; ++block) {
      EncodeBlock(values + block * kTernaryBlock, kTernaryBlock, kBlockBytes, KeyOfBlock(seed, block), scales + block,
                  out + block * kBlockBytes);
    }
    const int64_t rest = count - block * kTernaryBlock;
    if (rest == 0) return;
    EncodeBlock(values + block * kTernaryBlock, rest, TritBytes(rest), KeyOfBlock(seed, block), scales + block,
                out + block * kBlockBytes);
  }
};

// A third, rounded down, of anything up to 255: 171/512 is a third and 1/1,536.
BANYAN_KERNEL_BODY uint16_t Third(uint16_t number) { return static_cast<uint16_t>(number * 171 >> 9); }

BANYAN_KERNEL_BODY void Unpack(const uint8_t* __restrict bytes, int64_t count, int8_t* __restrict trits) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t rest = bytes[i];
#pragma GCC unroll 5
    for (int64_t k = 0; k < kTritsPerByte; ++k) {
      const uint16_t third = Third(rest);
      trits[i + k * count] = static_cast<int8_t>(rest - 3 * third - 1);
      rest = third;
    }
  }
}

template <bool kAdd>
BANYAN_KERNEL_BODY void DecodeBlock(const uint8_t* bytes, int64_t byte_count, float scale, float* __restrict out,
                                    int64_t count) {
  alignas(64) int8_t trits[kTernaryBlock];
  Unpack(bytes, byte_count, trits);
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(trits[i]) * scale;
    out[i] = kAdd ? out[i] + value : value;
  }
}

template <bool kAdd>
struct Decoder {
  BANYAN_KERNEL_BODY static void Run(const UnalignedScale* scales, const uint8_t* bytes, float* out, int64_t count) {
    int64_t block = 0;
    for (; (block + 1) * kTernaryBlock <= count; ++block) {
      DecodeBlock<kAdd>(bytes + block * kBlockBytes, kBlockBytes, scales[block], out + block * kTernaryBlock,
                        kTernaryBlock);
    }
    const int64_t rest = count - block * kTernaryBlock;
    if (rest == 0) return;
    DecodeBlock<kAdd>(bytes + block * kBlockBytes, TritBytes(rest), scales[block], out + block * kTernaryBlock, rest);
  }
};

// The trit of element `i` of a block of that many bytes.
int TritAt(const uint8_t* bytes, int64_t count, int64_t i) {
  int byte = bytes[i % count];
  for (int64_t k = 0; k < i / count; ++k) byte /= 3;
  return byte % 3;
}

}  // namespace

void EncodeTernary(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* trits, KernelPath path) {
  RunKernel<Encoder>(path, values.data(), static_cast<int64_t>(values.size()), seed,
                     reinterpret_cast<UnalignedScale*>(scales), trits);
}

void DecodeTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> values, KernelPath path) {
  RunKernel<Decoder<false>>(path, reinterpret_cast<const UnalignedScale*>(scales), trits, values.data(),
                            static_cast<int64_t>(values.size()));
}

void AddTernary(const uint8_t* scales, const uint8_t* trits, absl::Span<float> sums, KernelPath path) {
  RunKernel<Decoder<true>>(path, reinterpret_cast<const UnalignedScale*>(scales), trits, sums.data(),
                           static_cast<int64_t>(sums.size()));
}

bool AreTrits(const uint8_t* trits, int64_t elements) {
  const int64_t bytes = TritBytes(elements);
  uint8_t largest = 0;
  for (int64_t i = 0; i < bytes; ++i) largest = std::max(largest, trits[i]);
  if (largest > kLargestByte) return false;
  const int64_t rest = elements % kTernaryBlock;
  const int64_t rest_bytes = TritBytes(rest);
  for (int64_t i = rest; i < kTritsPerByte * rest_bytes; ++i) {
    if (TritAt(trits + bytes - rest_bytes, rest_bytes, i) != 1) return false;
  }
  return true;
}

}  // namespace banyan
