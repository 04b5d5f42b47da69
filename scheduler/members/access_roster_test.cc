#include "scheduler/members/access_roster.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ListedKey Key(const std::string& key, uint32_t node) {
  return {key, Role::kNode, "n" + std::to_string(node), NodeId(node)};
}

Membership::Options TwoNodes() {
  Membership::Options options;
  options.job = "job";
  options.names = {"n1", "n2"};
  options.start_with = 1;
  return options;
}

class AccessRosterTest : public testing::Test {
 protected:
  AccessRosterTest() {
    overlay_.nodes.resize(2);
    overlay_.nodes[0].name = "n1";
    overlay_.nodes[1].name = "n2";
  }

  bool List(const std::string& key1, const std::string& key2) {
    overlay_.nodes[0].public_key = key1;
    overlay_.nodes[1].public_key = key2;
    return Update();
  }
  bool Update() { return roster_.Update(overlay_, members_); }
  static Join JoinOf(uint64_t incarnation) {
    Join join;
    join.name = "n1";
    join.address = "tcp://10.0.0.1:7701";
    join.incarnation = Incarnation(incarnation);
    return join;
  }
  // n1 comes with this key, and the job begins with it alone.
  void Start(const std::string& key) {
    members_.Join(Timestamp(), ConnectionId(11), JoinOf(1), key);
    members_.Start(Epoch(1));
  }

  OverlayConfig overlay_;
  Membership members_{TwoNodes()};
  AccessRoster roster_;
};

TEST_F(AccessRosterTest, WithoutKeysNobodyIsListed) {
  EXPECT_FALSE(List("", ""));
  Start("");
  EXPECT_FALSE(Update());
  EXPECT_THAT(roster_.All(), IsEmpty());
}

TEST_F(AccessRosterTest, NodesAndPeopleAreListed) {
  overlay_.operators.push_back({"ada", "c", {}});
  overlay_.observers.push_back({"bob", "d", {}});
  EXPECT_TRUE(List("a", "b"));
  EXPECT_FALSE(Update());
  EXPECT_THAT(roster_.All(), ElementsAre(Key("a", 1), Key("b", 2), ListedKey{"c", Role::kOperator, "ada", NodeId()},
                                         ListedKey{"d", Role::kObserver, "bob", NodeId()}));
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("a", 1), Key("b", 2)));
  overlay_.operators.clear();
  EXPECT_TRUE(Update());
  EXPECT_THAT(roster_.All(), ElementsAre(Key("a", 1), Key("b", 2), ListedKey{"d", Role::kObserver, "bob", NodeId()}));
}

TEST_F(AccessRosterTest, AFormerKeyCountsUntilItsNodeHasComeWithTheNewOne) {
  List("a", "b");
  Start("a");
  EXPECT_FALSE(Update());
  EXPECT_TRUE(List("x", "y"));
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("x", 1), Key("a", 1), Key("y", 2))) << "n2 was never let in";
  EXPECT_TRUE(roster_.HasFormer(NodeId(1)));
  EXPECT_FALSE(roster_.HasFormer(NodeId(2)));
  EXPECT_TRUE(List("z", "y"));
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("z", 1), Key("a", 1), Key("y", 2))) << "x was never used";
  members_.Expel(NodeId(1));
  members_.Admit(Timestamp(), ConnectionId(12), JoinOf(2), "z", Epoch(2), 0);
  EXPECT_TRUE(Update());
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("z", 1), Key("y", 2)));
}

TEST_F(AccessRosterTest, AFormerKeyEndsWithTheStartThatWasLetInWithIt) {
  List("a", "b");
  Start("a");
  List("x", "b");
  members_.Expel(NodeId(1));
  EXPECT_TRUE(Update());
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("x", 1), Key("b", 2)));
}

TEST_F(AccessRosterTest, NoKeyOfARemovedNodeIsListed) {
  List("a", "b");
  Start("a");
  List("x", "b");
  members_.SetRemoved(NodeId(1), true);
  EXPECT_TRUE(Update());
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("b", 2)));
  members_.Expel(NodeId(1));
  members_.SetRemoved(NodeId(1), false);
  EXPECT_TRUE(Update());
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("x", 1), Key("b", 2)));
}

TEST_F(AccessRosterTest, AKeyThatAnotherOneGetsBelongsToThatOneAlone) {
  List("a", "b");
  Start("a");
  List("x", "a");
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("x", 1), Key("a", 2)));
  overlay_.operators.push_back({"ada", "a", {}});
  List("x", "b");
  EXPECT_THAT(roster_.OfNodes(), ElementsAre(Key("x", 1), Key("b", 2)));
}

}  // namespace
}  // namespace banyan
