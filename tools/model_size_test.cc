#include "tools/model_size.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(ModelSizeTest, ReadsUnits) {
  EXPECT_EQ(*ReadModelBytes("4"), 4);
  EXPECT_EQ(*ReadModelBytes("1000k"), 1000000);
  EXPECT_EQ(*ReadModelBytes("244M"), 244000000);
  EXPECT_EQ(*ReadModelBytes("2G"), 2000000000);
}

TEST(ModelSizeTest, RefusesWhatIsNoModel) {
  for (const char* text : {"", "0", "-4", "3", "1m", "k", "1.5M", "9999999999G", "4x"}) {
    EXPECT_EQ(ReadModelBytes(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace banyan
