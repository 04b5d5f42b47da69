#include "core/tensor_layout.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Texts = std::pair<std::string, std::string>;

const TensorLayout kNone;
const TensorLayout kGroup{{{"a", 2}, {"b", 0}, {"c", 1}}};

TEST(TensorLayoutTest, CountsTheElementsOfAllParts) {
  EXPECT_EQ(kGroup.Elements(), 3);
  EXPECT_EQ(kNone.Elements(), 0);
  EXPECT_TRUE(kGroup.is_group());
  EXPECT_FALSE(kNone.is_group());
}

TEST(TensorLayoutTest, EveryDifferenceGivesAnotherHash) {
  const std::vector<TensorLayout> layouts = {kNone,
                                             kGroup,
                                             {{{"a", 2}}},
                                             {{{"a", 3}}},
                                             {{{"", 2}}},
                                             {{{"b", 2}}},
                                             {{{"a", 2}, {"c", 1}}},
                                             {{{"c", 1}, {"a", 2}}},
                                             {{{"a", 1}, {"a", 1}}},
                                             {{{"aa", 2}}},
                                             {{}, DataType::kFloat16},
                                             {{}, DataType::kInt64},
                                             {{{"a", 2}}, DataType::kInt64}};
  std::set<uint64_t> hashes;
  for (const TensorLayout& layout : layouts) hashes.insert(layout.Hash());
  EXPECT_EQ(hashes.size(), layouts.size());
  EXPECT_EQ(kNone.Hash(), 0u);
  EXPECT_EQ(kGroup.Hash(), TensorLayout(kGroup).Hash());
}

TEST(TensorLayoutTest, SaysWhatDiffers) {
  EXPECT_EQ(DescribeDifference({11, kNone}, {10, kNone}), Texts("11 elements", "10"));
  EXPECT_EQ(DescribeDifference({3, kGroup}, {3, kNone}),
            Texts("'a' with 2 elements as tensor 1", "3 elements as a single tensor"));
  const TensorLayout larger{{{"a", 2}, {"b", 4}, {"c", 1}}};
  EXPECT_EQ(DescribeDifference({7, larger}, {3, kGroup}),
            Texts("'b' with 4 elements as tensor 2", "'b' with 0 elements as tensor 2"));
  const TensorLayout longer{{{"a", 2}, {"b", 0}, {"c", 1}, {"d", 5}}};
  EXPECT_EQ(DescribeDifference({8, longer}, {3, kGroup}), Texts("'d' with 5 elements as tensor 4", "3 tensors"));
  EXPECT_EQ(DescribeDifference({3, kGroup}, {8, longer}), Texts("3 tensors", "'d' with 5 elements as tensor 4"));
  const TensorLayout half{{}, DataType::kFloat16};
  EXPECT_EQ(DescribeDifference({11, half}, {10, kNone}), Texts("float16 elements", "float32 elements"));
}

TEST(TensorLayoutTest, CountsMoreElementsThan32BitsHold) {
  const int64_t many = (int64_t{1} << 31) + 5;
  const TensorLayout layout{{{"a", many}, {"b", many}, {"c", 1}}, DataType::kFloat64};
  EXPECT_EQ(layout.Elements(), 2 * many + 1);
  EXPECT_NE(layout.Hash(), TensorLayout({{{"a", 5}, {"b", 5}, {"c", 1}}, DataType::kFloat64}).Hash());
}

}  // namespace
}  // namespace banyan
