#include "runtime/workers/segment_budget.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Slots of 64 bytes.
constexpr TensorSegment::Shape kShape{16, 2, 1};

TEST(SegmentBudgetTest, CountsAllThatIsShared) {
  SegmentBudget budget(2 * 3 * 64);
  EXPECT_TRUE(budget.Take("key a", kShape).ok());
  EXPECT_TRUE(budget.Take("key b", kShape).ok());
  EXPECT_EQ(budget.used_bytes(), 2 * 3 * 64);
  const absl::Status full = budget.Take("key c", kShape);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("key c needs 192 bytes"));
  budget.Return("key a", kShape);
  EXPECT_TRUE(budget.Take("key c", kShape).ok());
}

TEST(SegmentBudgetTest, WhatCannotFitIntoTheProcessIsRefusedWithTheNumbers) {
  // One result as it came, and for each worker what it pushes and the result.
  SegmentBudget budget(1 << 20, MemoryLimit{8 * 64, "memory.max of cgroup /bn"});
  EXPECT_TRUE(budget.Take("key a", kShape).ok());
  EXPECT_TRUE(budget.Take("key a", kShape).ok());
  EXPECT_TRUE(budget.Take("key b", kShape).ok());
  const absl::Status full = budget.Take("key c", kShape);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), AllOf(HasSubstr("key c does not fit"), HasSubstr("at least 704 bytes"),
                                                 HasSubstr("may have 512 (memory.max of cgroup /bn)")));
  budget.Return("key a", kShape);
  budget.Return("key b", kShape);
  budget.Return("key a", kShape);
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_TRUE(budget.Take("key c", {16, 2, 4}).ok());
}

TEST(SegmentBudgetTest, CountsElementsByTheirType) {
  // Sums of half types are of float32.
  for (const auto& [type, bytes] :
       {std::pair(DataType::kFloat64, 3 * 512), std::pair(DataType::kBFloat16, 2 * 128 + 256),
        std::pair(DataType::kByte, 3 * 64)}) {
    const TensorSegment::Shape shape{64, 2, 1, type};
    const std::string text = absl::StrCat(NameOf(type), ", ", bytes);
    EXPECT_TRUE(SegmentBudget(1 << 20, MemoryLimit{bytes, "a limit"}).Take("key a", shape).ok()) << text;
    EXPECT_FALSE(SegmentBudget(1 << 20, MemoryLimit{bytes - 1, "a limit"}).Take("key a", shape).ok()) << text;
  }
}

TEST(SegmentBudgetTest, LeavesMappingsFree) {
  SegmentBudget budget(1 << 20, std::nullopt, 160);
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(budget.Take("key w", kShape).ok()) << i;
  const absl::Status refused = budget.Take("key w150", kShape);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("key w150: "), HasSubstr("vm.max_map_count (160)"), HasSubstr("InitGroup")));
  budget.Return("key w", kShape);
  EXPECT_TRUE(budget.Take("key w150", kShape).ok());
}

TEST(SegmentBudgetTest, ASegmentGivesItsBytesBackWithItsLastUser) {
  const auto budget = std::make_shared<SegmentBudget>(1 << 20);
  ASSERT_TRUE(budget->Take("key a", kShape).ok());
  std::shared_ptr<TensorSegment> segment = Counted(TensorSegment::Create(kShape).value(), "key a", budget);
  std::shared_ptr<TensorSegment> other = segment;
  segment.reset();
  EXPECT_EQ(budget->used_bytes(), 3 * 64);
  other.reset();
  EXPECT_EQ(budget->used_bytes(), 0);
}

}  // namespace
}  // namespace banyan
