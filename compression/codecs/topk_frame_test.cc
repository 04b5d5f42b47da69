#include "compression/codecs/topk_frame.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TopKFrameTest, FieldsLieWhereTheFormatSays) {
  const TopKFields fields = {.value_codec = CodecId::kFp16, .form = 7, .values = 0x01020304, .index_bytes = 0x0a0b0c0d};
  std::vector<uint8_t> bytes(kTopKFieldBytes);
  WriteTopKFields(fields, bytes.data());
  EXPECT_THAT(bytes, testing::ElementsAre(1, 7, 4, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a));
  const TopKFields again = ReadTopKFields(bytes.data());
  EXPECT_EQ(again.value_codec, fields.value_codec);
  EXPECT_EQ(again.form, fields.form);
  EXPECT_EQ(again.values, fields.values);
  EXPECT_EQ(again.index_bytes, fields.index_bytes);
}

TEST(TopKFrameTest, CountsFieldsIndicesAndValues) {
  EXPECT_EQ(TopKFrameBytes({.values = 100, .index_bytes = 30}), 10 + 30 + 400);
  EXPECT_EQ(TopKFrameBytes({.value_codec = CodecId::kFp16, .values = 100}), 10 + 200);
}

}  // namespace
}  // namespace banyan
