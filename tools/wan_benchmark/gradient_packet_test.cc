#include "tools/wan_benchmark/gradient_packet.h"

#include <gtest/gtest.h>

#include <cmath>

namespace banyan {
namespace {

GradientPacket Sample() {
  GradientPacket packet{.sender = 3, .position = 700, .head = 2.5f};
  for (size_t i = 0; i < kDatagramNumbers; ++i) packet.numbers[i] = std::sin(static_cast<float>(i)) * 7;
  return packet;
}

TEST(GradientPacketTest, FitsIntoAnEthernetFrame) {
  EXPECT_LE(kWholePacket + 28, 1500u);
  EXPECT_NEAR(static_cast<double>(kHalvesEnd) / kWholePacket, 0.5, 0.01);
}

TEST(GradientPacketTest, AWholePacketIsExact) {
  const GradientPacket sent = Sample();
  const std::optional<GradientPacket> got = UnpackGradient(PackGradient(sent));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->sender, 3);
  EXPECT_EQ(got->position, 700);
  EXPECT_EQ(got->numbers, sent.numbers);
}

TEST(GradientPacketTest, ACutPacketHasWhatItLeaves) {
  const GradientPacket sent = Sample();
  std::vector<uint8_t> bytes = PackGradient(sent);
  bytes.resize(kHalvesEnd);
  const std::optional<GradientPacket> half = UnpackGradient(bytes);
  bytes.resize(kSignsEnd);
  const std::optional<GradientPacket> signs = UnpackGradient(bytes);
  ASSERT_TRUE(half.has_value() && signs.has_value());
  for (size_t i = 0; i < kDatagramNumbers; ++i) {
    EXPECT_NEAR(half->numbers[i], sent.numbers[i], std::abs(sent.numbers[i]) / 200 + 1e-30);
    EXPECT_EQ(signs->numbers[i], sent.numbers[i] < 0 ? -2.5f : 2.5f);
  }
  bytes.pop_back();
  EXPECT_FALSE(UnpackGradient(bytes).has_value());
}

}  // namespace
}  // namespace banyan
