#include "topology/packing/arborescence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

struct Sample {
  size_t nodes = 0;
  std::vector<Arc> links;
  std::vector<double> costs;
};

// A cycle through all nodes and random links beside it. Few different costs make many ties.
Sample RandomSample(Random& random, size_t nodes, size_t links, uint64_t different_costs) {
  Sample sample{nodes, {}, {}};
  for (size_t i = 0; i < nodes; ++i) sample.links.push_back({i, (i + 1) % nodes});
  for (size_t tries = 0; sample.links.size() < links && tries < 100 * links; ++tries) {
    const Arc link{random.Below(nodes), random.Below(nodes)};
    const bool known = std::any_of(sample.links.begin(), sample.links.end(), [&link](const Arc& other) {
      return other.from == link.from && other.to == link.to;
    });
    if (link.from != link.to && !known) sample.links.push_back(link);
  }
  for (size_t i = 0; i < sample.links.size(); ++i) {
    sample.costs.push_back(static_cast<double>(random.Below(different_costs)));
  }
  return sample;
}

double CostOf(const Sample& sample, const std::vector<size_t>& links) {
  return std::accumulate(links.begin(), links.end(), 0.0,
                         [&sample](double sum, size_t link) { return sum + sample.costs[link]; });
}

// Whether every node but the root has one link on its side, and all lead to the root.
bool Spans(const Sample& sample, const std::vector<size_t>& links, size_t root, Half half) {
  std::vector<size_t> next(sample.nodes, sample.nodes);
  for (const size_t link : links) {
    const Arc& arc = sample.links[link];
    const size_t outer = half == Half::kReduce ? arc.from : arc.to;
    if (outer == root || next[outer] != sample.nodes) return false;
    next[outer] = half == Half::kReduce ? arc.to : arc.from;
  }
  for (size_t node = 0; node < sample.nodes; ++node) {
    size_t at = node;
    for (size_t steps = 0; at != root; ++steps) {
      if (steps == sample.nodes || next[at] == sample.nodes) return false;
      at = next[at];
    }
  }
  return true;
}

// Tries every choice of one link per node.
double CheapestByForce(const Sample& sample, size_t root, Half half) {
  std::vector<std::vector<size_t>> choices(sample.nodes);
  for (size_t i = 0; i < sample.links.size(); ++i) {
    choices[half == Half::kReduce ? sample.links[i].from : sample.links[i].to].push_back(i);
  }
  double cheapest = std::numeric_limits<double>::infinity();
  std::vector<size_t> chosen;
  const auto choose = [&](auto& self, size_t node) -> void {
    if (node == sample.nodes) {
      if (Spans(sample, chosen, root, half)) cheapest = std::min(cheapest, CostOf(sample, chosen));
      return;
    }
    if (node == root) return self(self, node + 1);
    for (const size_t link : choices[node]) {
      chosen.push_back(link);
      self(self, node + 1);
      chosen.pop_back();
    }
  };
  choose(choose, 0);
  return cheapest;
}

void ExpectSpanning(const Sample& sample, const ArborescenceFinder& finder, size_t root, Half half) {
  const std::vector<size_t> links = finder.Links(root);
  EXPECT_EQ(links.size(), sample.nodes - 1);
  EXPECT_TRUE(std::is_sorted(links.begin(), links.end()));
  EXPECT_TRUE(Spans(sample, links, root, half));
  EXPECT_NEAR(CostOf(sample, links), finder.Cost(root), 1e-9 * (1 + finder.Cost(root)));
}

TEST(ArborescenceTest, IsAsCheapAsTheCheapestOfAll) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const size_t nodes = 2 + random.Below(4);
    const Sample sample = RandomSample(random, nodes, nodes + random.Below(7), i % 2 == 0 ? 4 : 1000);
    for (const Half half : {Half::kReduce, Half::kBroadcast}) {
      ArborescenceFinder finder(nodes, sample.links, half);
      finder.Search(sample.costs);
      for (size_t root = 0; root < nodes; ++root) {
        EXPECT_NEAR(finder.Cost(root), CheapestByForce(sample, root, half), 1e-9);
        ExpectSpanning(sample, finder, root, half);
      }
    }
  }
}

// Every arborescence enters every node but its root once, so what all links that enter a node cost more moves all
// costs by as much.
TEST(ArborescenceTest, CostsOfAWholeCutMoveEveryArborescence) {
  Random random(2);
  for (const size_t nodes : {20, 60, 200}) {
    Sample sample = RandomSample(random, nodes, 6 * nodes, 1000);
    ArborescenceFinder finder(nodes, sample.links, Half::kBroadcast);
    finder.Search(sample.costs);
    std::vector<double> before;
    for (size_t root = 0; root < nodes; ++root) {
      ExpectSpanning(sample, finder, root, Half::kBroadcast);
      before.push_back(finder.Cost(root));
    }
    const size_t node = random.Below(nodes);
    for (size_t i = 0; i < sample.links.size(); ++i) {
      if (sample.links[i].to == node) sample.costs[i] += 500;
    }
    finder.Search(sample.costs);
    for (size_t root = 0; root < nodes; ++root) {
      EXPECT_NEAR(finder.Cost(root), before[root] + (root == node ? 0 : 500), 1e-6);
    }
  }
}

// Let sets S of nodes charge costs y(S) to whoever enters them, for no link more than it costs. Then an arborescence
// that pays each set once is proven to be the cheapest. Here links are made so that a planted one is proven that way.
TEST(ArborescenceTest, FindsThePlantedArborescence) {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const size_t nodes = 30;
    Sample sample = RandomSample(random, nodes, 200, 1);
    // Nested sets: the nodes from `first` on; the cycle's links from a node to the next enter each of them once.
    std::vector<double> charge(nodes);
    for (double& y : charge) y = static_cast<double>(random.Below(50));
    double planted = 0;
    for (size_t link = 0; link < sample.links.size(); ++link) {
      const auto [from, to] = sample.links[link];
      double paid = 0;
      for (size_t first = from + 1; first <= to; ++first) paid += charge[first];
      const bool is_planted = to == from + 1;
      sample.costs[link] = paid + (is_planted ? 0 : static_cast<double>(random.Below(10)));
      if (is_planted) planted += paid;
    }
    ArborescenceFinder finder(nodes, sample.links, Half::kBroadcast);
    finder.Search(sample.costs);
    EXPECT_NEAR(finder.Cost(0), planted, 1e-9);
  }
}

TEST(ArborescenceTest, ALoneNodeNeedsNoLinks) {
  ArborescenceFinder finder(1, {}, Half::kReduce);
  finder.Search({});
  EXPECT_EQ(finder.Cost(0), 0);
  EXPECT_TRUE(finder.Links(0).empty());
}

TEST(ArborescenceTest, ASecondSearchForgetsTheFirst) {
  Random random(4);
  const Sample sample = RandomSample(random, 12, 60, 100);
  ArborescenceFinder fresh(12, sample.links, Half::kReduce);
  fresh.Search(sample.costs);
  ArborescenceFinder used(12, sample.links, Half::kReduce);
  used.Search(std::vector<double>(60, 7.0));
  used.Search(sample.costs);
  for (size_t root = 0; root < 12; ++root) EXPECT_EQ(used.Links(root), fresh.Links(root));
}

}  // namespace
}  // namespace banyan
