#include <gtest/gtest.h>

#include <map>
#include <set>

#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

TEST(OverlayFamiliesTest, EveryDrawIsConnectedAndOfTheFamilysSize) {
  const std::map<std::string, size_t> sizes = {{"internet2", 9},       {"cloud9", 9},        {"cloud9_capped", 9},
                                               {"internet2_drawn", 9}, {"mesh_9", 9},        {"hub_and_mesh_4", 5},
                                               {"hub_and_mesh_8", 9},  {"geometric_20", 20}, {"geometric_50", 50},
                                               {"geometric_100", 100}};
  std::map<std::string, size_t> found;
  for (const OverlayFamily& family : OverlayFamilies()) {
    for (uint64_t draw = 1; draw <= family.draws; ++draw) {
      const NetworkView view = family.draw(draw);
      EXPECT_TRUE(view.CheckConnected().ok()) << family.name << " " << draw;
      found[family.name] = view.nodes().size();
    }
  }
  EXPECT_EQ(found, sizes);
}

TEST(OverlayFamiliesTest, DrawsOfAFamilyDiffer) {
  for (const OverlayFamily& family : OverlayFamilies()) {
    std::set<double> sums_bps;
    for (uint64_t draw = 1; draw <= family.draws; ++draw) {
      const NetworkView view = family.draw(draw);
      double sum_bps = 0;
      for (const NetworkLink& link : view.links()) sum_bps += link.throughput_bps;
      sums_bps.insert(sum_bps);
    }
    EXPECT_GT(2 * sums_bps.size(), family.draws) << family.name;
  }
}

TEST(OverlayFamiliesTest, MeshesLinkEveryPair) {
  for (const OverlayFamily& family : OverlayFamilies()) {
    if (family.name != "mesh_9" && family.name != "cloud9") continue;
    EXPECT_EQ(family.draw(1).links().size(), 72u) << family.name;
  }
}

}  // namespace
}  // namespace banyan
