#include "compression/control/budget_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/random.h"

namespace banyan {
namespace {

// 8 Mbit/s are 1 MB/s, so a load of 1 MB takes a second at 8 Mbit/s.
constexpr int64_t kMegabyte = 1'000'000;
constexpr double kMegabytePerSecond = 8e6;

std::vector<LinkShare> Share(const std::vector<BudgetedLink>& links, double budget_seconds,
                             double least_ratio = 0.001) {
  const auto shares = ShareBudget(links, absl::Seconds(budget_seconds), least_ratio);
  EXPECT_TRUE(shares.ok()) << shares.status();
  return *shares;
}

// The time of the path that begins with `link`, as the header has it.
double PathSeconds(const std::vector<BudgetedLink>& links, const std::vector<LinkShare>& shares, size_t link) {
  double seconds = 0;
  double slowest = 0;
  for (std::optional<int64_t> at = static_cast<int64_t>(link); at.has_value(); at = links[*at].next) {
    const BudgetedLink& here = links[*at];
    const double all = shares[*at].ratio * static_cast<double>(here.load_bytes) * 8 / here.rate_bps;
    const double first = shares[*at].ratio * static_cast<double>(here.first_bytes) * 8 / here.rate_bps;
    seconds += absl::ToDoubleSeconds(here.delay) + first;
    slowest = std::max(slowest, all - first);
  }
  return seconds + slowest;
}

TEST(BudgetShareTest, LinksOfAStarHaveTheBudgetForThemselves) {
  const std::vector<BudgetedLink> star = {{.rate_bps = 0.1 * kMegabytePerSecond, .load_bytes = kMegabyte},
                                          {.rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte},
                                          {.rate_bps = 10 * kMegabytePerSecond, .load_bytes = kMegabyte}};
  const std::vector<LinkShare> shares = Share(star, 0.5);
  EXPECT_NEAR(shares[0].ratio, 0.05, 1e-9);
  EXPECT_NEAR(shares[1].ratio, 0.5, 1e-9);
  EXPECT_EQ(shares[2].ratio, 1);  // needs a fifth of the budget
  EXPECT_NEAR(absl::ToDoubleSeconds(shares[0].duration), 0.5, 1e-9);
  EXPECT_NEAR(absl::ToDoubleSeconds(shares[2].duration), 0.1, 1e-9);
}

TEST(BudgetShareTest, DelaysComeOffTheBudget) {
  const std::vector<BudgetedLink> chain = {
      {.next = 1, .rate_bps = kMegabytePerSecond, .delay = absl::Milliseconds(50), .load_bytes = kMegabyte},
      {.rate_bps = kMegabytePerSecond, .delay = absl::Milliseconds(150), .load_bytes = kMegabyte}};
  // Pipelined without a gap: both links send at the same time.
  for (const LinkShare& share : Share(chain, 0.5)) EXPECT_NEAR(share.ratio, 0.3, 1e-9);
}

TEST(BudgetShareTest, AChainThatStoresAndForwardsSharesTheTime) {
  std::vector<BudgetedLink> chain = {
      {.next = 1, .rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte},
      {.next = 2, .rate_bps = 10 * kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte},
      {.rate_bps = 2 * kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte}};
  // Equal times of 0.2 s each would be more than the second needs: it takes 0.1 s, the others 0.25 s.
  const std::vector<LinkShare> shares = Share(chain, 0.6);
  EXPECT_NEAR(shares[0].ratio, 0.25, 1e-9);
  EXPECT_EQ(shares[1].ratio, 1);
  EXPECT_NEAR(shares[2].ratio, 0.5, 1e-9);
}

// Two leaves below one inner link: the slow leaf's path is full first. The inner link stops there, and what the fast
// leaf's path has left is the fast leaf's.
TEST(BudgetShareTest, APathThatIsFullStopsOnlyItsOwnLinks) {
  const std::vector<BudgetedLink> tree = {
      {.next = 2,
       .rate_bps = kMegabytePerSecond,
       .delay = absl::Milliseconds(200),
       .load_bytes = kMegabyte,
       .first_bytes = kMegabyte},
      {.next = 2, .rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte},
      {.rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte}};
  const std::vector<LinkShare> shares = Share(tree, 1);
  EXPECT_NEAR(shares[0].ratio, 0.4, 1e-9);  // with the inner link 0.8 s, and 0.2 s of delay
  EXPECT_NEAR(shares[2].ratio, 0.4, 1e-9);
  EXPECT_NEAR(shares[1].ratio, 0.6, 1e-9);
}

// A chunk of a tenth: 0.1 u0 + 0.1 u1 + 0.9 max(u0, u1) = 1.1 u = 0.55.
TEST(BudgetShareTest, ChunksPipelineForwarding) {
  const std::vector<BudgetedLink> chain = {
      {.next = 1, .rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte / 10},
      {.rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte, .first_bytes = kMegabyte / 10}};
  for (const LinkShare& share : Share(chain, 0.55)) EXPECT_NEAR(share.ratio, 0.5, 1e-9);
}

TEST(BudgetShareTest, WhatCannotBeMetIsSaidAndGetsTheLeast) {
  const std::vector<BudgetedLink> star = {
      {.rate_bps = kMegabytePerSecond, .delay = absl::Seconds(2), .load_bytes = kMegabyte},
      {.rate_bps = 0.001 * kMegabytePerSecond, .load_bytes = kMegabyte},
      {.rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte}};
  const std::vector<LinkShare> shares = Share(star, 1, 0.01);
  EXPECT_EQ(shares[0].ratio, 0.01);
  EXPECT_FALSE(shares[0].meets_budget);
  EXPECT_EQ(shares[1].ratio, 0.01);  // 10 s
  EXPECT_FALSE(shares[1].meets_budget);
  EXPECT_EQ(shares[2].ratio, 1);
  EXPECT_TRUE(shares[2].meets_budget);
}

// Less on the fast link would not make the slow one's path shorter, for they send at the same time.
TEST(BudgetShareTest, AHopelessLinkDoesNotPullDownThoseThatSendBesideIt) {
  std::vector<BudgetedLink> chain = {{.next = 1, .rate_bps = 0.001 * kMegabytePerSecond, .load_bytes = kMegabyte},
                                     {.rate_bps = kMegabytePerSecond, .load_bytes = kMegabyte}};
  std::vector<LinkShare> shares = Share(chain, 0.5, 0.01);
  EXPECT_EQ(shares[0].ratio, 0.01);
  EXPECT_FALSE(shares[0].meets_budget);
  EXPECT_NEAR(shares[1].ratio, 0.5, 1e-9);
  // It would if its time added to the path's.
  chain[1].first_bytes = 1;
  shares = Share(chain, 0.5, 0.01);
  EXPECT_EQ(shares[1].ratio, 0.01);
  EXPECT_FALSE(shares[1].meets_budget);
}

TEST(BudgetShareTest, ALinkWithoutLoadIsNotCompressed) {
  const std::vector<LinkShare> shares = Share({{.rate_bps = 1}}, 1);
  EXPECT_EQ(shares[0].ratio, 1);
  EXPECT_TRUE(shares[0].meets_budget);
  EXPECT_TRUE(Share({}, 1).empty());
}

// In random trees: all paths meet the budget, and whoever is compressed is on a path that has nothing left.
TEST(BudgetShareTest, NothingIsCompressedMoreThanItNeeds) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<BudgetedLink> links;
    const int64_t count = random.Between(1, 12);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t load = random.Between(1, 5) * kMegabyte;
      const int64_t first = random.Chance(0.3) ? load : random.Between(0, load / 4);
      std::optional<int64_t> next;
      if (i > 0 && random.Chance(0.8)) next = random.Between(0, i - 1);
      links.push_back({next, static_cast<double>(random.Between(1, 100)) * 1e6,
                       absl::Milliseconds(random.Between(0, 50)), load, first});
    }
    const double budget = 0.001 * static_cast<double>(random.Between(700, 5000));
    const std::vector<LinkShare> shares = Share(links, budget, 1e-5);
    for (size_t i = 0; i < links.size(); ++i) {
      ASSERT_TRUE(shares[i].meets_budget);
      EXPECT_LE(PathSeconds(links, shares, i), budget * (1 + 1e-9)) << trial;
      if (shares[i].ratio == 1) continue;
      std::vector<LinkShare> more = shares;
      more[i].ratio = std::min(1.0, 1.01 * shares[i].ratio);
      double longest = 0;
      for (size_t leaf = 0; leaf < links.size(); ++leaf) {
        longest = std::max(longest, PathSeconds(links, more, leaf));
      }
      EXPECT_GT(longest, budget) << trial << " link " << i;
    }
  }
}

