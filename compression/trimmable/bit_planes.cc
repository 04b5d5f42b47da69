#include <bit>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/vectors.h"
#include "compression/trimmable/level_bits.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int kWordBits = 32;
constexpr int kWideBits = 24;
constexpr int kLowBits = 16;
constexpr int64_t kGroupBytes = kLanes * kWordBits / 8;

constexpr int64_t GroupElements(int width) { return kLanes * (kWordBits / width); }

// Groups of planes of kBits.
template <int kBits>
struct Groups {
  static constexpr uint32_t kMask = (uint32_t{1} << kBits) - 1;

  template <int kWidth>
  struct Pack {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Run(const uint32_t* codes, uint32_t lowest, int64_t groups, uint8_t* bytes) {
      for (int64_t part = 0; part < groups * V::kParts; ++part) {
        const uint32_t* const from = codes + PartAt<kWidth>(part);
        typename V::Words word = {};
#pragma GCC unroll 32
        for (uint32_t k = 0; k < kWordBits / kBits; ++k) {
          word |= ((V::LoadWords(from + k * kLanes) >> lowest) & kMask) << (k * kBits);
        }
        V::StoreWords(bytes + part * kWidth * 4, word);
      }
    }
  };

  template <int kWidth>
  struct Unpack {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Run(const uint8_t* bytes, uint32_t lowest, int64_t groups, uint32_t* codes) {
      for (int64_t part = 0; part < groups * V::kParts; ++part) {
        uint32_t* const to = codes + PartAt<kWidth>(part);
        const typename V::Words word = V::LoadWords(bytes + part * kWidth * 4);
#pragma GCC unroll 32
        for (uint32_t k = 0; k < kWordBits / kBits; ++k) {
          const typename V::Words bits = ((word >> (k * kBits)) & kMask) << lowest;
          V::StoreWords(to + k * kLanes, V::LoadWords(to + k * kLanes) | bits);
        }
      }
    }
  };

 private:
  // Of the first code in a part of a group's words.
  template <int kWidth>
  BANYAN_KERNEL_BODY static int64_t PartAt(int64_t part) {
    return part / Vectors<kWidth>::kParts * GroupElements(kBits) + part % Vectors<kWidth>::kParts * kWidth;
  }
};

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

void PackPlane(absl::Span<const uint32_t> codes, BitPlane plane, uint8_t* bytes, KernelPath path) {
  const auto count = static_cast<int64_t>(codes.size());
  if (plane.width == kWideBits) return PackWide(codes.data(), plane.lowest, count, bytes);
  BANYAN_CHECK(plane.width == 1 || plane.width == 4);
  const int64_t groups = count / GroupElements(plane.width);
  const auto lowest = static_cast<uint32_t>(plane.lowest);
  if (plane.width == 1) {
    RunVectorKernel<Groups<1>::Pack>(path, codes.data(), lowest, groups, bytes);
  } else {
    RunVectorKernel<Groups<4>::Pack>(path, codes.data(), lowest, groups, bytes);
  }
  PackRest(codes.subspan(groups * GroupElements(plane.width)), plane, bytes + groups * kGroupBytes);
}

void UnpackPlane(const uint8_t* bytes, BitPlane plane, absl::Span<uint32_t> codes, KernelPath path) {
  const auto count = static_cast<int64_t>(codes.size());
  if (plane.width == kWideBits) return UnpackWide(bytes, plane.lowest, count, codes.data());
  BANYAN_CHECK(plane.width == 1 || plane.width == 4);
  const int64_t groups = count / GroupElements(plane.width);
  const auto lowest = static_cast<uint32_t>(plane.lowest);
  if (plane.width == 1) {
    RunVectorKernel<Groups<1>::Unpack>(path, bytes, lowest, groups, codes.data());
  } else {
    RunVectorKernel<Groups<4>::Unpack>(path, bytes, lowest, groups, codes.data());
  }
  UnpackRest(bytes + groups * kGroupBytes, plane, codes.subspan(groups * GroupElements(plane.width)));
}

bool IsPlanePaddingZero(const uint8_t* bytes, int64_t elements, int width) {
  const int64_t bits = elements * width;
  return bits % 8 == 0 || bytes[bits / 8] >> (bits % 8) == 0;
}

}  // namespace banyan
