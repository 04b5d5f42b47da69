#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/rounds/key_registrar.h"
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
  EXPECT_EQ(all[0].nodes.in_order(), std::vector<NodeId>{NodeId(2)});
  EXPECT_EQ(all[1].key.name, "a");
  EXPECT_EQ(all[2].key.elements, 2);
  EXPECT_EQ(waiting.size(), 0u);
}

TEST(WaitingKeysTest, KeepsWhatSeveralNodesAskForOnce) {
  WaitingKeys waiting;
  for (const uint32_t node : {3, 1, 2, 1}) EXPECT_TRUE(waiting.Add(NodeId(node), {"a", 1}));
  EXPECT_EQ(waiting.size(), 1u);
  waiting.Drop(NodeId(1));
  const std::vector<WaitingKeys::Entry> all = waiting.TakeAll();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].nodes.in_order(), (std::vector<NodeId>{NodeId(3), NodeId(2)}));
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
  EXPECT_TRUE(waiting.Add(NodeId(2), {"w", 0}));
}

TEST(WaitingKeysTest, TheTensorsOfGroupsAreBoundedToo) {
  const auto group = [](uint32_t number) {
    RegisterKeys::Key key{absl::StrCat("g", number), 1, {}};
    key.layout.parts.resize(TensorLayout::kMostParts, {"x", 0});
    key.layout.parts[0].elements = 1;
    return key;
  };
  WaitingKeys waiting;
  const uint32_t fit = kMaxWaitingTensors / TensorLayout::kMostParts;
  for (uint32_t node = 1; node <= fit; ++node) ASSERT_TRUE(waiting.Add(NodeId(node), group(node)));
  EXPECT_TRUE(waiting.Add(NodeId(1), group(1))) << "said again";
  EXPECT_TRUE(waiting.Add(NodeId(fit + 1), group(1))) << "asked for already";
  EXPECT_FALSE(waiting.Add(NodeId(fit + 1), group(fit + 1)));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"w", 1}));
  waiting.Drop(NodeId(2));
  EXPECT_TRUE(waiting.Add(NodeId(fit + 1), group(fit + 1)));
}

TEST(WaitingKeysTest, KeepsGroupsApartThatDifferInNamesAlone) {
  WaitingKeys waiting;
  EXPECT_TRUE(waiting.Add(NodeId(1), {"g", 1, {{{"a", 1}}}}));
  EXPECT_TRUE(waiting.Add(NodeId(1), {"g", 1, {{{"b", 1}}}}));
  EXPECT_EQ(waiting.size(), 2u);
}

}  // namespace
}  // namespace banyan
