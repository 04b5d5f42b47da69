#include "compression/trimmable/tail_bits.h"

#include <bit>
#include <cstring>

#include "compression/kernels/lanes.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vector_clones.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kWordBytes = 4;
constexpr int64_t kVectorBytes = kLanes * kWordBytes;
constexpr int64_t kStoredVectors = kSignGroup / kLanes - 1;
constexpr int64_t kGroupTailBytes = kStoredVectors * kVectorBytes;

void PackGroup(const float* values, uint8_t* tails) {
  uint32_t last[kLanes];
  std::memcpy(last, values + kStoredVectors * kLanes, kVectorBytes);
  for (int64_t k = 0; k < kStoredVectors; ++k) {
    uint32_t words[kLanes];
    std::memcpy(words, values + k * kLanes, kVectorBytes);
    for (int64_t l = 0; l < kLanes; ++l) {
      words[l] = (words[l] & ~kSignBit) | (last[l] << 31);
      last[l] >>= 1;
    }
    std::memcpy(tails + k * kVectorBytes, words, kVectorBytes);
  }
}

void UnpackGroup(const uint8_t* signs, const uint8_t* tails, float* values) {
  uint32_t sign[kLanes];
  uint32_t last[kLanes] = {};
  std::memcpy(sign, signs, kVectorBytes);
  for (int64_t k = 0; k < kStoredVectors; ++k) {
    uint32_t words[kLanes];
    std::memcpy(words, tails + k * kVectorBytes, kVectorBytes);
    for (int64_t l = 0; l < kLanes; ++l) {
      last[l] = (last[l] >> 1) | (words[l] & kSignBit);
      words[l] = (words[l] & ~kSignBit) | (sign[l] << 31);
      sign[l] >>= 1;
    }
    std::memcpy(values + k * kLanes, words, kVectorBytes);
  }
  for (int64_t l = 0; l < kLanes; ++l) last[l] = (last[l] >> 1) | (sign[l] << 31);
  std::memcpy(values + kStoredVectors * kLanes, last, kVectorBytes);
}

BANYAN_VECTOR_CLONES void PackGroups(const float* values, int64_t groups, uint8_t* tails) {
  for (int64_t g = 0; g < groups; ++g) PackGroup(values + g * kSignGroup, tails + g * kGroupTailBytes);
}

BANYAN_VECTOR_CLONES void UnpackGroups(const uint8_t* signs, const uint8_t* tails, int64_t groups, float* values) {
  for (int64_t g = 0; g < groups; ++g) {
    UnpackGroup(signs + g * SignBytes(kSignGroup), tails + g * kGroupTailBytes, values + g * kSignGroup);
  }
}

uint32_t WordAt(const uint8_t* bytes, int64_t index) {
  uint32_t word;
  std::memcpy(&word, bytes + index * kWordBytes, kWordBytes);
  return word;
}

}  // namespace

int64_t TailBytes(int64_t elements) {
  return elements / kSignGroup * kGroupTailBytes + elements % kSignGroup * kWordBytes;
}

void PackTails(absl::Span<const float> values, uint8_t* tails) {
  const int64_t groups = static_cast<int64_t>(values.size()) / kSignGroup;
  PackGroups(values.data(), groups, tails);
  tails += groups * kGroupTailBytes;
  for (const float value : values.subspan(groups * kSignGroup)) {
    const uint32_t word = std::bit_cast<uint32_t>(value) & ~kSignBit;
    std::memcpy(tails, &word, kWordBytes);
    tails += kWordBytes;
  }
}

void UnpackTails(const uint8_t* signs, const uint8_t* tails, absl::Span<float> values) {
  const int64_t groups = static_cast<int64_t>(values.size()) / kSignGroup;
  UnpackGroups(signs, tails, groups, values.data());
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
