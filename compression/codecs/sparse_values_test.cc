#include "compression/codecs/sparse_values.h"

#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

class SparseValuesTest : public testing::TestWithParam<CodecId> {};

// Numbers that halves hold exactly.
std::vector<float> Values(int count) {
  Random random(1);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Between(-2000, 2000));
  return values;
}

TEST_P(SparseValuesTest, GathersAndScatters) {
  const std::vector<float> values = Values(3000);
  for (int step : {1, 2, 3, 700}) {
    std::vector<uint32_t> indices;
    for (uint32_t i = 0; i < values.size(); i += step) indices.push_back(i);
    std::vector<uint8_t> bytes(indices.size() * SparseValueBytes(GetParam()) + 1, 0xee);
    GatherValues(values, indices, GetParam(), bytes.data());
    EXPECT_EQ(bytes.back(), 0xee);
    std::vector<float> replaced(values.size(), 1.0f);
    std::vector<float> added(values.size(), 1.0f);
    ScatterValues(bytes.data(), GetParam(), indices, absl::MakeSpan(replaced));
    ScatterAddValues(bytes.data(), GetParam(), indices, absl::MakeSpan(added));
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(replaced[i], i % step == 0 ? values[i] : 0);
      EXPECT_EQ(added[i], i % step == 0 ? values[i] + 1 : 1);
    }
  }
}

TEST_P(SparseValuesTest, WritesAndReadsAll) {
  for (int count : {0, 1, 7, 1000}) {
    const std::vector<float> values = Values(count);
    std::vector<uint8_t> bytes(count * SparseValueBytes(GetParam()));
    WriteValues(values, GetParam(), bytes.data());
    std::vector<float> read(count);
    ReadValues(bytes.data(), GetParam(), absl::MakeSpan(read));
    EXPECT_EQ(read, values);
    AddValues(bytes.data(), GetParam(), absl::MakeSpan(read));
    for (int i = 0; i < count; ++i) EXPECT_EQ(read[i], 2 * values[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseValuesTest, testing::Values(CodecId::kFp32, CodecId::kFp16));

TEST(SparseValuesAtTest, AreInTheOrderOfTheIndices) { EXPECT_THAT(ValuesAt({1, 2, 3}, {2, 0}), ElementsAre(3, 1)); }

TEST(CheckValueCodecTest, OthersAreRefused) {
  EXPECT_TRUE(CheckValueCodec("topk", CodecId::kFp32).ok());
  EXPECT_TRUE(CheckValueCodec("topk", CodecId::kFp16).ok());
  EXPECT_EQ(CheckValueCodec("topk", CodecId::kBf16).message(), "expected values in topk as codec 0 or 1, got 2");
}

}  // namespace
}  // namespace banyan
