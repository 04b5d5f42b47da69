#include "compression/kernels/sign_bits.h"

#include <bit>

#include "compression/kernels/lane_accumulator.h"
#include "compression/kernels/vectors.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kVectorsPerGroup = kSignGroup / kLanes;

template <int kWidth>
struct Packing {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Group(const float* __restrict values, uint8_t* __restrict bits,
                                       LaneAccumulator<kWidth>& magnitudes) {
    typename V::Words words[V::kParts] = {};
    for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
      const float* const from = values + k * kLanes;
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) {
        words[part] = (words[part] >> 1) | (V::LoadWords(from + part * kWidth) & kSignBit);
      }
      magnitudes.template Add<MagnitudeTerm>(from);
    }
#pragma GCC unroll 4
    for (int part = 0; part < V::kParts; ++part) V::StoreWords(bits + part * kWidth * 4, words[part]);
  }

  BANYAN_KERNEL_BODY static void Run(const float* __restrict values, int64_t count, uint8_t* __restrict bits,
                                     double* sum) {
    LaneAccumulator<kWidth> magnitudes;
    int64_t i = 0;
    for (; i + kSignGroup <= count; i += kSignGroup) Group(values + i, bits + i / 8, magnitudes);
    magnitudes.template AddAll<MagnitudeTerm>(values + i, count - i);
    *sum = magnitudes.Total();
    for (int64_t byte = i / 8; byte < SignBytes(count); ++byte) {
      uint32_t packed = 0;
      for (int64_t k = byte * 8; k < byte * 8 + 8 && k < count; ++k) {
        packed |= std::bit_cast<uint32_t>(values[k]) >> 31 << (k % 8);
      }
      bits[byte] = static_cast<uint8_t>(packed);
    }
  }
};

template <bool kAdd>
struct Unpacking {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Group(const uint8_t* __restrict bits, uint32_t magnitude, float* __restrict out) {
      typename V::Words words[V::kParts];
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) words[part] = V::LoadWords(bits + part * kWidth * 4);
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
#pragma GCC unroll 4
        for (int part = 0; part < V::kParts; ++part) {
          float* const to = out + k * kLanes + part * kWidth;
          const auto values = reinterpret_cast<typename V::Floats>((words[part] << 31) ^ magnitude);
          V::Store(to, kAdd ? V::Load(to) + values : values);
          words[part] >>= 1;
        }
      }
    }

    BANYAN_KERNEL_BODY static void Run(const uint8_t* __restrict bits, float magnitude, float* __restrict out,
                                       int64_t count) {
      const uint32_t magnitude_bits = std::bit_cast<uint32_t>(magnitude);
      int64_t i = 0;
      for (; i + kSignGroup <= count; i += kSignGroup) Group(bits + i / 8, magnitude_bits, out + i);
      for (; i < count; ++i) {
        const uint32_t sign = static_cast<uint32_t>(bits[i / 8]) >> (i % 8) << 31;
        const float value = std::bit_cast<float>(sign ^ magnitude_bits);
        out[i] = kAdd ? out[i] + value : value;
      }
    }
  };
};

}  // namespace

double PackSigns(absl::Span<const float> values, uint8_t* bits, KernelPath path) {
  double sum = 0;
  RunVectorKernel<Packing>(path, values.data(), static_cast<int64_t>(values.size()), bits, &sum);
  return sum;
}

void UnpackSigns(const uint8_t* bits, float magnitude, absl::Span<float> values, KernelPath path) {
  RunVectorKernel<Unpacking<false>::Body>(path, bits, magnitude, values.data(), static_cast<int64_t>(values.size()));
}

void AddSigns(const uint8_t* bits, float magnitude, absl::Span<float> sums, KernelPath path) {
  RunVectorKernel<Unpacking<true>::Body>(path, bits, magnitude, sums.data(), static_cast<int64_t>(sums.size()));
}

bool IsPaddingZero(const uint8_t* bits, int64_t elements) {
  return elements % 8 == 0 || bits[elements / 8] >> (elements % 8) == 0;
}

}  // namespace banyan
