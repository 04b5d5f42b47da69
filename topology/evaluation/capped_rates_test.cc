#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;

constexpr NodeId kA(1), kB(2), kC(3);
using Ends = std::pair<NodeId, NodeId>;

// a carries three quarters, b the rest; nothing between b and c on a's tree, nothing between a and c on b's.
Policy TwoStars() {
  Policy policy;
  policy.members = {kA, kB, kC};
  policy.trees = {Tree{kA, 0.75, {{kB, kA}, {kC, kA}}, {{kB, kA}, {kC, kA}}},
                  Tree{kB, 0.25, {{kA, kB}, {kC, kB}}, {{kA, kB}, {kC, kB}}}};
  return policy;
}

TEST(CappedRatesTest, LinksOfHostsWithoutCapsReachTheirRates) {
  EXPECT_THAT(MakeCappedRates(TwoStars(), CompleteNetwork(3, 10)), IsEmpty());
  EXPECT_THAT(MakeCappedRates(TwoStars(), WithCaps(CompleteNetwork(3, 10), 100, 100)), IsEmpty());
}

TEST(CappedRatesTest, ALinkHasItsPartOfTheTighterCap) {
  // a sends 1 to b and 0.75 to c for each bit of the model, c sends 0.75 to a and 0.25 to b.
  auto rates = MakeCappedRates(TwoStars(), WithCaps(CompleteNetwork(3, 1000), 70, 5000));
  EXPECT_NEAR((rates[Ends(kA, kB)]), 70e6 * 1 / 1.75, 1);
  EXPECT_NEAR((rates[Ends(kA, kC)]), 70e6 * 0.75 / 1.75, 1);
  EXPECT_NEAR((rates[Ends(kC, kA)]), 70e6 * 0.75, 1);
  EXPECT_NEAR((rates[Ends(kC, kB)]), 70e6 / 4, 1);
  // b receives 1 from a and 0.25 from c.
  rates = MakeCappedRates(TwoStars(), WithCaps(CompleteNetwork(3, 1000), 70, 10));
  EXPECT_NEAR((rates[Ends(kA, kB)]), 10e6 * 1 / 1.25, 1);
  EXPECT_NEAR((rates[Ends(kC, kB)]), 10e6 * 0.25 / 1.25, 1);
}

TEST(CappedRatesTest, LinksThatNoTreeUsesAreLeftNothing) {
  Policy policy = TwoStars();
  policy.trees.resize(1);
  policy.trees[0].share = 1;
  auto rates = MakeCappedRates(policy, WithCaps(CompleteNetwork(3, 1000), 70, 70));
  EXPECT_GT(rates.at(Ends(kA, kB)), 0);
  EXPECT_EQ(rates.at(Ends(kB, kC)), 0);
  policy.trees.clear();
  rates = MakeCappedRates(policy, WithCaps(CompleteNetwork(3, 1000), 70, 70));
  EXPECT_EQ(rates.at(Ends(kA, kB)), 0);
}

TEST(CappedRatesTest, ALinkHasItsPartOfWhatItShares) {
  const NetworkView mesh = CompleteNetwork(3, 1000);
  const SharedCapacity shared{50e6, {{kA, kB}, {kC, kA}}};
  const NetworkView view = *NetworkView::Create({mesh.nodes().begin(), mesh.nodes().end()},
                                                {mesh.links().begin(), mesh.links().end()}, {shared});
  auto rates = MakeCappedRates(TwoStars(), view);
  EXPECT_EQ(rates.size(), 2u);
  EXPECT_NEAR((rates[Ends(kA, kB)]), 50e6 * 1 / 1.75, 1);
  EXPECT_NEAR((rates[Ends(kC, kA)]), 50e6 * 0.75 / 1.75, 1);
}

}  // namespace
}  // namespace banyan
