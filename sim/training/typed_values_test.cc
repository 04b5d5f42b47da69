#include <vector>

#include "gtest/gtest.h"
#include "sim/training/training_plan.h"

namespace banyan {
namespace {

TEST(TypedValuesTest, WholeNumbersComeBackFromEveryType) {
  const std::vector<float> values = {3, -7, 0, 200};
  for (int number = 0; number <= static_cast<int>(kLastElementType); ++number) {
    const auto type = static_cast<DataType>(number);
    const Buffer typed = InType(Buffer::CopyOf(values), type);
    EXPECT_EQ(typed.type(), type);
    std::vector<float> back(4);
    WriteAsFloats(typed, absl::MakeSpan(back));
    EXPECT_EQ(back, values) << NameOf(type);
  }
}

}  // namespace
}  // namespace banyan
