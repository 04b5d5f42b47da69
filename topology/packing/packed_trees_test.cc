#include "topology/packing/packed_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

struct Packed {
  CapacityGraph graph;
  TreePacking packing;
  SelectionOptions options;
};

Packed Pack(const NetworkView& view) {
  Packed packed{CapacityGraph(view), {}, {}};
  PackingOptions options{
      .roots = {}, .seeds = {}, .candidates = {}, .accuracy = 1e-3, .work = PackingWork(view.nodes().size())};
  for (size_t root = 0; root < view.nodes().size(); ++root) options.roots.push_back(root);
  packed.packing = PackTrees(packed.graph, options);
  packed.options = {.rate_bps = 0.99 * packed.packing.rate_bps,
                    .delays = std::vector<double>(view.links().size(), 0.1),
                    .work = options.work};
  return packed;
}

std::vector<NetworkView> Networks() {
  return {TriangleNetwork(), Internet2Network(), RandomNetwork(9, 8, 2), HubAndMeshNetwork(4, 100, 5),
          WithCaps(CompleteNetwork(8, 100), 1, 1)};
}

double RateOf(const Selection& selection, Half half) {
  double sum_bps = 0;
  for (size_t i = 0; i < selection.halves.size(); ++i) {
    if (selection.halves[i].half == half) sum_bps += selection.volumes_bps[i];
  }
  return sum_bps;
}

// Of all volume, the mean of its slowest path.
double MeanDelay(const Packed& packed, const std::vector<HalfTree>& halves, const std::vector<double>& volumes_bps) {
  double delay = 0;
  double sum_bps = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    delay += volumes_bps[i] * DelayOfHalf(packed.graph, halves[i], packed.options.delays);
    sum_bps += volumes_bps[i];
  }
  return delay / sum_bps;
}

TEST(SelectHalvesTest, ReachesTheRateWithinCapacity) {
  for (const NetworkView& view : Networks()) {
    const Packed packed = Pack(view);
    const Selection selection = SelectHalves(packed.graph, packed.packing, packed.options);
    EXPECT_GE(RateOf(selection, Half::kReduce), packed.options.rate_bps * (1 - 1e-6));
    EXPECT_NEAR(RateOf(selection, Half::kReduce), RateOf(selection, Half::kBroadcast), 1e-6 * packed.options.rate_bps);
    std::vector<double> loads(packed.graph.capacities_bps().size(), 0);
    for (size_t i = 0; i < selection.halves.size(); ++i) {
      packed.graph.AddLoad(selection.halves[i].links, selection.volumes_bps[i], loads);
    }
    for (size_t i = 0; i < loads.size(); ++i) EXPECT_LE(loads[i], packed.graph.capacities_bps()[i] * (1 + 1e-6));
  }
}

TEST(SelectHalvesTest, FewerAndShallowerThanThePacking) {
  const Packed packed = Pack(Internet2Network());
  const Selection selection = SelectHalves(packed.graph, packed.packing, packed.options);
  const size_t in_use =
      static_cast<size_t>(std::count_if(packed.packing.volumes_bps.begin(), packed.packing.volumes_bps.end(),
                                        [](double volume_bps) { return volume_bps > 0; }));
  EXPECT_LT(selection.halves.size(), in_use);
  EXPECT_LE(MeanDelay(packed, selection.halves, selection.volumes_bps),
            MeanDelay(packed, packed.packing.halves, packed.packing.volumes_bps));
}

TEST(SelectHalvesTest, WithoutWorkItIsThePacking) {
  Packed packed = Pack(Internet2Network());
  packed.options.work = 0;
  const Selection selection = SelectHalves(packed.graph, packed.packing, packed.options);
  EXPECT_NEAR(RateOf(selection, Half::kReduce), packed.packing.rate_bps, 1e-3 * packed.packing.rate_bps);
}

TEST(PairHalvesTest, PairsSumToTheirHalves) {
  const Selection selection{{{Half::kReduce, 0, {}},
                             {Half::kBroadcast, 0, {}},
                             {Half::kReduce, 0, {}},
                             {Half::kBroadcast, 0, {}},
                             {Half::kReduce, 3, {}},
                             {Half::kBroadcast, 3, {}}},
                            {7e6, 4e6, 3e6, 6e6, 5e6, 5e6},
                            {0.2, 0.1, 0.3, 0.2, 0.1, 0.1}};
  const std::vector<HalfPair> pairs = PairHalves(selection);
  EXPECT_EQ(pairs.size(), 4u);
  std::map<size_t, double> sums;
  for (const HalfPair& pair : pairs) {
    EXPECT_EQ(selection.halves[pair.reduce].root, selection.halves[pair.broadcast].root);
    EXPECT_EQ(selection.halves[pair.reduce].half, Half::kReduce);
    EXPECT_EQ(selection.halves[pair.broadcast].half, Half::kBroadcast);
    sums[pair.reduce] += pair.volume_bps;
    sums[pair.broadcast] += pair.volume_bps;
  }
  for (size_t i = 0; i < selection.halves.size(); ++i) EXPECT_NEAR(sums[i], selection.volumes_bps[i], 1);
}

TEST(PairHalvesTest, TheSlowestWithTheFastest) {
  const Selection selection{
      {{Half::kReduce, 0, {}}, {Half::kReduce, 0, {}}, {Half::kBroadcast, 0, {}}, {Half::kBroadcast, 0, {}}},
      {5e6, 5e6, 5e6, 5e6},
      {0.1, 0.4, 0.1, 0.4}};
  const std::vector<HalfPair> pairs = PairHalves(selection);
  ASSERT_EQ(pairs.size(), 2u);
  for (const HalfPair& pair : pairs) {
    EXPECT_NEAR(selection.delays_s[pair.reduce] + selection.delays_s[pair.broadcast], 0.5, 1e-9);
  }
}

TEST(SelectHalvesTest, KnowsTheirSlowestPaths) {
  const Packed packed = Pack(Internet2Network());
  const Selection selection = SelectHalves(packed.graph, packed.packing, packed.options);
  ASSERT_EQ(selection.delays_s.size(), selection.halves.size());
  for (size_t i = 0; i < selection.halves.size(); ++i) {
    EXPECT_EQ(selection.delays_s[i], DelayOfHalf(packed.graph, selection.halves[i], packed.options.delays));
  }
}

}  // namespace
}  // namespace banyan
