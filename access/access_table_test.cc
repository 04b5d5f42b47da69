#include "access/access_table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AccessTableTest : public testing::Test {
 protected:
  AccessTableTest() {
    table_.Replace({{"k1", Role::kNode, "n1", NodeId(1)},
                    {"k2", Role::kNode, "n2", NodeId(2)},
                    {"old2", Role::kNode, "n2", NodeId(2)},
                    {"op", Role::kOperator, "ada", NodeId()},
                    {"eye", Role::kObserver, "bob", NodeId()}});
  }

  std::string Fault(const std::string& key, const Message& message) {
    const absl::Status status = table_.Check(key, message);
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status));
    return std::string(status.message());
  }

  static Join JoinAs(const std::string& name) {
    Join join;
    join.name = name;
    return join;
  }
  static PeerHello HelloOf(uint32_t node) {
    PeerHello hello;
    hello.node = NodeId(node);
    return hello;
  }

  AccessTable table_;
};

TEST_F(AccessTableTest, KeysHaveOwners) {
  EXPECT_EQ(table_.Find("k2")->name, "n2");
  EXPECT_EQ(table_.Find("old2")->node, NodeId(2));
  EXPECT_EQ(table_.Find("stranger"), nullptr);
  EXPECT_THAT(table_.KeysOf("n2"), ElementsAre("k2", "old2"));
  EXPECT_THAT(table_.KeysOf("ada"), IsEmpty());
}

TEST_F(AccessTableTest, ANodeSpeaksAsItselfAlone) {
  EXPECT_EQ(Fault("k1", JoinAs("n1")), "");
  EXPECT_EQ(Fault("old2", JoinAs("n2")), "");
  EXPECT_THAT(Fault("k1", JoinAs("n2")), HasSubstr("the key of node 'n1': it joins as 'n2'"));
  EXPECT_EQ(Fault("k1", HelloOf(1)), "");
  EXPECT_THAT(Fault("k1", HelloOf(2)), HasSubstr("it says that it is node 2, and it is node 1"));
  EXPECT_EQ(Fault("k1", Heartbeat{}), "");
  EXPECT_EQ(Fault("k1", StatusRequest{}), "");
}

TEST_F(AccessTableTest, OnlyOperatorsGiveOrders) {
  for (const Message& order :
       {Message(Reconfigure{}), Message(StopJob{}), Message(RemoveNode{}), Message(VetoLowBit{})}) {
    EXPECT_EQ(Fault("op", order), "");
    EXPECT_THAT(Fault("k1", order), HasSubstr("only operators"));
    EXPECT_THAT(Fault("eye", order), HasSubstr("an observer may ask for the status and for traces"));
  }
  EXPECT_EQ(Fault("op", StatusRequest{}), "");
  EXPECT_EQ(Fault("eye", StatusRequest{}), "");
  EXPECT_EQ(Fault("op", TraceRounds{}), "");
  EXPECT_EQ(Fault("eye", TraceRounds{}), "");
}

TEST_F(AccessTableTest, PeopleAreNoNodes) {
  for (const char* key : {"op", "eye"}) {
    EXPECT_NE(Fault(key, JoinAs("n1")), "");
    EXPECT_NE(Fault(key, HelloOf(1)), "");
    EXPECT_NE(Fault(key, Heartbeat{}), "");
  }
}

TEST_F(AccessTableTest, AKeyThatIsListedNoMoreSaysNothing) {
  table_.Replace({{"k1", Role::kNode, "n1", NodeId(1)}});
  EXPECT_EQ(Fault("k1", JoinAs("n1")), "");
  EXPECT_THAT(Fault("op", StatusRequest{}), HasSubstr("not listed any more"));
}

}  // namespace
}  // namespace banyan
