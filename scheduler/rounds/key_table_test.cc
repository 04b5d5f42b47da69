#include "scheduler/rounds/key_table.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"
#include "topology/chunk_assignment.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kChunk = 65536;

TEST(KeyTableTest, CountsFromOneInOrderOfArrival) {
  KeyTable table(kChunk);
  EXPECT_EQ(*table.Register({"b", 20}), KeyId(1));
  EXPECT_EQ(*table.Register({"a", 10}), KeyId(2));
  EXPECT_EQ(*table.Register({"b", 20}), KeyId(1));
  EXPECT_EQ(table.version(), KeyTableVersion(2));
  EXPECT_TRUE(table.Contains(KeyId(2)));
  EXPECT_FALSE(table.Contains(KeyId(3)));
  EXPECT_FALSE(table.Contains(KeyId(0)));
  EXPECT_THAT(table.Rows({KeyId(1), KeyId(2)}), ElementsAre(KeySlice{KeyId(1), "b", 20}, KeySlice{KeyId(2), "a", 10}));
}

TEST(KeyTableTest, RefusesAnotherShape) {
  KeyTable table(kChunk);
  ASSERT_TRUE(table.Register({"w", 10}).ok());
  const absl::Status status = table.Register({"w", 12}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("key 'w' has 10 elements, and 12 came"));
  EXPECT_EQ(table.version(), KeyTableVersion(1));
}

TEST(KeyTableTest, RefusesAGroupOfOtherTensors) {
  KeyTable table(kChunk);
  ASSERT_TRUE(table.Register({"g", 3, {{{"a", 1}, {"b", 2}}}}).ok());
  EXPECT_EQ(*table.Register({"g", 3, {{{"a", 1}, {"b", 2}}}}), KeyId(1));
  EXPECT_THAT(std::string(table.Register({"g", 3, {{{"a", 2}, {"b", 1}}}}).status().message()),
              HasSubstr("key 'g' has 'a' with 1 elements as tensor 1, and 'a' with 2 elements as tensor 1 came"));
  EXPECT_THAT(std::string(table.Register({"g", 3}).status().message()),
              HasSubstr("and 3 elements as a single tensor came"));
  EXPECT_EQ(table.Rows({KeyId(1), KeyId(1)})[0].layout, (TensorLayout{{{"a", 1}, {"b", 2}}}.Hash()));
}

