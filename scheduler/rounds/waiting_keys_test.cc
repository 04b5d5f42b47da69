#include "scheduler/rounds/waiting_keys.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

TEST(WaitingKeysTest, KeepsTheOrderAndForgetsRepetitions) {
  WaitingKeys waiting;
  EXPECT_TRUE(waiting.Add(NodeId(2), {"b", 1}));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"a", 1}));
  EXPECT_TRUE(waiting.Add(NodeId(2), {"b", 1}));
  EXPECT_TRUE(waiting.Add(NodeId(2), {"b", 2}));
  const std::vector<WaitingKeys::Entry> all = waiting.TakeAll();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].node, NodeId(2));
  EXPECT_EQ(all[1].key.name, "a");
  EXPECT_EQ(all[2].key.elements, 2);
  EXPECT_EQ(waiting.size(), 0u);
}

TEST(WaitingKeysTest, DropsThoseOfANodeThatIsGone) {
  WaitingKeys waiting;
  waiting.Add(NodeId(1), {"a", 1});
  waiting.Add(NodeId(2), {"b", 1});
  waiting.Drop(NodeId(1));
  EXPECT_EQ(waiting.size(), 1u);
  EXPECT_TRUE(waiting.Add(NodeId(1), {"a", 1}));
  EXPECT_EQ(waiting.size(), 2u);
}

TEST(WaitingKeysTest, IsBounded) {
  WaitingKeys waiting;
  for (size_t i = 0; i < kMaxWaitingKeys; ++i) ASSERT_TRUE(waiting.Add(NodeId(1), {"w", static_cast<int64_t>(i)}));
  EXPECT_FALSE(waiting.Add(NodeId(1), {"one more", 1}));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"w", 0}));
}

TEST(WaitingKeysTest, TheTensorsOfGroupsAreBoundedToo) {
  RegisterKeys::Key group{"g", 1, {}};
  group.layout.parts.resize(TensorLayout::kMostParts, {"x", 0});
  group.layout.parts[0].elements = 1;
  WaitingKeys waiting;
  const size_t fit = kMaxWaitingTensors / TensorLayout::kMostParts;
  for (uint32_t node = 1; node <= fit; ++node) ASSERT_TRUE(waiting.Add(NodeId(node), group));
  EXPECT_TRUE(waiting.Add(NodeId(1), group)) << "said again";
  EXPECT_FALSE(waiting.Add(NodeId(static_cast<uint32_t>(fit) + 1), group));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"w", 1}));
  waiting.Drop(NodeId(2));
  EXPECT_TRUE(waiting.Add(NodeId(static_cast<uint32_t>(fit) + 1), group));
}

TEST(WaitingKeysTest, KeepsGroupsApartThatDifferInNamesAlone) {
  WaitingKeys waiting;
  EXPECT_TRUE(waiting.Add(NodeId(1), {"g", 1, {{{"a", 1}}}}));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"g", 1, {{{"b", 1}}}}));
  EXPECT_EQ(waiting.size(), 2u);
}

}  // namespace
}  // namespace banyan
