#include "node/scheduler_connections.h"

#include <variant>

#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

constexpr ConnectionId kFirst = kSchedulerConnection;
constexpr ConnectionId kSecond = ConnectionId(kSchedulerConnection.value() + 1);

class SchedulerConnectionsTest : public ::testing::Test {
 protected:
  SchedulerConnections connections_{{"tcp://a:1", "tcp://b:1"}};
};

TEST_F(SchedulerConnectionsTest, OpensOneToEachAddress) {
  Actions actions;
  RejectionLog rejections;
  StepContext step{Timestamp(), actions, rejections};
  connections_.Start(step);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<Connect>(actions[0]).address, "tcp://a:1");
  EXPECT_EQ(std::get<Connect>(actions[1]).connection, kSecond);
  EXPECT_TRUE(connections_.Has(kSecond));
  EXPECT_FALSE(connections_.Has(ConnectionId(kSecond.value() + 1)));
  EXPECT_FALSE(connections_.Has(ConnectionId(0)));
  EXPECT_EQ(connections_.in_use(), std::nullopt);
  EXPECT_EQ(connections_.address(), "tcp://a:1, tcp://b:1");
}

TEST_F(SchedulerConnectionsTest, OpensOneToEachAddressThatItLearns) {
  Actions actions;
  RejectionLog rejections;
  StepContext step{Timestamp(), actions, rejections};
  connections_.OnUp(kFirst);
  EXPECT_EQ(connections_.Learn(step, {"tcp://b:1", "tcp://c:1", "tcp://a:1"}), std::vector<std::string>{"tcp://c:1"});
  ASSERT_EQ(actions.size(), 1u);
  const ConnectionId third(kSecond.value() + 1);
  EXPECT_EQ(std::get<Connect>(actions[0]).connection, third);
  EXPECT_EQ(std::get<Connect>(actions[0]).address, "tcp://c:1");
  EXPECT_TRUE(connections_.IsInUse(kFirst));
  EXPECT_FALSE(connections_.OnDown(kFirst));
  connections_.OnUp(third);
  EXPECT_EQ(connections_.address(), "tcp://c:1");
  std::vector<std::string> many;
  for (size_t i = 0; i < 2 * kMostSchedulers; ++i) many.push_back("tcp://d:" + std::to_string(i));
  EXPECT_EQ(connections_.Learn(step, many).size(), kMostSchedulers - 3);
  EXPECT_EQ(connections_.addresses().size(), kMostSchedulers);
}

TEST_F(SchedulerConnectionsTest, TheOneThatCameUpLastIsInUse) {
  connections_.OnUp(kFirst);
  EXPECT_TRUE(connections_.IsInUse(kFirst));
  connections_.OnUp(kSecond);
  EXPECT_TRUE(connections_.IsInUse(kSecond));
  EXPECT_FALSE(connections_.IsInUse(kFirst));
  EXPECT_EQ(connections_.address(), "tcp://b:1");
}

TEST_F(SchedulerConnectionsTest, AnotherThatIsUpTakesTheirPlace) {
  connections_.OnUp(kFirst);
  connections_.OnUp(kSecond);
  EXPECT_TRUE(connections_.OnDown(kSecond));
  EXPECT_EQ(connections_.in_use(), kFirst);
  EXPECT_FALSE(connections_.OnDown(kFirst));
  EXPECT_EQ(connections_.in_use(), std::nullopt);
}

TEST_F(SchedulerConnectionsTest, TheEndOfOneThatIsNotInUseChangesNothing) {
  connections_.OnUp(kFirst);
  connections_.OnUp(kSecond);
  EXPECT_FALSE(connections_.OnDown(kFirst));
  EXPECT_EQ(connections_.in_use(), kSecond);
}

TEST_F(SchedulerConnectionsTest, SilenceLeadsToAnotherThatIsUp) {
  EXPECT_FALSE(connections_.OnSilence());
  connections_.OnUp(kSecond);
  EXPECT_FALSE(connections_.OnSilence());
  EXPECT_EQ(connections_.in_use(), kSecond);
  connections_.OnUp(kFirst);
  EXPECT_TRUE(connections_.OnSilence());
  EXPECT_EQ(connections_.in_use(), kSecond);
}

}  // namespace
}  // namespace banyan
