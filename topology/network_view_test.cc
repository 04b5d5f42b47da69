#include "topology/network_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace banyan {
namespace {

using ::testing::HasSubstr;

NetworkNode Node(uint32_t id, const std::string& name) { return {NodeId(id), name, {}, {}}; }

NetworkLink Link(uint32_t from, uint32_t to, double bps = 1e6) {
  return {NodeId(from), NodeId(to), bps, absl::Milliseconds(1), 0, LinkSource::kBelieved};
}

NetworkView Chain() {
  return *NetworkView::Create({Node(3, "c"), Node(1, "a"), Node(2, "b")},
                              {Link(3, 2), Link(1, 2, 5e6), Link(2, 1), Link(2, 3)});
}

TEST(NetworkViewTest, SortsNodesAndLinks) {
  const NetworkView view = Chain();
  ASSERT_EQ(view.nodes().size(), 3u);
  EXPECT_EQ(view.nodes()[0].name, "a");
  EXPECT_EQ(view.links()[0].from, NodeId(1));
  EXPECT_EQ(view.links()[3].from, NodeId(3));
}

TEST(NetworkViewTest, FindsNodesAndLinks) {
  const NetworkView view = Chain();
  EXPECT_EQ(view.FindNode(NodeId(2))->name, "b");
  EXPECT_EQ(view.FindNode(NodeId(9)), nullptr);
  EXPECT_EQ(view.FindNodeByName("c")->id, NodeId(3));
  EXPECT_EQ(view.FindNodeByName("x"), nullptr);
  EXPECT_EQ(view.FindLink(NodeId(1), NodeId(2))->throughput_bps, 5e6);
  EXPECT_EQ(view.FindLink(NodeId(1), NodeId(3)), nullptr);
  EXPECT_EQ(view.FindLink(NodeId(9), NodeId(3)), nullptr);
  EXPECT_EQ(view.LinksFrom(NodeId(2)).size(), 2u);
  EXPECT_TRUE(view.LinksFrom(NodeId(9)).empty());
  EXPECT_EQ(view.NameOf(NodeId(9)), "node 9");
}

TEST(NetworkViewTest, RefusesWhatIsNoNetwork) {
  const auto refused = [](std::vector<NetworkNode> nodes, std::vector<NetworkLink> links) {
    return std::string(NetworkView::Create(std::move(nodes), std::move(links)).status().message());
  };
  EXPECT_THAT(refused({Node(1, "a"), Node(1, "b")}, {}), HasSubstr("two nodes have the id 1"));
  EXPECT_THAT(refused({Node(1, "a"), Node(2, "a")}, {}), HasSubstr("two nodes have the name 'a'"));
  const std::vector<NetworkNode> two = {Node(1, "a"), Node(2, "b")};
  EXPECT_THAT(refused(two, {Link(1, 3)}), HasSubstr("unknown node"));
  EXPECT_THAT(refused(two, {Link(1, 1)}), HasSubstr("to itself"));
  EXPECT_THAT(refused(two, {Link(1, 2), Link(1, 2)}), HasSubstr("twice"));
  EXPECT_THAT(refused(two, {Link(1, 2, 0)}), HasSubstr("throughput above 0"));
  EXPECT_THAT(refused(two, {Link(1, 2, std::numeric_limits<double>::infinity())}), HasSubstr("finite"));
  EXPECT_THAT(refused({{NodeId(1), "a", -1.0, {}}}, {}), HasSubstr("caps of node 'a'"));
}

TEST(NetworkViewTest, RestrictKeepsMembersAndTheirLinks) {
  const absl::StatusOr<NetworkView> part = Chain().Restrict({NodeId(1), NodeId(2)});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->nodes().size(), 2u);
  EXPECT_EQ(part->links().size(), 2u);
  EXPECT_FALSE(Chain().Restrict({NodeId(7)}).ok());
}

TEST(NetworkViewTest, ConnectedNeedsBothDirections) {
  EXPECT_TRUE(Chain().CheckConnected().ok());
  const NetworkView one_way = *NetworkView::Create({Node(1, "a"), Node(2, "b")}, {Link(1, 2)});
  EXPECT_THAT(std::string(one_way.CheckConnected().message()), HasSubstr("from 'b' to 'a'"));
  const NetworkView other_way = *NetworkView::Create({Node(1, "a"), Node(2, "b")}, {Link(2, 1)});
  EXPECT_THAT(std::string(other_way.CheckConnected().message()), HasSubstr("from 'a' to 'b'"));
  EXPECT_TRUE(NetworkView().CheckConnected().ok());
}

TEST(NetworkViewTest, KnowsWhatLinksShare) {
  const std::vector<NetworkNode> nodes = {Node(1, "a"), Node(2, "b"), Node(3, "c")};
  const SharedCapacity first{5e6, {{NodeId(2), NodeId(3)}, {NodeId(1), NodeId(2)}, {NodeId(1), NodeId(3)}}};
  const SharedCapacity second{6e6, {{NodeId(2), NodeId(3)}}};
  const SharedCapacity of_none{6e6, {{NodeId(1), NodeId(3)}}};
  const absl::StatusOr<NetworkView> view =
      NetworkView::Create(nodes, {Link(1, 2), Link(2, 1), Link(2, 3), Link(3, 2)}, {first, of_none, second});
  ASSERT_TRUE(view.ok()) << view.status();
  const SharedCapacity without_unknown{5e6, {{NodeId(1), NodeId(2)}, {NodeId(2), NodeId(3)}}};
  EXPECT_THAT(view->shared(), testing::ElementsAre(without_unknown, second));
  EXPECT_THAT(view->SharedBy(0), testing::ElementsAre(0));
  EXPECT_THAT(view->SharedBy(1), testing::IsEmpty());
  EXPECT_THAT(view->SharedBy(2), testing::ElementsAre(0, 1));
  const std::vector<NodeId> members = {NodeId(1), NodeId(2)};
  const absl::StatusOr<NetworkView> restricted = view->Restrict(members);
  ASSERT_TRUE(restricted.ok());
  const SharedCapacity among_members{5e6, {{NodeId(1), NodeId(2)}}};
  EXPECT_THAT(restricted->shared(), testing::ElementsAre(among_members));
}

TEST(NetworkViewTest, RefusesACapacityThatIsNoRate) {
  const std::vector<NetworkNode> nodes = {Node(1, "a"), Node(2, "b"), Node(3, "c")};
  const SharedCapacity nothing{0, {{NodeId(1), NodeId(2)}}};
  EXPECT_EQ(NetworkView::Create(nodes, {Link(1, 2)}, {nothing}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace banyan
