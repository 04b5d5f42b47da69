#include "tools/wan_benchmark/contender.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const std::vector<Contender>& contenders) {
  std::vector<std::string> names;
  for (const Contender& contender : contenders) names.push_back(contender.name);
  return names;
}

TEST(ContenderTest, PeersComeByName) {
  absl::StatusOr<PeerChoice> peers = ParsePeers("star,gloo");
  ASSERT_TRUE(peers.ok()) << peers.status();
  EXPECT_TRUE(peers->star);
  EXPECT_TRUE(peers->gloo);
  EXPECT_FALSE(peers->openmpi);
  EXPECT_THAT(std::string(ParsePeers("glo").status().message()), HasSubstr("did you mean 'gloo'?"));
}

TEST(ContenderTest, TheStarsHaveTheBestAndTheMedianHub) {
  const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(Internet2Network());
  ASSERT_TRUE(hubs.ok()) << hubs.status();
  const absl::StatusOr<std::vector<Contender>> contenders = MakeContenders(Internet2Network(), {});
  ASSERT_TRUE(contenders.ok()) << contenders.status();
  EXPECT_EQ((*contenders)[0].root, Internet2Network().NameOf((*hubs)[0]));
  EXPECT_EQ((*contenders)[1].root, Internet2Network().NameOf((*hubs)[4]));
}

TEST(ContenderTest, FeaturesAreAddedOneByOne) {
  const absl::StatusOr<std::vector<Contender>> contenders = MakeContenders(Internet2Network(), {});
  ASSERT_TRUE(contenders.ok()) << contenders.status();
  EXPECT_THAT(
      Names(*contenders),
      ElementsAre("star", "star-median", "fapt-1", "fapt", "awareness", "multipath", "packed-alone", "packed-blind",
                  "packed-wrong", "packed-votes", "packed-majority", "packed", "gloo-ring", "gloo-ring-ordered",
                  "gloo-halving", "gloo-direct", "openmpi", "openmpi-ring", "openmpi-ring-ordered"));
  const Contender& all_on = (*contenders)[11];
  EXPECT_EQ(all_on.planner, "packed");
  EXPECT_TRUE(all_on.awareness && all_on.multipath);
  EXPECT_FALSE((*contenders)[3].awareness);
  EXPECT_THAT((*contenders)[13].ranks, ElementsAre("n3", "n2", "n5", "n7", "n8", "n9", "n6", "n4", "n1"));
  EXPECT_THAT(contenders->back().ranks, ElementsAre("n1", "n4", "n6", "n9", "n8", "n7", "n5", "n2", "n3"));
}

TEST(ContenderTest, SomeAreToldLess) {
  const absl::StatusOr<std::vector<Contender>> contenders = MakeContenders(Internet2Network(), {}, 7);
  ASSERT_TRUE(contenders.ok()) << contenders.status();
  const std::vector<Contender> packed = *SelectContenders(*contenders, "packed-alone,packed-blind,packed-wrong,packed");
  ASSERT_EQ(packed.size(), 4u);
  EXPECT_EQ(packed[0].told.kind, ToldLinks::Kind::kNodes);
  EXPECT_EQ(packed[1].told.kind, ToldLinks::Kind::kNone);
  EXPECT_EQ(packed[2].told, (ToldLinks{ToldLinks::Kind::kWrong, 7}));
  EXPECT_EQ(packed[3].told, ToldLinks());
  for (const Contender& contender : packed) EXPECT_TRUE(contender.awareness && contender.multipath);
}

TEST(ContenderTest, SelectsByName) {
  const absl::StatusOr<std::vector<Contender>> all = MakeContenders(Internet2Network(), {false, false, false});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(Names(*SelectContenders(*all, "packed,fapt")), ElementsAre("fapt", "packed"));
  EXPECT_EQ(SelectContenders(*all, "")->size(), all->size());
  EXPECT_THAT(std::string(SelectContenders(*all, "pakced").status().message()), HasSubstr("did you mean 'packed'?"));
}

std::vector<size_t> AsTheyCome(const NetworkView& view) {
  std::vector<size_t> order(view.nodes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

TEST(RingOrderTest, TheMostLoadedLinkDecides) {
  const NetworkView mesh = CompleteNetwork(4, 30);
  EXPECT_DOUBLE_EQ(RingRateBps(mesh, {0, 1, 2, 3}), 30e6 * 4 / 6);
}

// Over n3 to n4, and round by n2 to n3, so that no link of less than 77 Mbit/s is crossed.
TEST(RingOrderTest, FindsTheRingOfInternet2) {
  const NetworkView view = Internet2Network();
  const std::vector<size_t> order = BestRingOrder(view);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 3, 5, 8, 7, 6, 4, 1, 2));
  EXPECT_DOUBLE_EQ(RingRateBps(view, order), 77e6 * 9 / 16);
  EXPECT_LT(RingRateBps(view, AsTheyCome(view)), 77e6 * 9 / 16 / 2);
}

TEST(RingOrderTest, SwapsMakeLargeRingsNoWorse) {
  const NetworkView view = GeometricNetwork(20, 4, 1);
  EXPECT_GE(RingRateBps(view, BestRingOrder(view)), RingRateBps(view, AsTheyCome(view)));
}

}  // namespace
}  // namespace banyan
