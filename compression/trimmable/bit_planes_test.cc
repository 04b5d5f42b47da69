#include <algorithm>
#include <vector>

#include "compression/trimmable/level_bits.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr BitPlane kPlanes[] = {{31, 1}, {30, 1}, {28, 1}, {24, 4}, {0, 24}, {8, 24}, {0, 4}};
constexpr int64_t kLengths[] = {1, 2, 7, 127, 128, 129, 511, 512, 513, 1300};

std::vector<uint32_t> RandomCodes(int64_t length) {
  Random random(5);
  std::vector<uint32_t> codes(length);
  for (uint32_t& code : codes) code = static_cast<uint32_t>(random.Next());
  return codes;
}

void ExpectPlaneComesBack(BitPlane plane, int64_t length, KernelPath path) {
  const std::vector<uint32_t> codes = RandomCodes(length);
  std::vector<uint8_t> bytes(PlaneBytes(length, plane.width) + 1, 0xee);
  PackPlane(codes, plane, bytes.data() + 1, path);
  EXPECT_TRUE(IsPlanePaddingZero(bytes.data() + 1, length, plane.width));
  std::vector<uint8_t> portable(PlaneBytes(length, plane.width));
  PackPlane(codes, plane, portable.data(), KernelPath::kPortable);
  EXPECT_TRUE(std::equal(portable.begin(), portable.end(), bytes.begin() + 1));
  std::vector<uint32_t> unpacked(length);
  UnpackPlane(bytes.data() + 1, plane, absl::MakeSpan(unpacked), path);
  const uint32_t mask = ((uint32_t{1} << plane.width) - 1) << plane.lowest;
  for (int64_t i = 0; i < length; ++i) ASSERT_EQ(unpacked[i], codes[i] & mask) << i << " of " << length;
}

TEST(BitPlanesTest, PlanesComeBackOnEveryPath) {
  for (const KernelPath path : KernelPaths()) {
    for (const BitPlane plane : kPlanes) {
      for (const int64_t length : kLengths) ExpectPlaneComesBack(plane, length, path);
    }
  }
}

TEST(BitPlanesTest, BitsLieWhereTheHeaderSays) {
  std::vector<uint32_t> codes(512);
  codes[16 * 7 + 3] = uint32_t{1} << 31;
  std::vector<uint8_t> bytes(PlaneBytes(512, 1));
  PackPlane(codes, {31, 1}, bytes.data());
  for (int64_t byte = 0; byte < 64; ++byte) EXPECT_EQ(bytes[byte], byte == 3 * 4 ? 0x80 : 0) << byte;
}

TEST(BitPlanesTest, SeesBitsAfterTheLast) {
  const uint8_t bytes[] = {0x0f, 0x10};
  EXPECT_TRUE(IsPlanePaddingZero(bytes, 4, 1));
  EXPECT_FALSE(IsPlanePaddingZero(bytes, 3, 1));
  EXPECT_TRUE(IsPlanePaddingZero(bytes, 4, 4));
  EXPECT_FALSE(IsPlanePaddingZero(bytes, 3, 4));
}

}  // namespace
}  // namespace banyan
