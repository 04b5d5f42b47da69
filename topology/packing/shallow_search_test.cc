#include "topology/packing/shallow_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/random.h"
#include "topology/packing/packed_trees.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

void SetCosts(const std::vector<double>& costs, ShallowSearch& search) {
  for (size_t link = 0; link < costs.size(); ++link) search.SetCost(link, costs[link]);
}

// In levels.
double DepthOf(const CapacityGraph& graph, const HalfTree& half) {
  return DelayOfHalf(graph, half, std::vector<double>(graph.links().size(), 1));
}

// The links of the graph that fulfil a condition cost `one`, the others `other`.
template <typename Condition>
std::vector<double> Costs(const CapacityGraph& graph, Condition condition, double one, double other) {
  std::vector<double> costs;
  for (const Arc& link : graph.links()) costs.push_back(condition(link) ? one : other);
  return costs;
}

TEST(ShallowSearchTest, AmongEqualLinksItIsAStar) {
  const CapacityGraph graph(CompleteNetwork(7, 1));
  ShallowSearch search(graph, 2);
  SetCosts(std::vector<double>(graph.links().size(), 2.0), search);
  for (const Half half : {Half::kReduce, Half::kBroadcast}) {
    for (size_t root = 0; root < 7; ++root) {
      ASSERT_TRUE(search.Find(half, root));
      EXPECT_EQ(search.cost(), 12);
      EXPECT_EQ(search.half().root, root);
      EXPECT_EQ(DepthOf(graph, search.half()), 1);
    }
  }
}

TEST(ShallowSearchTest, GoesOverTheHubWhoseLinksAreCheap) {
  const CapacityGraph graph(CompleteNetwork(7, 1));
  ShallowSearch search(graph, 2);
  SetCosts(Costs(
               graph, [](const Arc& link) { return link.from == 3 || link.to == 3; }, 1, 10),
           search);
  for (const Half half : {Half::kReduce, Half::kBroadcast}) {
    ASSERT_TRUE(search.Find(half, 0));
    EXPECT_EQ(search.cost(), 6);
    EXPECT_EQ(DepthOf(graph, search.half()), 2);
  }
}

// A chain of cheap links, the others dear.
TEST(ShallowSearchTest, HasAsManyLevelsAsItMay) {
  const CapacityGraph graph(CompleteNetwork(5, 1));
  const auto is_next = [](const Arc& link) { return link.from == link.to + 1 || link.to == link.from + 1; };
  for (const size_t levels : {2, 3}) {
    ShallowSearch search(graph, levels);
    SetCosts(Costs(graph, is_next, 1, 10), search);
    ASSERT_TRUE(search.Find(Half::kReduce, 0));
    EXPECT_LE(DepthOf(graph, search.half()), static_cast<double>(levels));
  }
}

TEST(ShallowSearchTest, ADearServerServesFewer) {
  const CapacityGraph graph(CompleteNetwork(7, 1));
  ShallowSearch search(graph, 2);
  SetCosts(Costs(
               graph, [](const Arc& link) { return link.from == 3 || link.to == 3; }, 1, 2),
           search);
  search.SetServingCost(Half::kBroadcast, 3, 50);
  ASSERT_TRUE(search.Find(Half::kReduce, 0));
  EXPECT_EQ(search.cost(), 6);
  ASSERT_TRUE(search.Find(Half::kBroadcast, 0));
  EXPECT_EQ(search.cost(), 11);
}

TEST(ShallowSearchTest, NeedsTwoLevelsOfUsableLinks) {
  const CapacityGraph graph(CompleteNetwork(4, 1));
  ShallowSearch search(graph, 2);
  EXPECT_FALSE(search.Find(Half::kReduce, 0));
  // A chain.
  const auto is_next = [](const Arc& link) { return link.from == link.to + 1 || link.to == link.from + 1; };
  SetCosts(Costs(graph, is_next, 1, kInfinite), search);
  EXPECT_FALSE(search.Find(Half::kReduce, 0));
  EXPECT_TRUE(search.Find(Half::kReduce, 1));
}

// Against the cheapest of all trees, which a deeper one may be.
TEST(ShallowSearchTest, CostsWhatItSaysAndNoLessThanTheCheapest) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const CapacityGraph graph(RandomNetwork(8, 6, random.Next()));
    std::vector<double> costs;
    for (size_t link = 0; link < graph.links().size(); ++link) costs.push_back(1 + 9 * random.Unit());
    for (const size_t levels : {2, 4}) {
      ShallowSearch search(graph, levels);
      SetCosts(costs, search);
      for (const Half half : {Half::kReduce, Half::kBroadcast}) {
        if (!search.Find(half, 0)) continue;
        ArborescenceFinder cheapest(graph.nodes(), graph.links(), half);
        cheapest.Search(costs);
        double sum = 0;
        for (const size_t link : search.half().links) sum += costs[link];
        EXPECT_EQ(search.half().links.size(), 7u);
        EXPECT_NEAR(search.cost(), sum, 1e-9);
        EXPECT_GE(sum, cheapest.Cost(0) - 1e-9);
        EXPECT_LE(sum, 2.5 * cheapest.Cost(0));
        EXPECT_LE(DepthOf(graph, search.half()), static_cast<double>(levels));
      }
    }
  }
}

}  // namespace
}  // namespace banyan
