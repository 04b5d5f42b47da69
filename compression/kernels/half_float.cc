#include "compression/kernels/half_float.h"

#include <bit>
#include <cstddef>

#include "compression/kernels/half_bits.h"

#if BANYAN_HAS_X86_PATHS
#include <immintrin.h>
#endif

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "halves are written as the machine has them");

typedef uint16_t UnalignedHalf __attribute__((aligned(1), may_alias));

void EncodePortable(const float* __restrict values, UnalignedHalf* __restrict halves, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) halves[i] = HalfBitsOf(values[i]);
}

void DecodePortable(const UnalignedHalf* __restrict halves, float* __restrict values, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) values[i] = FloatOfHalf(halves[i]);
}

void AddPortable(const UnalignedHalf* __restrict halves, float* __restrict sums, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) sums[i] += FloatOfHalf(halves[i]);
}

#if BANYAN_HAS_X86_PATHS

// Each does the whole vectors and returns how many elements that were.

BANYAN_AVX2 size_t EncodeAvx2(const float* values, UnalignedHalf* halves, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(halves + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

BANYAN_AVX2 inline __m256 EightFloats(const UnalignedHalf* halves) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(halves)));
}

BANYAN_AVX2 size_t DecodeAvx2(const UnalignedHalf* halves, float* values, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) _mm256_storeu_ps(values + i, EightFloats(halves + i));
  return i;
}

BANYAN_AVX2 size_t AddAvx2(const UnalignedHalf* halves, float* sums, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(sums + i, _mm256_add_ps(_mm256_loadu_ps(sums + i), EightFloats(halves + i)));
  }
  return i;
}

BANYAN_AVX512 size_t EncodeAvx512(const float* values, UnalignedHalf* halves, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(halves + i),
                        _mm512_cvtps_ph(_mm512_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

BANYAN_AVX512 inline __m512 SixteenFloats(const UnalignedHalf* halves) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(halves)));
}

BANYAN_AVX512 size_t DecodeAvx512(const UnalignedHalf* halves, float* values, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) _mm512_storeu_ps(values + i, SixteenFloats(halves + i));
  return i;
}

BANYAN_AVX512 size_t AddAvx512(const UnalignedHalf* halves, float* sums, size_t count) {
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    _mm512_storeu_ps(sums + i, _mm512_add_ps(_mm512_loadu_ps(sums + i), SixteenFloats(halves + i)));
  }
  return i;
}

#else

size_t EncodeAvx2(const float*, UnalignedHalf*, size_t) { return 0; }
size_t DecodeAvx2(const UnalignedHalf*, float*, size_t) { return 0; }
size_t AddAvx2(const UnalignedHalf*, float*, size_t) { return 0; }
size_t EncodeAvx512(const float*, UnalignedHalf*, size_t) { return 0; }
size_t DecodeAvx512(const UnalignedHalf*, float*, size_t) { return 0; }
size_t AddAvx512(const UnalignedHalf*, float*, size_t) { return 0; }

#endif

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

void FloatsToHalves(absl::Span<const float> values, uint8_t* halves, KernelPath path) {
  UnalignedHalf* out = reinterpret_cast<UnalignedHalf*>(halves);
  size_t done = 0;
  if (path == KernelPath::kAvx2) done = EncodeAvx2(values.data(), out, values.size());
  if (path == KernelPath::kAvx512) done = EncodeAvx512(values.data(), out, values.size());
  EncodePortable(values.data(), out, done, values.size());
}

void HalvesToFloats(const uint8_t* halves, absl::Span<float> values, KernelPath path) {
  const UnalignedHalf* in = reinterpret_cast<const UnalignedHalf*>(halves);
  size_t done = 0;
  if (path == KernelPath::kAvx2) done = DecodeAvx2(in, values.data(), values.size());
  if (path == KernelPath::kAvx512) done = DecodeAvx512(in, values.data(), values.size());
  DecodePortable(in, values.data(), done, values.size());
}

void AddHalvesInto(absl::Span<float> sums, const uint8_t* halves, KernelPath path) {
  const UnalignedHalf* in = reinterpret_cast<const UnalignedHalf*>(halves);
  size_t done = 0;
  if (path == KernelPath::kAvx2) done = AddAvx2(in, sums.data(), sums.size());
  if (path == KernelPath::kAvx512) done = AddAvx512(in, sums.data(), sums.size());
  AddPortable(in, sums.data(), done, sums.size());
}

}  // namespace banyan
