#include "gtest/gtest.h"
#include "tools/flag_values.h"

namespace banyan {
namespace {

TEST(ModelSizeTest, ReadsUnits) {
  EXPECT_EQ(*ReadModelBytes("4"), 4);
  EXPECT_EQ(*ReadModelBytes("1000k"), 1000000);
  EXPECT_EQ(*ReadModelBytes("244M"), 244000000);
  EXPECT_EQ(*ReadModelBytes("2G"), 2000000000);
  EXPECT_EQ(*ReadModelBytes("46MB"), 46000000);
  EXPECT_EQ(*ReadModelBytes("46MiB"), 46 << 20);
  EXPECT_EQ(*ReadModelBytes("1.5G"), 1500000000);
  EXPECT_EQ(*ReadModelBytes("1e6"), 1000000);
}

TEST(ModelSizeTest, RefusesWhatIsNoModel) {
  for (const char* text : {"", "0", "-4", "3", "1m", "k", "9999999999G", "4x", "1.3", "46Mb", "5TiB"}) {
    EXPECT_EQ(ReadModelBytes(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ModelSizeTest, CutsWhatIsTooLargeForATensor) {
  EXPECT_EQ(*CutModel(1000, 10, 100), std::vector<int64_t>({1000}));
  EXPECT_EQ(*CutModel(1001, 10, 100), std::vector<int64_t>({501, 500}));
  EXPECT_EQ(*CutModel(1, 10, 100), std::vector<int64_t>({1}));
  EXPECT_EQ(CutModel(int64_t{1} << 40, 1, 1 << 20).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
