#include "wan/hop_routes.h"

#include <gtest/gtest.h>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using Path = std::vector<size_t>;

TEST(HopRoutesTest, ALinkIsTheRouteHoweverSlowItIs) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 100}, {2, 3, 100}, {1, 3, 1}, {3, 1, 1}});
  const std::vector<Path> routes = HopRoutesFrom(view, 0);
  EXPECT_EQ(routes[0], Path({0}));
  EXPECT_EQ(routes[1], Path({0, 1}));
  EXPECT_EQ(routes[2], Path({0, 2}));
}

TEST(HopRoutesTest, OfEquallyManyHopsTheFasterThenTheLowerWins) {
  const NetworkView faster = SampleNetwork(4, {{1, 2, 10}, {2, 4, 10}, {1, 3, 20}, {3, 4, 10}});
  EXPECT_EQ(HopRoutesFrom(faster, 0)[3], Path({0, 2, 3}));
  const NetworkView equal = SampleNetwork(4, {{1, 3, 10}, {3, 4, 10}, {1, 2, 10}, {2, 4, 10}});
  EXPECT_EQ(HopRoutesFrom(equal, 0)[3], Path({0, 1, 3}));
}

TEST(HopRoutesTest, DirectionsCount) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 3, 10}, {3, 1, 10}});
  EXPECT_EQ(HopRoutesFrom(view, 1)[0], Path({1, 2, 0}));
  EXPECT_TRUE(HopRoutesFrom(SampleNetwork(2, {{1, 2, 10}}), 1)[0].empty());
}

TEST(HopRoutesTest, EveryStepOfInternet2IsALink) {
  const NetworkView view = Internet2Network();
  for (size_t source = 0; source < view.nodes().size(); ++source) {
    const std::vector<Path> routes = HopRoutesFrom(view, source);
    for (size_t to = 0; to < routes.size(); ++to) {
      ASSERT_FALSE(routes[to].empty());
      EXPECT_EQ(routes[to].front(), source);
      EXPECT_EQ(routes[to].back(), to);
      EXPECT_LE(routes[to].size(), 6u);
      for (size_t i = 0; i + 1 < routes[to].size(); ++i) {
        EXPECT_NE(view.FindLink(view.nodes()[routes[to][i]].id, view.nodes()[routes[to][i + 1]].id), nullptr);
      }
    }
  }
}

}  // namespace
}  // namespace banyan
