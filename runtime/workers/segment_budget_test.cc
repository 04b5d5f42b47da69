#include "runtime/workers/segment_budget.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SegmentBudgetTest, BoundsTheBytes) {
  SegmentBudget budget(1000, 0);
  EXPECT_TRUE(budget.Take(900, "key w").ok());
  const absl::Status refused = budget.Take(101, "key v");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("key v needs 101 bytes of shared memory"));
  EXPECT_TRUE(budget.Take(100, "key v").ok());
  budget.Return(900);
  EXPECT_EQ(budget.used_bytes(), 100);
}

TEST(SegmentBudgetTest, LeavesMappingsFree) {
  SegmentBudget budget(1 << 20, 160);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(budget.Take(1, "key w").ok()) << i;
  const absl::Status refused = budget.Take(1, "key w150");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("key w150: "), HasSubstr("vm.max_map_count (160)"), HasSubstr("InitGroup")));
  budget.Return(1);
  EXPECT_TRUE(budget.Take(1, "key w150").ok());
}

TEST(SegmentBudgetTest, ASegmentGoesBackWithItsLastUser) {
  const auto budget = std::make_shared<SegmentBudget>(1 << 20, 16);
  const TensorSegment::Shape shape{4, 2, 1};
  const int64_t size_bytes = TensorSegment::SizeBytes(shape);
  ASSERT_TRUE(budget->Take(size_bytes, "key w").ok());
  std::shared_ptr<TensorSegment> segment = Counted(TensorSegment::Create(shape).value(), budget);
  std::shared_ptr<TensorSegment> user = segment;
  segment.reset();
  EXPECT_EQ(budget->used_bytes(), size_bytes);
  user.reset();
  EXPECT_EQ(budget->used_bytes(), 0);
}

}  // namespace
}  // namespace banyan