TEST(KeyTableTest, TheTensorsOfGroupsAreBounded) {
  KeyTable table(kChunk);
  RegisterKeys::Key group{"", 1, {}};
  group.layout.parts.resize(TensorLayout::kMostParts, {"x", 0});
  group.layout.parts[0].elements = 1;
  for (size_t i = 0; i < kMaxGroupedTensors / TensorLayout::kMostParts; ++i) {
    group.name = absl::StrCat("g", i);
    ASSERT_TRUE(table.Register(group).ok());
  }
  group.name = "one more";
  EXPECT_EQ(table.Register(group).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(table.Register({"w", 1}).ok());
}

TEST(KeyTableTest, RefusesNamesAndSizesOutOfBounds) {
  KeyTable table(kChunk);
  EXPECT_FALSE(table.Register({"", 1}).ok());
  EXPECT_FALSE(table.Register({"a\nb", 1}).ok());
  EXPECT_FALSE(table.Register({"\xff", 1}).ok());
  EXPECT_TRUE(table.Register({std::string(kMaxKeyNameBytes, 'x'), 1}).ok());
  EXPECT_FALSE(table.Register({std::string(kMaxKeyNameBytes + 1, 'x'), 1}).ok());
  EXPECT_FALSE(table.Register({"w", 0}).ok());
  EXPECT_FALSE(table.Register({"w", -1}).ok());
  EXPECT_FALSE(table.Register({"w", kMaxKeyElements + 1}).ok());
}

TEST(KeyTableTest, RefusesMoreChunksThanAKeyMayHave) {
  KeyTable table(1);
  EXPECT_TRUE(table.Register({"large", 1 << 20}).ok());
  const absl::Status status = table.Register({"larger", (1 << 20) + 1}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("raise chunks.max_elements"));
}

// Every key begins a slice at its second element, and one at its last.
class FixedSlices : public RouteSource {
 public:
  KeyRoutes RouteOf(KeyId /*key*/) const override { return {}; }
  std::vector<int64_t> BordersOf(const std::string& /*name*/, const TensorShape& shape) const override {
    return {1, shape.elements - 1};
  }
};

TEST(KeyTableTest, KeysKeepTheSlicesThatTheyWereGiven) {
  KeyTable table(kChunk);
  ASSERT_TRUE(table.Register({"early", 10}).ok());
  const FixedSlices slices;
  table.UseRoutes(&slices);
  ASSERT_TRUE(table.Register({"early", 10}).ok());
  ASSERT_TRUE(table.Register({"w", 10}).ok());
  ASSERT_TRUE(table.Restore({"old", 10, {}, {5}}).ok());
  EXPECT_THAT(table.Rows({KeyId(1), KeyId(1)})[0].borders, IsEmpty());
  EXPECT_THAT(table.Rows({KeyId(2), KeyId(2)})[0].borders, ElementsAre(1, 9));
  EXPECT_THAT(table.BordersOf(KeyId(3)), ElementsAre(5));
  EXPECT_THAT(table.Tensors()[1].borders, ElementsAre(1, 9));
}

TEST(KeyTableTest, RefusesImpossibleKeysOfRecords) {
  KeyTable table(kChunk);
  ASSERT_TRUE(table.Restore({"w", 10}).ok());
  EXPECT_FALSE(table.Restore({"w", 10}).ok()) << "twice";
  EXPECT_FALSE(table.Restore({"", 10}).ok());
  for (const std::vector<int64_t>& borders : {std::vector<int64_t>{0}, {10}, {5, 5}}) {
    EXPECT_FALSE(table.Restore({"v", 10, {}, borders}).ok());
  }
  EXPECT_EQ(table.version(), KeyTableVersion(1));
}

TEST(KeyTableTest, CountsTheChunksThatSlicesMake) {
  KeyTable table(2);
  const FixedSlices slices;
  table.UseRoutes(&slices);
  ASSERT_TRUE(table.Register({"w", 2 * kMaxChunksPerKey - 2}).ok());  // 1 + (n - 2) / 2 + 1 chunks
  EXPECT_THAT(std::string(table.Register({"v", 2 * kMaxChunksPerKey}).status().message()),
              HasSubstr("and 3 slices are more than 1048576 chunks; raise chunks.max_elements"));
  EXPECT_TRUE(table.CheckChunks(2).ok());
  KeyTable whole(2);
  ASSERT_TRUE(whole.Register({"v", 2 * kMaxChunksPerKey}).ok());
}

TEST(KeyTableTest, TellsPlansHowWideElementsAre) {
  KeyTable table(kChunk);
  ASSERT_TRUE(table.Register({"w", 10}).ok());
  ASSERT_TRUE(table.Register({"d", 20, {.parts = {}, .type = DataType::kFloat64}}).ok());
  ASSERT_TRUE(table.Register({"h", 30, {.parts = {}, .type = DataType::kBFloat16}}).ok());
  std::vector<int64_t> bytes;
  for (const PlannedTensor& tensor : table.Tensors()) bytes.push_back(tensor.elements * tensor.element_bytes);
  EXPECT_THAT(bytes, ElementsAre(40, 160, 60));
}

TEST(KeyTableTest, IsBounded) {
  KeyTable table(kChunk);
  for (size_t i = 0; i < kMaxKeys; ++i) ASSERT_TRUE(table.Register({absl::StrCat(i), 1}).ok());
  const absl::Status full = table.Register({"step 7", 1}).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  // Of a program that makes a key in each step: what is wrong, and the remedy.
  EXPECT_THAT(std::string(full.message()), HasSubstr("the job has its 65536 keys already; 'step 7' would be one more; "
                                                     "use the same names in each step, and groups for small tensors"));
  EXPECT_TRUE(table.Register({"0", 1}).ok());
}

}  // namespace
}  // namespace banyan
