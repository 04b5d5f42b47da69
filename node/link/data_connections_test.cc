#include "node/link/data_connections.h"

#include <optional>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr ConnectionId kFirst(20), kSecond(21), kThird(22);
constexpr ConnectionId kUnknown(99);

class DataConnectionsTest : public ::testing::Test {
 protected:
  void AllUp() {
    for (const ConnectionId id : {kFirst, kSecond, kThird}) connections_.OnUp(id);
  }

  DataConnections connections_{{kFirst, kSecond, kThird}};
};

TEST_F(DataConnectionsTest, AreDownAtFirst) {
  EXPECT_FALSE(connections_.is_up());
  EXPECT_FALSE(connections_.was_up());
  EXPECT_EQ(connections_.LeastLoaded(3), std::nullopt);
  EXPECT_EQ(connections_.Idle(), std::nullopt);
}

TEST_F(DataConnectionsTest, RememberThatTheyWereUp) {
  connections_.OnUp(kSecond);
  EXPECT_TRUE(connections_.is_up());
  connections_.OnDown(kSecond);
  EXPECT_FALSE(connections_.is_up());
  EXPECT_TRUE(connections_.was_up());
}

TEST_F(DataConnectionsTest, IgnoreIdsOfOtherLinks) {
  connections_.OnUp(kUnknown);
  EXPECT_FALSE(connections_.was_up());
  connections_.OnUp(kFirst);
  connections_.OnDown(kUnknown);
  EXPECT_TRUE(connections_.is_up());
  EXPECT_EQ(connections_.in_flight_bytes(kUnknown), 0);
  EXPECT_EQ(DataConnections({}).LeastLoaded(1), std::nullopt);
}

TEST_F(DataConnectionsTest, TheLeastLoadedIsUsedAndOfEqualsTheFirst) {
  AllUp();
  EXPECT_EQ(connections_.LeastLoaded(3), kFirst);
  connections_.Add(kFirst, 10);
  EXPECT_EQ(connections_.LeastLoaded(3), kSecond);
  connections_.Add(kSecond, 9);
  connections_.Add(kThird, 11);
  EXPECT_EQ(connections_.LeastLoaded(3), kSecond);
  connections_.Add(kSecond, 1);
  EXPECT_EQ(connections_.LeastLoaded(3), kFirst);
  connections_.Remove(kThird, 11);
  EXPECT_EQ(connections_.LeastLoaded(3), kThird);
}

TEST_F(DataConnectionsTest, OnlyTheFirstThatAreUpAreUsed) {
  AllUp();
  connections_.Add(kFirst, 10);
  EXPECT_EQ(connections_.LeastLoaded(1), kFirst);
  connections_.Add(kSecond, 20);
  EXPECT_EQ(connections_.LeastLoaded(2), kFirst);
  connections_.OnDown(kFirst);
  EXPECT_EQ(connections_.LeastLoaded(1), kSecond);
  EXPECT_EQ(connections_.LeastLoaded(2), kThird);
}

TEST_F(DataConnectionsTest, AnOvertakenOneIsUsedOnlyWithoutAnother) {
  AllUp();
  connections_.Overtake(kFirst);
  EXPECT_EQ(connections_.LeastLoaded(1), kSecond);
  connections_.OnDown(kSecond);
  connections_.OnDown(kThird);
  EXPECT_EQ(connections_.LeastLoaded(1), kFirst);
  connections_.OnDown(kFirst);
  EXPECT_EQ(connections_.LeastLoaded(1), std::nullopt);
}

TEST_F(DataConnectionsTest, AnOvertakenOneRecoversWithItsLastChunk) {
  AllUp();
  connections_.Overtake(kFirst);
  connections_.Overtake(kFirst);
  connections_.Recover(kFirst);
  EXPECT_EQ(connections_.LeastLoaded(3), kSecond);
  connections_.Recover(kFirst);
  EXPECT_EQ(connections_.LeastLoaded(3), kFirst);
}

TEST_F(DataConnectionsTest, ADistrustedOneIsUsedOnlyWithoutAnother) {
  AllUp();
  connections_.SetTrusted(kFirst, false);
  EXPECT_EQ(connections_.LeastLoaded(1), kSecond);
  EXPECT_EQ(connections_.Idle(), kSecond);
  connections_.OnDown(kSecond);
  connections_.OnDown(kThird);
  EXPECT_EQ(connections_.LeastLoaded(1), kFirst);
  EXPECT_EQ(connections_.Idle(), std::nullopt);
  connections_.SetTrusted(kFirst, true);
  EXPECT_EQ(connections_.Idle(), kFirst);
}

TEST_F(DataConnectionsTest, ADistrustedOneThatWasMadeAnewIsTrusted) {
  connections_.OnUp(kFirst);
  connections_.SetTrusted(kFirst, false);
  connections_.OnDown(kFirst);
  connections_.OnUp(kFirst);
  EXPECT_EQ(connections_.Idle(), kFirst);
}

TEST_F(DataConnectionsTest, AnIdleOneIsUpAndCarriesNothing) {
  connections_.OnUp(kSecond);
  connections_.OnUp(kThird);
  EXPECT_EQ(connections_.Idle(), kSecond);
  connections_.Add(kSecond, 1);
  EXPECT_EQ(connections_.Idle(), kThird);
  connections_.Add(kThird, 5);
  EXPECT_EQ(connections_.Idle(), std::nullopt);
  connections_.Remove(kThird, 5);
  EXPECT_EQ(connections_.Idle(), kThird);
}

TEST_F(DataConnectionsTest, ClearForgetsWhatTheyCarryAndKeepsThemUp) {
  connections_.OnUp(kSecond);
  connections_.Add(kSecond, 7);
  connections_.Overtake(kSecond);
  connections_.Clear();
  EXPECT_EQ(connections_.in_flight_bytes(kSecond), 0);
  EXPECT_EQ(connections_.Idle(), kSecond);
  connections_.OnUp(kThird);
  EXPECT_EQ(connections_.LeastLoaded(1), kSecond);
}

}  // namespace
}  // namespace banyan