TEST(BudgetShareTest, ValuesThatMakeNoSenseAreRefused) {
  const BudgetedLink good = {.rate_bps = 1e6, .load_bytes = 10};
  const auto refusal = [&](BudgetedLink link) {
    return std::string(ShareBudget({{good, link}}, absl::Seconds(1), 0.01).status().message());
  };
  BudgetedLink bad = good;
  bad.rate_bps = 0;
  EXPECT_EQ(refusal(bad), "links[1]: expected a rate above 0");
  bad = good;
  bad.load_bytes = -1;
  EXPECT_EQ(refusal(bad), "links[1]: expected a load of at least 0 bytes");
  bad = good;
  bad.first_bytes = 11;
  EXPECT_EQ(refusal(bad), "links[1]: expected first bytes from 0 to the load");
  bad = good;
  bad.delay = absl::InfiniteDuration();
  EXPECT_EQ(refusal(bad), "links[1]: expected a finite delay of at least 0");
  bad = good;
  bad.next = 2;
  EXPECT_EQ(refusal(bad), "links[1]: its way leads to a link not given");
  bad.next = 1;
  EXPECT_EQ(refusal(bad), "links[1]: its way leads around in a circle");
  EXPECT_FALSE(ShareBudget({}, absl::ZeroDuration(), 0.01).ok());
  EXPECT_FALSE(ShareBudget({}, absl::Seconds(1), 0).ok());
}

}  // namespace
}  // namespace banyan
