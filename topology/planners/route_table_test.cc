#include "topology/planners/route_table.h"

#include <gtest/gtest.h>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

std::vector<NodeId> Path(std::initializer_list<uint32_t> ids) {
  std::vector<NodeId> path;
  for (const uint32_t id : ids) path.emplace_back(id);
  return path;
}

TEST(RouteTableTest, ALinkIsTakenHoweverSlow) {
  const NetworkView view = TriangleNetwork();
  RouteTable routes(&view);
  EXPECT_EQ(routes.Find(NodeId(1), NodeId(3)).path, Path({1, 3}));
  EXPECT_DOUBLE_EQ(routes.Delay(NodeId(1), NodeId(3)), 1 / 4.9e6);
}

TEST(RouteTableTest, OtherwiseTheFastestPathHoweverLong) {
  const NetworkView view = SampleNetwork(5, {{1, 2, 1}, {2, 5, 1}, {1, 3, 9}, {3, 4, 9}, {4, 5, 9}});
  RouteTable routes(&view);
  EXPECT_EQ(routes.Find(NodeId(1), NodeId(5)).path, Path({1, 3, 4, 5}));
  EXPECT_DOUBLE_EQ(routes.Delay(NodeId(1), NodeId(5)), 3 / 9e6);
}

TEST(RouteTableTest, OfEquallyFastPathsTheLowerIds) {
  const NetworkView view = SampleNetwork(4, {{1, 3, 2}, {3, 4, 2}, {1, 2, 2}, {2, 4, 2}});
  RouteTable routes(&view);
  EXPECT_EQ(routes.Find(NodeId(1), NodeId(4)).path, Path({1, 2, 4}));
}

TEST(RouteTableTest, RoutesSayTheirEnds) {
  const NetworkView view = Internet2Network();
  RouteTable routes(&view);
  const Route route = routes.Find(NodeId(1), NodeId(9));
  EXPECT_EQ(route.from, NodeId(1));
  EXPECT_EQ(route.to, NodeId(9));
  EXPECT_EQ(route.path, Path({1, 3, 4, 6, 9}));
}

}  // namespace
}  // namespace banyan
