#include <cmath>
#include <cstring>
#include <vector>

#include "compression/codecs/frame_check.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

absl::Status Check(const std::vector<float>& scales) {
  std::vector<uint8_t> bytes(4 * scales.size() + 1);
  std::memcpy(bytes.data() + 1, scales.data(), 4 * scales.size());
  return CheckScales("int8", bytes.data() + 1, static_cast<int64_t>(scales.size()));
}

TEST(ScaleCheckTest, WhatEncodersWritePasses) { EXPECT_TRUE(Check({0.0f, 1.5f, 3e38f, 1e-45f, std::nanf("")}).ok()); }

TEST(ScaleCheckTest, OthersAreNamed) {
  EXPECT_EQ(Check({1.0f, -2.0f}).message(), "expected finite scales from 0 on in int8, got -2 for block 1");
  EXPECT_FALSE(Check({-0.0f}).ok());
  EXPECT_FALSE(Check({INFINITY}).ok());
  EXPECT_FALSE(Check({1.0f, 1.0f, -INFINITY}).ok());
}

}  // namespace
}  // namespace banyan
