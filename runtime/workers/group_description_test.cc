#include <string>

#include "gtest/gtest.h"
#include "runtime/workers/worker_connection.h"

namespace banyan {
namespace {

TEST(GroupDescriptionTest, CollectsTensorsInTheirOrder) {
  GroupDescription description;
  EXPECT_TRUE(description.Add({{{"q", 2}, {"none", 0}}}).ok());
  EXPECT_TRUE(description.Add({{{"v", 3}}}).ok());
  const absl::StatusOr<TensorLayout> layout = description.Take(5);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(*layout, (TensorLayout{{{"q", 2}, {"none", 0}, {"v", 3}}}));
  EXPECT_FALSE(description.Take(7)->is_group()) << "the next tensor is no group";
}

TEST(GroupDescriptionTest, TensorsAddUpToTheGroup) {
  GroupDescription description;
  EXPECT_TRUE(description.Add({{{"q", 2}}}).ok());
  EXPECT_EQ(description.Take(3).status(),
            absl::InvalidArgumentError("expected a group of 3 elements, got tensors of 2"));
}

TEST(GroupDescriptionTest, IsBounded) {
  DescribeGroup many;
  many.parts.resize(TensorLayout::kMostParts, {"x", 0});
  GroupDescription description;
  EXPECT_TRUE(description.Add(many).ok());
  EXPECT_EQ(description.Add({{{"one more", 1}}}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(description.Take(1)->is_group());
  DescribeGroup wordy;
  wordy.parts.resize(TensorLayout::kMostNameBytes / 1024, {std::string(1024, 'x'), 0});
  EXPECT_TRUE(description.Add(wordy).ok());
  EXPECT_EQ(description.Add({{{"x", 1}}}).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace banyan
