#include <bit>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vectors.h"
#include "compression/trimmable/level_bits.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kWordBytes = 4;
constexpr int64_t kVectorBytes = kLanes * kWordBytes;
constexpr int64_t kStoredVectors = kSignGroup / kLanes - 1;
constexpr int64_t kGroupTailBytes = kStoredVectors * kVectorBytes;

template <int kWidth>
struct PackGroups {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Run(const float* values, int64_t groups, uint8_t* tails) {
    for (int64_t part = 0; part < groups * V::kParts; ++part) {
      const int64_t lane = part % V::kParts * kWidth;
      const float* const from = values + part / V::kParts * kSignGroup + lane;
      uint8_t* const to = tails + part / V::kParts * kGroupTailBytes + lane * kWordBytes;
      typename V::Words last = V::LoadWords(from + kStoredVectors * kLanes);
      for (int64_t k = 0; k < kStoredVectors; ++k) {
        V::StoreWords(to + k * kVectorBytes, (V::LoadWords(from + k * kLanes) & ~kSignBit) | (last << 31u));
        last >>= 1u;
      }
    }
  }
};

template <int kWidth>
struct UnpackGroups {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Run(const uint8_t* signs, const uint8_t* tails, int64_t groups, float* values) {
    for (int64_t part = 0; part < groups * V::kParts; ++part) {
      const int64_t lane = part % V::kParts * kWidth;
      const uint8_t* const from = tails + part / V::kParts * kGroupTailBytes + lane * kWordBytes;
      float* const to = values + part / V::kParts * kSignGroup + lane;
      typename V::Words sign = V::LoadWords(signs + part / V::kParts * SignBytes(kSignGroup) + lane * kWordBytes);
      typename V::Words last = {};
      for (int64_t k = 0; k < kStoredVectors; ++k) {
        const typename V::Words words = V::LoadWords(from + k * kVectorBytes);
        last = (last >> 1u) | (words & kSignBit);
        V::StoreWords(to + k * kLanes, (words & ~kSignBit) | (sign << 31u));
        sign >>= 1u;
      }
      V::StoreWords(to + kStoredVectors * kLanes, (last >> 1u) | (sign << 31u));
    }
  }
};

uint32_t WordAt(const uint8_t* bytes, int64_t index) {
  uint32_t word;
  std::memcpy(&word, bytes + index * kWordBytes, kWordBytes);
  return word;
}

}  // namespace

int64_t TailBytes(int64_t elements) {
  return elements / kSignGroup * kGroupTailBytes + elements % kSignGroup * kWordBytes;
}

void PackTails(absl::Span<const float> values, uint8_t* tails, KernelPath path) {
  const int64_t groups = static_cast<int64_t>(values.size()) / kSignGroup;
  RunVectorKernel<PackGroups>(path, values.data(), groups, tails);
  tails += groups * kGroupTailBytes;
  for (const float value : values.subspan(groups * kSignGroup)) {
    const uint32_t word = std::bit_cast<uint32_t>(value) & ~kSignBit;
    std::memcpy(tails, &word, kWordBytes);
    tails += kWordBytes;
  }
}

void UnpackTails(const uint8_t* signs, const uint8_t* tails, absl::Span<float> values, KernelPath path) {
  const int64_t groups = static_cast<int64_t>(values.size()) / kSignGroup;
  RunVectorKernel<UnpackGroups>(path, signs, tails, groups, values.data());
  signs += groups * SignBytes(kSignGroup);
  tails += groups * kGroupTailBytes;
  const absl::Span<float> rest = values.subspan(groups * kSignGroup);
  for (int64_t i = 0; i < static_cast<int64_t>(rest.size()); ++i) {
    const uint32_t sign = static_cast<uint32_t>(signs[i / 8]) >> (i % 8) << 31;
    rest[i] = std::bit_cast<float>((WordAt(tails, i) & ~kSignBit) | sign);
  }
}

bool IsTailPaddingZero(const uint8_t* tails, int64_t elements) {
  tails += elements / kSignGroup * kGroupTailBytes;
  for (int64_t i = 0; i < elements % kSignGroup; ++i) {
    if ((WordAt(tails, i) & kSignBit) != 0) return false;
  }
  return true;
}

}  // namespace banyan
