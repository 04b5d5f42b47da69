#include "compression/counts/vote_packing.h"

#include <bit>

#include "compression/counts/count_planes.h"
#include "compression/kernels/lanes.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vectors.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kVectorsPerGroup = kSignGroup / kLanes;

// Bits of values above a threshold, or of negated values above it.
template <bool kNegated>
struct Thresholds {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Group(const float* __restrict values, float threshold, uint8_t* __restrict bits) {
      typename V::Words words[V::kParts] = {};
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
#pragma GCC unroll 4
        for (int part = 0; part < V::kParts; ++part) {
          const typename V::Floats loaded = V::Load(values + k * kLanes + part * kWidth);
          const auto above = (kNegated ? -loaded : loaded) > threshold;
          words[part] = (words[part] >> 1) | (reinterpret_cast<typename V::Words>(above) & kSignBit);
        }
      }
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) V::StoreWords(bits + part * kWidth * 4, words[part]);
    }

    BANYAN_KERNEL_BODY static void Run(const float* __restrict values, int64_t count, float threshold,
                                       uint8_t* __restrict bits, int64_t bytes) {
      int64_t i = 0;
      for (; i + kSignGroup <= count; i += kSignGroup) Group(values + i, threshold, bits + i / 8);
      for (int64_t byte = i / 8; byte < bytes; ++byte) {
        uint32_t packed = 0;
        for (int64_t k = byte * 8; k < byte * 8 + 8 && k < count; ++k) {
          const bool above = (kNegated ? -values[k] : values[k]) > threshold;
          packed |= static_cast<uint32_t>(above) << (k % 8);
        }
        bits[byte] = static_cast<uint8_t>(packed);
      }
    }
  };
};

template <int kWidth>
struct Adding {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Group(const uint8_t* __restrict bits, uint32_t addend, float* __restrict out) {
    typename V::Words words[V::kParts];
#pragma GCC unroll 4
    for (int part = 0; part < V::kParts; ++part) words[part] = V::LoadWords(bits + part * kWidth * 4);
    for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) {
        float* const to = out + k * kLanes + part * kWidth;
        const auto values = reinterpret_cast<typename V::Floats>((-(words[part] & 1)) & addend);
        V::Store(to, V::Load(to) + values);
        words[part] >>= 1;
      }
    }
  }

  BANYAN_KERNEL_BODY static void Run(const uint8_t* __restrict bits, float addend, float* __restrict out,
                                     int64_t count) {
    int64_t i = 0;
    for (; i + kSignGroup <= count; i += kSignGroup) Group(bits + i / 8, std::bit_cast<uint32_t>(addend), out + i);
    for (; i < count; ++i) out[i] += (bits[i / 8] >> (i % 8) & 1) != 0 ? addend : 0.0f;
  }
};

template <bool kNegated>
void Pack(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  const int64_t count = static_cast<int64_t>(values.size());
  const int64_t bytes = PlaneWords(count) * static_cast<int64_t>(sizeof(uint64_t));
  RunVectorKernel<Thresholds<kNegated>::template Body>(path, values.data(), count, threshold,
                                                       reinterpret_cast<uint8_t*>(plane), bytes);
}

}  // namespace

void PackAbove(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  Pack<false>(values, threshold, plane, path);
}

void PackBelow(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  Pack<true>(values, threshold, plane, path);
}

void AddWhereSet(const uint64_t* plane, float addend, absl::Span<float> values, KernelPath path) {
  RunVectorKernel<Adding>(path, reinterpret_cast<const uint8_t*>(plane), addend, values.data(),
                          static_cast<int64_t>(values.size()));
}

}  // namespace banyan
