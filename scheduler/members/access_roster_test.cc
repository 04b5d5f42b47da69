#include "scheduler/members/access_roster.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OverlayConfig Overlay(const std::string& key1, const std::string& key2) {
  OverlayConfig overlay;
  overlay.nodes.resize(2);
  overlay.nodes[0].name = "n1";
  overlay.nodes[0].public_key = key1;
  overlay.nodes[1].name = "n2";
  overlay.nodes[1].public_key = key2;
  return overlay;
}

ListedKey Key(const std::string& key, uint32_t node) {
  return {key, Role::kNode, "n" + std::to_string(node), NodeId(node)};
}

TEST(AccessRosterTest, WithoutKeysNobodyIsListed) {
  AccessRoster roster;
  EXPECT_FALSE(roster.Update(Overlay("", "")));
  EXPECT_THAT(roster.All(), IsEmpty());
  EXPECT_FALSE(roster.OnJoined(NodeId(1), ""));
}

TEST(AccessRosterTest, NodesAndPeopleAreListed) {
  OverlayConfig overlay = Overlay("a", "b");
  overlay.operators.push_back({"ada", "c", {}});
  overlay.observers.push_back({"bob", "d", {}});
  AccessRoster roster;
  EXPECT_TRUE(roster.Update(overlay));
  EXPECT_FALSE(roster.Update(overlay));
  EXPECT_THAT(roster.All(), ElementsAre(Key("a", 1), Key("b", 2), ListedKey{"c", Role::kOperator, "ada", NodeId()},
                                        ListedKey{"d", Role::kObserver, "bob", NodeId()}));
  EXPECT_THAT(roster.OfNodes(), ElementsAre(Key("a", 1), Key("b", 2)));
}

TEST(AccessRosterTest, AFormerKeyCountsUntilItsNodeHasComeWithTheNewOne) {
  AccessRoster roster;
  roster.Update(Overlay("a", "b"));
  EXPECT_TRUE(roster.Update(Overlay("x", "b")));
  EXPECT_THAT(roster.OfNodes(), ElementsAre(Key("x", 1), Key("a", 1), Key("b", 2)));
  EXPECT_FALSE(roster.OnJoined(NodeId(1), "a"));
  EXPECT_FALSE(roster.OnJoined(NodeId(2), "b"));
  EXPECT_TRUE(roster.OnJoined(NodeId(1), "x"));
  EXPECT_THAT(roster.OfNodes(), ElementsAre(Key("x", 1), Key("b", 2)));
  EXPECT_FALSE(roster.OnJoined(NodeId(1), "x"));
}

TEST(AccessRosterTest, AKeyThatAnotherNodeGetsBelongsToThatOneAlone) {
  AccessRoster roster;
  roster.Update(Overlay("a", "b"));
  roster.Update(Overlay("x", "a"));
  EXPECT_THAT(roster.OfNodes(), ElementsAre(Key("x", 1), Key("a", 2), Key("b", 2)));
}

TEST(AccessRosterTest, WhoIsTakenFromTheOverlayIsListedNoMore) {
  OverlayConfig overlay = Overlay("a", "b");
  overlay.operators.push_back({"ada", "c", {}});
  AccessRoster roster;
  roster.Update(overlay);
  overlay.operators.clear();
  EXPECT_TRUE(roster.Update(overlay));
  EXPECT_THAT(roster.All(), ElementsAre(Key("a", 1), Key("b", 2)));
}

}  // namespace
}  // namespace banyan
