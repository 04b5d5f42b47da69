#include "compression/half_float.h"

#include <bit>
#include <cstddef>

#if BANYAN_HAS_X86_PATHS
#include <immintrin.h>
#endif

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "halves are written as the machine has them");

typedef uint16_t UnalignedHalf __attribute__((aligned(1), may_alias));

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;

// Every case is computed and the right one chosen, so that the compiler can vectorise. Same results as the
// instruction VCVTPS2PH.
inline uint16_t HalfOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSign;
  // Adding one half leaves a subnormal half's bits, rounded by the adder, at the end of the mantissa.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  const uint32_t not_a_number = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  uint32_t half = magnitude < (113u << 23) ? subnormal : normal;
  half = magnitude >= (143u << 23) ? 0x7c00 : half;
  half = magnitude > kInfinity ? not_a_number : half;
  return static_cast<uint16_t>(half | (bits & kSign) >> 16);
}

// Same results as the instruction VCVTPH2PS.
inline float FloatOf(uint16_t half) {
  const uint32_t shifted = static_cast<uint32_t>(half & 0x7fff) << 13;
  const uint32_t normal = shifted + (112u << 23);
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(shifted + (113u << 23)) - std::bit_cast<float>(113u << 23));
  const uint32_t quiet = shifted > (0x7c00u << 13) ? 0x00400000 : 0;
  uint32_t bits = shifted < (1u << 23) ? subnormal : normal;
  bits = shifted >= (0x7c00u << 13) ? (shifted | kInfinity | quiet) : bits;
  return std::bit_cast<float>(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

void EncodePortable(const float* __restrict values, UnalignedHalf* __restrict halves, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) halves[i] = HalfOf(values[i]);
}

void DecodePortable(const UnalignedHalf* __restrict halves, float* __restrict values, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) values[i] = FloatOf(halves[i]);
}

void AddPortable(const UnalignedHalf* __restrict halves, float* __restrict sums, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) sums[i] += FloatOf(halves[i]);
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

}  // namespace

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
