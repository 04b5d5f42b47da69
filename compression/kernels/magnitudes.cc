#include "compression/kernels/magnitudes.h"

#include <algorithm>

#include "core/check.h"

#if BANYAN_HAS_X86_PATHS
#include <immintrin.h>
#endif

namespace banyan {
namespace {

constexpr int kWordBits = 64;
constexpr int64_t kBlock = 1024;  // elements between two looks at the limit
constexpr int kUnguessed = 3;     // indices of a word that are written without asking whether they are there

// How many values reach each of three thresholds; counts as wide as the elements keep all lanes busy.
struct CountFrom {
  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t count, const Magnitude* thresholds, int32_t* counts) {
    const Magnitude low = thresholds[0];
    const Magnitude middle = thresholds[1];
    const Magnitude high = thresholds[2];
    int32_t reach_low = 0;
    int32_t reach_middle = 0;
    int32_t reach_high = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Magnitude magnitude = MagnitudeOf(values[i]);
      reach_low += magnitude >= low;
      reach_middle += magnitude >= middle;
      reach_high += magnitude >= high;
    }
    counts[0] = reach_low;
    counts[1] = reach_middle;
    counts[2] = reach_high;
  }
};

// Each path sets bit i of words[i / 64] for the values that reach the threshold. REQUIRES: count is a multiple of 64.

void MarkPortable(const float* values, int64_t count, Magnitude threshold, uint64_t* words) {
  for (int64_t first = 0; first < count; first += kWordBits) {
    uint64_t word = 0;
    for (int bit = 0; bit < kWordBits; ++bit) {
      word |= uint64_t{MagnitudeOf(values[first + bit]) >= threshold} << bit;
    }
    words[first / kWordBits] = word;
  }
}

#if BANYAN_HAS_X86_PATHS

BANYAN_AVX2 void MarkAvx2(const float* values, int64_t count, Magnitude threshold, uint64_t* words) {
  const __m256i below = _mm256_set1_epi32(static_cast<int32_t>(threshold) - 1);
  const __m256i sign = _mm256_set1_epi32(0x7fffffff);
  for (int64_t first = 0; first < count; first += kWordBits) {
    uint64_t word = 0;
    for (int bit = 0; bit < kWordBits; bit += 8) {
      const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + first + bit));
      const __m256i reaches = _mm256_cmpgt_epi32(_mm256_and_si256(bits, sign), below);
      word |= uint64_t{static_cast<uint8_t>(_mm256_movemask_ps(_mm256_castsi256_ps(reaches)))} << bit;
    }
    words[first / kWordBits] = word;
  }
}

BANYAN_AVX512 void MarkAvx512(const float* values, int64_t count, Magnitude threshold, uint64_t* words) {
  const __m512i least = _mm512_set1_epi32(static_cast<int32_t>(threshold));
  const __m512i sign = _mm512_set1_epi32(0x7fffffff);
  for (int64_t first = 0; first < count; first += kWordBits) {
    uint64_t word = 0;
    for (int bit = 0; bit < kWordBits; bit += 16) {
      const __m512i bits = _mm512_loadu_si512(values + first + bit);
      word |= uint64_t{_mm512_cmpge_epi32_mask(_mm512_and_si512(bits, sign), least)} << bit;
    }
    words[first / kWordBits] = word;
  }
}

#endif

void Mark(KernelPath path, const float* values, int64_t count, Magnitude threshold, uint64_t* words) {
#if BANYAN_HAS_X86_PATHS
  if (path == KernelPath::kAvx512) return MarkAvx512(values, count, threshold, words);
  if (path == KernelPath::kAvx2) return MarkAvx2(values, count, threshold, words);
#endif
  MarkPortable(values, count, threshold, words);
}

// Writes the places of the ones of all words, counted from `first`, to `indices` and adds their number to `found`.
// REQUIRES: room for kUnguessed beyond them.
struct AppendPlaces {
  BANYAN_KERNEL_BODY static void Run(const uint64_t* words, int64_t count, uint32_t first, uint32_t* indices,
                                     int64_t* found) {
    uint32_t* next = indices;
    for (int64_t i = 0; i < count; ++i, first += kWordBits) {
      uint64_t word = words[i];
      const int ones = std::popcount(word);
      // A branch for each one would be guessed wrong; these are written in any case, and those too many overwritten.
      for (int j = 0; j < kUnguessed; ++j, word &= word - 1) next[j] = first + std::countr_zero(word);
      for (int j = kUnguessed; j < ones; ++j, word &= word - 1) next[j] = first + std::countr_zero(word);
      next += ones;
    }
    *found += next - indices;
  }
};

// The last, incomplete word of values.
int64_t AppendTail(absl::Span<const float> values, int64_t first, Magnitude threshold, uint32_t* indices) {
  int64_t found = 0;
  for (int64_t i = first; i < static_cast<int64_t>(values.size()); ++i) {
    if (MagnitudeOf(values[i]) >= threshold) indices[found++] = static_cast<uint32_t>(i);
  }
  return found;
}

}  // namespace

Magnitude KthLargestMagnitude(absl::Span<const float> values, int64_t k, int bits, KernelPath path) {
  BANYAN_CHECK(k >= 1 && k <= static_cast<int64_t>(values.size()) && values.size() <= INT32_MAX);
  BANYAN_CHECK(bits >= 1 && bits <= kMagnitudeBits && bits % 2 == 1);
  // Two bits at a time from the highest (where the sign was): counting is a vector operation for many elements, without
  // a branch to guess wrong.
  Magnitude threshold = 0;
  for (int shift = 30; shift > 30 - bits; shift -= 2) {
    const Magnitude step = Magnitude{1} << shift;
    const Magnitude higher[] = {threshold + step, threshold + 2 * step, threshold + 3 * step};
    int32_t counts[3] = {};
    RunKernel<CountFrom>(path, values.data(), static_cast<int64_t>(values.size()), higher, counts);
    for (int32_t count : counts) threshold += count >= k ? step : 0;
  }
  return threshold;
}

std::vector<uint32_t> CollectFrom(absl::Span<const float> values, Magnitude threshold, int64_t limit, KernelPath path) {
  BANYAN_CHECK(values.size() <= INT32_MAX);
  const int64_t count = values.size();
  const int64_t whole_words = count - count % kWordBits;
  std::vector<uint32_t> indices(std::min(limit, count) + kBlock + kUnguessed);
  uint64_t words[kBlock / kWordBits];
  int64_t found = 0;
  for (int64_t first = 0; first < whole_words && found <= limit; first += kBlock) {
    const int64_t block = std::min(kBlock, whole_words - first);
    Mark(path, values.data() + first, block, threshold, words);
    RunKernel<AppendPlaces>(path, words, block / kWordBits, static_cast<uint32_t>(first), indices.data() + found,
                            &found);
  }
  if (found <= limit) found += AppendTail(values, whole_words, threshold, indices.data() + found);
  indices.resize(found);
  return indices;
}

}  // namespace banyan
