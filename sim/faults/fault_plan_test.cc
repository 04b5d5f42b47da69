#include "sim/faults/fault_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::UnorderedElementsAre;

FaultPlanOptions FiveNodes(const std::vector<FaultKind>& kinds) {
  FaultPlanOptions options;
  options.kinds = kinds;
  options.workers = {1, 2, 1, 1, 2};
  options.links = {{NodeId(1), NodeId(2)}, {NodeId(2), NodeId(1)}, {NodeId(2), NodeId(5)}};
  options.faults = 12;
  return options;
}

TEST(FaultPlanTest, AllKindsHappenInOrderWithinTheirTimes) {
  const FaultPlanOptions options = FiveNodes(AllFaultKinds());
  std::map<FaultKind, int> kinds;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::vector<Fault> faults = DrawFaults(options, &random);
    EXPECT_TRUE(
        std::is_sorted(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; }));
    std::set<NodeId> away;
    for (const Fault& fault : faults) {
      ++kinds[fault.kind];
      EXPECT_LE(fault.at, options.last);
      EXPECT_GT(fault.lasts, absl::ZeroDuration());
      EXPECT_LE(fault.node, NodeId(5));
      EXPECT_FALSE(DescribeFault(fault).empty());
      if (fault.is_for_good || fault.kind == FaultKind::kLateStart) away.insert(fault.node);
      if (fault.kind == FaultKind::kKillWorker) {
        EXPECT_LT(static_cast<int>(fault.worker.value()), options.workers[fault.node.value() - 1]);
      }
    }
    EXPECT_LE(away.size(), 1u);
  }
  EXPECT_EQ(kinds.size(), AllFaultKinds().size());
}

TEST(FaultPlanTest, TransientFaultsAreShorterTogetherThanTheSilenceThatEndsAPeer) {
  const FaultPlanOptions options = FiveNodes(TransientFaultKinds());
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    absl::Duration all;
    for (const Fault& fault : DrawFaults(options, &random)) {
      all += fault.lasts;
      EXPECT_LT(fault.kind, FaultKind::kKillNode);
    }
    EXPECT_LT(all, options.longest_in_all + absl::Milliseconds(20));
  }
}

TEST(FaultPlanTest, NobodyLeavesForGoodWhoConnectsTheOthers) {
  FaultPlanOptions options = FiveNodes({FaultKind::kLeave});
  options.links.clear();
  for (const uint32_t leaf : {1, 3, 4, 5}) options.links.push_back({NodeId(2), NodeId(leaf)});
  for (const uint32_t leaf : {1, 3, 4, 5}) options.links.push_back({NodeId(leaf), NodeId(2)});
  std::set<NodeId> gone;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    for (const Fault& fault : DrawFaults(options, &random)) {
      if (fault.is_for_good) gone.insert(fault.node);
    }
  }
  EXPECT_THAT(gone, UnorderedElementsAre(NodeId(1), NodeId(3), NodeId(4), NodeId(5)));
}

TEST(FaultPlanTest, TheSameSeedGivesTheSameFaults) {
  const auto text = [](uint64_t seed) {
    Random random(seed);
    std::string all;
    for (const Fault& fault : DrawFaults(FiveNodes(AllFaultKinds()), &random)) all += DescribeFault(fault) + "\n";
    return all;
  };
  EXPECT_EQ(text(3), text(3));
  EXPECT_NE(text(3), text(4));
}

}  // namespace
}  // namespace banyan
