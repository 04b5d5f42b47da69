#include "compression/sign_bits.h"

#include <bit>

#include "compression/float_lanes.h"
#include "compression/lane_accumulator.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kVectorsPerGroup = kSignGroup / kLanes;

struct Packing {
  BANYAN_KERNEL_BODY static void Run(const float* __restrict values, int64_t count, uint8_t* __restrict bits,
                                     double* sum) {
    LaneAccumulator magnitudes;
    int64_t i = 0;
    for (; i + kSignGroup <= count; i += kSignGroup) {
      WordLanes words = {};
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
        const float* const from = values + i + k * kLanes;
        words = (words >> 1) | (BitsOf(LoadFloats(from)) & kSignBit);
        magnitudes.Add<LaneAccumulator::Magnitude>(from);
      }
      StoreWords(bits + i / 8, words);
    }
    magnitudes.AddAll<LaneAccumulator::Magnitude>(values + i, count - i);
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
  BANYAN_KERNEL_BODY static void Run(const uint8_t* __restrict bits, float magnitude, float* __restrict out,
                                     int64_t count) {
    const uint32_t magnitude_bits = std::bit_cast<uint32_t>(magnitude);
    int64_t i = 0;
    for (; i + kSignGroup <= count; i += kSignGroup) {
      WordLanes words = LoadWords(bits + i / 8);
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
        const FloatLanes values = FloatsOf((words << 31) ^ magnitude_bits);
        float* const to = out + i + k * kLanes;
        StoreFloats(to, kAdd ? LoadFloats(to) + values : values);
        words >>= 1;
      }
    }
    for (; i < count; ++i) {
      const uint32_t sign = static_cast<uint32_t>(bits[i / 8]) >> (i % 8) << 31;
      const float value = std::bit_cast<float>(sign ^ magnitude_bits);
      out[i] = kAdd ? out[i] + value : value;
    }
  }
};

}  // namespace

double PackSigns(absl::Span<const float> values, uint8_t* bits, KernelPath path) {
  double sum = 0;
  RunKernel<Packing>(path, values.data(), static_cast<int64_t>(values.size()), bits, &sum);
  return sum;
}

void UnpackSigns(const uint8_t* bits, float magnitude, absl::Span<float> values, KernelPath path) {
  RunKernel<Unpacking<false>>(path, bits, magnitude, values.data(), static_cast<int64_t>(values.size()));
}

void AddSigns(const uint8_t* bits, float magnitude, absl::Span<float> sums, KernelPath path) {
  RunKernel<Unpacking<true>>(path, bits, magnitude, sums.data(), static_cast<int64_t>(sums.size()));
}

bool IsPaddingZero(const uint8_t* bits, int64_t elements) {
  return elements % 8 == 0 || bits[elements / 8] >> (elements % 8) == 0;
}

}  // namespace banyan
