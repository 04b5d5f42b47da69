#include "compression/kernels/quantize_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compression/kernels/random_bits.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "scales are written as the machine has them");

constexpr int kFractionBits = 23;
constexpr float kUnit = 1 << kFractionBits;

template <int kLevels>
BANYAN_KERNEL_BODY int32_t LevelOf(float value, float factor, RandomKey key, uint32_t index) {
  const int32_t fixed = static_cast<int32_t>(value * factor);
  const int32_t random = static_cast<int32_t>(RandomWord(key, index) >> (32 - kFractionBits));
  // The largest value itself may come out above its level by a rounding of `factor`.
  return std::clamp((fixed + random) >> kFractionBits, -kLevels, kLevels);
}

// Returns what values are multiplied by to have kFractionBits below their level; 0 when all levels are 0.
template <int kLevels>
BANYAN_KERNEL_BODY float WriteScale(const float* values, int64_t count, UnalignedScale* scale) {
  const float largest = LargestMagnitude(values, count);
  *scale = largest / kLevels;
  return largest > 0 ? kLevels * kUnit / largest : 0.0f;
}

struct Eight {
  BANYAN_KERNEL_BODY static int64_t Bytes(int64_t count) { return count; }

  BANYAN_KERNEL_BODY static void Encode(const float* __restrict values, int64_t count, RandomKey key,
                                        UnalignedScale* scale, uint8_t* __restrict levels) {
    const float factor = WriteScale<127>(values, count, scale);
    if (factor == 0) {
      for (int64_t i = 0; i < count; ++i) levels[i] = 0;
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      levels[i] = static_cast<uint8_t>(LevelOf<127>(values[i], factor, key, static_cast<uint32_t>(i)));
    }
  }

  template <bool kAdd>
  BANYAN_KERNEL_BODY static void Decode(const uint8_t* __restrict levels, int64_t count, float scale,
                                        float* __restrict out) {
    for (int64_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(static_cast<int8_t>(levels[i])) * scale;
      out[i] = kAdd ? out[i] + value : value;
    }
  }
};

struct Four {
  BANYAN_KERNEL_BODY static int64_t Bytes(int64_t count) { return (count + 1) / 2; }

  BANYAN_KERNEL_BODY static void Encode(const float* __restrict values, int64_t count, RandomKey key,
                                        UnalignedScale* scale, uint8_t* __restrict levels) {
    const float factor = WriteScale<7>(values, count, scale);
    const int64_t half = Bytes(count);
    if (factor == 0) {
      for (int64_t i = 0; i < half; ++i) levels[i] = 0;
      return;
    }
    const auto level = [&](int64_t i) __attribute__((always_inline)) {
      return LevelOf<7>(values[i], factor, key, static_cast<uint32_t>(i));
    };
    for (int64_t i = 0; i < count / 2; ++i) levels[i] = static_cast<uint8_t>((level(i) & 15) | level(i + half) << 4);
    if (count % 2 != 0) levels[half - 1] = static_cast<uint8_t>(level(half - 1) & 15);
  }

  template <bool kAdd>
  BANYAN_KERNEL_BODY static void Decode(const uint8_t* __restrict levels, int64_t count, float scale,
                                        float* __restrict out) {
    const int64_t half = Bytes(count);
    for (int64_t i = 0; i < half; ++i) {
      const float value = static_cast<float>(static_cast<int8_t>(levels[i] << 4) >> 4) * scale;
      out[i] = kAdd ? out[i] + value : value;
    }
    for (int64_t i = half; i < count; ++i) {
      const float value = static_cast<float>(static_cast<int8_t>(levels[i - half]) >> 4) * scale;
      out[i] = kAdd ? out[i] + value : value;
    }
  }
};

// Full blocks apart, so that the compiler knows how long they are.
template <typename Bits>
struct Encoder {
  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, uint64_t seed, UnalignedScale* scales,
                                     uint8_t* levels) {
    int64_t block = 0;
    for (; (block + 1) * kQuantizeBlock <= count; ++block) {
      Bits::Encode(values + block * kQuantizeBlock, kQuantizeBlock, KeyOfBlock(seed, block), scales + block, levels);
      levels += Bits::Bytes(kQuantizeBlock);
    }
    const int64_t rest = count - block * kQuantizeBlock;
    if (rest > 0) {
      Bits::Encode(values + block * kQuantizeBlock, rest, KeyOfBlock(seed, block), scales + block, levels);
    }
  }
};

template <typename Bits, bool kAdd>
struct Decoder {
  BANYAN_KERNEL_BODY static void Run(const UnalignedScale* scales, const uint8_t* levels, float* out, int64_t count) {
    int64_t block = 0;
    for (; (block + 1) * kQuantizeBlock <= count; ++block) {
      Bits::template Decode<kAdd>(levels, kQuantizeBlock, scales[block], out + block * kQuantizeBlock);
      levels += Bits::Bytes(kQuantizeBlock);
    }
    const int64_t rest = count - block * kQuantizeBlock;
    if (rest > 0) Bits::template Decode<kAdd>(levels, rest, scales[block], out + block * kQuantizeBlock);
  }
};

template <typename Bits>
void Encode(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* levels, KernelPath path) {
  RunKernel<Encoder<Bits>>(path, values.data(), static_cast<int64_t>(values.size()), seed,
                           reinterpret_cast<UnalignedScale*>(scales), levels);
}

template <typename Bits, bool kAdd>
void Decode(QuantizedFrame frame, absl::Span<float> out, KernelPath path) {
  RunKernel<Decoder<Bits, kAdd>>(path, reinterpret_cast<const UnalignedScale*>(frame.scales), frame.levels, out.data(),
                                 static_cast<int64_t>(out.size()));
}

}  // namespace

void QuantizeTo8Bits(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* levels, KernelPath path) {
  Encode<Eight>(values, seed, scales, levels, path);
}

void Decode8Bits(QuantizedFrame frame, absl::Span<float> values, KernelPath path) {
  Decode<Eight, false>(frame, values, path);
}

void Add8Bits(QuantizedFrame frame, absl::Span<float> sums, KernelPath path) { Decode<Eight, true>(frame, sums, path); }

void QuantizeTo4Bits(absl::Span<const float> values, uint64_t seed, uint8_t* scales, uint8_t* levels, KernelPath path) {
  Encode<Four>(values, seed, scales, levels, path);
}

void Decode4Bits(QuantizedFrame frame, absl::Span<float> values, KernelPath path) {
  Decode<Four, false>(frame, values, path);
}

void Add4Bits(QuantizedFrame frame, absl::Span<float> sums, KernelPath path) { Decode<Four, true>(frame, sums, path); }

}  // namespace banyan
