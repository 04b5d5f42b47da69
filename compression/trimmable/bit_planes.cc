#include "compression/trimmable/bit_planes.h"

#include <bit>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/lanes.h"
#include "compression/kernels/vector_clones.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int kWordBits = 32;
constexpr int kWideBits = 24;
constexpr int kLowBits = 16;
constexpr int64_t kGroupBytes = kLanes * kWordBits / 8;

constexpr int64_t GroupElements(int width) { return kLanes * (kWordBits / width); }

template <int kWidth>
BANYAN_KERNEL_BODY void PackGroups(const uint32_t* codes, int lowest, int64_t groups, uint8_t* bytes) {
  constexpr uint32_t kMask = (uint32_t{1} << kWidth) - 1;
  for (int64_t g = 0; g < groups; ++g) {
    uint32_t words[kLanes] = {};
    for (int k = 0; k < kWordBits / kWidth; ++k) {
      for (int64_t l = 0; l < kLanes; ++l) words[l] |= ((codes[k * kLanes + l] >> lowest) & kMask) << (k * kWidth);
    }
    std::memcpy(bytes, words, kGroupBytes);
    codes += GroupElements(kWidth);
    bytes += kGroupBytes;
  }
}

template <int kWidth>
BANYAN_KERNEL_BODY void UnpackGroups(const uint8_t* bytes, int lowest, int64_t groups, uint32_t* codes) {
  constexpr uint32_t kMask = (uint32_t{1} << kWidth) - 1;
  for (int64_t g = 0; g < groups; ++g) {
    uint32_t words[kLanes];
    std::memcpy(words, bytes, kGroupBytes);
    for (int k = 0; k < kWordBits / kWidth; ++k) {
      for (int64_t l = 0; l < kLanes; ++l) codes[k * kLanes + l] |= ((words[l] >> (k * kWidth)) & kMask) << lowest;
    }
    codes += GroupElements(kWidth);
    bytes += kGroupBytes;
  }
}

BANYAN_VECTOR_CLONES void PackGroups1(const uint32_t* codes, int lowest, int64_t groups, uint8_t* bytes) {
  PackGroups<1>(codes, lowest, groups, bytes);
}
BANYAN_VECTOR_CLONES void PackGroups4(const uint32_t* codes, int lowest, int64_t groups, uint8_t* bytes) {
  PackGroups<4>(codes, lowest, groups, bytes);
}
BANYAN_VECTOR_CLONES void UnpackGroups1(const uint8_t* bytes, int lowest, int64_t groups, uint32_t* codes) {
  UnpackGroups<1>(bytes, lowest, groups, codes);
}
BANYAN_VECTOR_CLONES void UnpackGroups4(const uint8_t* bytes, int lowest, int64_t groups, uint32_t* codes) {
  UnpackGroups<4>(bytes, lowest, groups, codes);
}

BANYAN_VECTOR_CLONES void PackWide(const uint32_t* codes, int lowest, int64_t count, uint8_t* bytes) {
  for (int64_t i = 0; i < count; ++i) {
    const auto low = static_cast<uint16_t>(codes[i] >> lowest);
    std::memcpy(bytes + i * 2, &low, sizeof(low));
  }
  uint8_t* const high = bytes + count * 2;
  for (int64_t i = 0; i < count; ++i) high[i] = static_cast<uint8_t>(codes[i] >> (lowest + kLowBits));
}

BANYAN_VECTOR_CLONES void UnpackWide(const uint8_t* bytes, int lowest, int64_t count, uint32_t* codes) {
  const uint8_t* const high = bytes + count * 2;
  for (int64_t i = 0; i < count; ++i) {
    uint16_t low;
    std::memcpy(&low, bytes + i * 2, sizeof(low));
    codes[i] |= (uint32_t{low} | uint32_t{high[i]} << kLowBits) << lowest;
  }
}

// Of the elements that fill no group.
void PackRest(absl::Span<const uint32_t> codes, BitPlane plane, uint8_t* bytes) {
  const int per_byte = 8 / plane.width;
  const uint32_t mask = (uint32_t{1} << plane.width) - 1;
  std::memset(bytes, 0, PlaneBytes(static_cast<int64_t>(codes.size()), plane.width));
  for (size_t i = 0; i < codes.size(); ++i) {
    const uint32_t bits = (codes[i] >> plane.lowest) & mask;
    bytes[i / per_byte] |= static_cast<uint8_t>(bits << (i % per_byte * plane.width));
  }
}

void UnpackRest(const uint8_t* bytes, BitPlane plane, absl::Span<uint32_t> codes) {
  const int per_byte = 8 / plane.width;
  const uint32_t mask = (uint32_t{1} << plane.width) - 1;
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] |= (uint32_t{bytes[i / per_byte]} >> (i % per_byte * plane.width) & mask) << plane.lowest;
  }
}

}  // namespace

void PackPlane(absl::Span<const uint32_t> codes, BitPlane plane, uint8_t* bytes) {
  const auto count = static_cast<int64_t>(codes.size());
  if (plane.width == kWideBits) return PackWide(codes.data(), plane.lowest, count, bytes);
  BANYAN_CHECK(plane.width == 1 || plane.width == 4);
  const int64_t groups = count / GroupElements(plane.width);
  (plane.width == 1 ? PackGroups1 : PackGroups4)(codes.data(), plane.lowest, groups, bytes);
  PackRest(codes.subspan(groups * GroupElements(plane.width)), plane, bytes + groups * kGroupBytes);
}

void UnpackPlane(const uint8_t* bytes, BitPlane plane, absl::Span<uint32_t> codes) {
  const auto count = static_cast<int64_t>(codes.size());
  if (plane.width == kWideBits) return UnpackWide(bytes, plane.lowest, count, codes.data());
  BANYAN_CHECK(plane.width == 1 || plane.width == 4);
  const int64_t groups = count / GroupElements(plane.width);
  (plane.width == 1 ? UnpackGroups1 : UnpackGroups4)(bytes, plane.lowest, groups, codes.data());
  UnpackRest(bytes + groups * kGroupBytes, plane, codes.subspan(groups * GroupElements(plane.width)));
}

bool IsPlanePaddingZero(const uint8_t* bytes, int64_t elements, int width) {
  const int64_t bits = elements * width;
  return bits % 8 == 0 || bytes[bits / 8] >> (bits % 8) == 0;
}

}  // namespace banyan
