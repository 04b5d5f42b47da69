#include <algorithm>
#include <cmath>
#include <vector>

#include "compression/kernels/kernel_body.h"
#include "compression/testing/testing_samples.h"
#include "compression/trimmable/level_bits.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

struct Coded {
  std::vector<float> row;
  std::vector<uint32_t> codes;
  QuantizerScale scale;
};

Coded Code(std::vector<float> row, float unit) {
  Coded coded{.row = std::move(row), .codes = {}, .scale = {.unit = unit}};
  for (const float value : coded.row) coded.scale.greatest = std::max(coded.scale.greatest, std::abs(value) / unit);
  coded.codes.resize(coded.row.size());
  QuantizeEmbedded(coded.row, coded.scale, absl::MakeSpan(coded.codes));
  return coded;
}

std::vector<float> Cut(const Coded& coded, int bits) {
  std::vector<float> row(coded.row.size());
  DequantizeEmbedded(coded.codes, bits, coded.scale.greatest, absl::MakeSpan(row));
  for (float& value : row) value *= coded.scale.unit;
  return row;
}

// The least distortion of any quantizer with 2, 4, 8 and 16 levels (Max, 1960, Table I): bounds that serve all four
// cost little.
TEST(EmbeddedQuantizerTest, DistortionIsNearTheBestOfItsBits) {
  const Coded coded = Code(GaussianSamples(200'000, 1), 1.0f);
  const double best[] = {0.3634, 0.1175, 0.03454, 0.009497};
  for (int bits = 1; bits <= 4; ++bits) {
    const double error = NormalizedError(coded.row, Cut(coded, bits));
    EXPECT_GT(error, 0.98 * best[bits - 1]) << bits;
    EXPECT_LT(error, 1.04 * best[bits - 1]) << bits;
  }
}

TEST(EmbeddedQuantizerTest, EachBitMoreLeavesLessThanHalf) {
  const Coded coded = Code(GaussianSamples(50'000, 2), 1.0f);
  double before = NormalizedError(coded.row, Cut(coded, 4));
  for (int bits = 5; bits <= 16; ++bits) {
    const double error = NormalizedError(coded.row, Cut(coded, bits));
    EXPECT_LT(error, 0.45 * before) << bits;
    before = error;
  }
}

TEST(EmbeddedQuantizerTest, AllBitsAreAsExactAsAFloat) {
  for (const float unit : {1.0f, 1e-20f, 3e15f}) {
    std::vector<float> row = GaussianSamples(10'000, 3);
    for (float& value : row) value *= unit;
    row[17] = 150 * unit;
    const Coded coded = Code(row, unit);
    const std::vector<float> whole = Cut(coded, 32);
    for (size_t i = 0; i < row.size(); ++i) {
      const float scale = std::max(std::abs(row[i]), unit);
      ASSERT_NEAR(whole[i], row[i], (std::abs(row[i]) > 2.4f * unit ? 1e-5 : 3e-7) * scale) << i;
    }
  }
}

TEST(EmbeddedQuantizerTest, SignsAndZerosPass) {
  const Coded coded = Code({0.0f, -0.0f, 1.0f, -1.0f}, 1.0f);
  for (int bits = 1; bits <= 32; ++bits) {
    const std::vector<float> row = Cut(coded, bits);
    EXPECT_FALSE(std::signbit(row[0]));
    EXPECT_TRUE(std::signbit(row[1]));
    EXPECT_GT(row[2], 0);
    EXPECT_EQ(row[3], -row[2]);
  }
}

// With lengths that fill no vector, at both ends of every cell.
TEST(EmbeddedQuantizerTest, EveryPathHasTheSameBits) {
  for (const size_t length : {1u, 15u, 17u, 1003u}) {
    std::vector<float> row = GaussianSamples(static_cast<int64_t>(length), 5);
    row[length / 2] = 0.5224f;
    const Coded coded = Code(row, 1.0f);
    for (const KernelPath path : KernelPaths()) {
      std::vector<uint32_t> codes(length);
      QuantizeEmbedded(row, coded.scale, absl::MakeSpan(codes), path);
      EXPECT_EQ(codes, coded.codes);
      for (const int bits : {1, 2, 3, 4, 5, 8, 32}) {
        std::vector<float> cut(length);
        DequantizeEmbedded(codes, bits, coded.scale.greatest, absl::MakeSpan(cut), path);
        EXPECT_EQ(cut, Cut(coded, bits)) << bits;
      }
    }
  }
}

TEST(EmbeddedQuantizerTest, CorrelatesWithWhatCodesStandForInTheOrderOfLanes) {
  const Coded coded = Code(GaussianSamples(1003, 6), 1.0f);
  for (const int bits : {1, 2, 3, 4, 8}) {
    const std::vector<float> cut = Cut(coded, bits);
    double lanes[kLanes] = {};
    for (size_t i = 0; i < cut.size(); ++i) lanes[i % kLanes] += static_cast<double>(coded.row[i]) * cut[i];
    const double sum = TotalOfLanes(lanes);
    for (const KernelPath path : KernelPaths()) {
      EXPECT_EQ(CorrelateEmbedded(coded.codes, bits, coded.scale.greatest, coded.row, path), sum) << bits;
    }
  }
}

}  // namespace
}  // namespace banyan
