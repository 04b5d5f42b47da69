#include <gtest/gtest.h>

#include "precision/profile/binding_proposal.h"

namespace banyan {
namespace {

TEST(NamedShapeTest, ReadsNamesAndShapes) {
  const absl::StatusOr<std::vector<NamedShape>> tensors =
      ReadTensorList("# a net\nconv.weight  32x1x3x3\n\nconv.bias\t32 # small\n", "t.txt");
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].elements(), 288);
  EXPECT_EQ((*tensors)[1].dimensions, std::vector<int64_t>{32});
}

TEST(NamedShapeTest, RefusalsSayWhereAndWhat) {
  EXPECT_EQ(ReadTensorList("a 3\nb 3x\n", "t.txt").status().message(),
            "t.txt:2: expected a name and a shape such as `fc1.weight 128x784`, got 'b 3x'");
  EXPECT_EQ(ReadTensorList("a 3\na 4\n", "t.txt").status().message(),
            "t.txt:2: tensor 'a' is listed twice; remove one");
  EXPECT_EQ(ReadTensorList("\n", "t.txt").status().message(), "t.txt: expected a line for each tensor, got none");
  for (const char* bad : {"a", "a 0", "a -1", "a 3 4", "a 1000000x1000000x1000000", "a x"}) {
    EXPECT_FALSE(ReadTensorList(bad, "t.txt").ok()) << bad;
  }
}

}  // namespace
}  // namespace banyan
