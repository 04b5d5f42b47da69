#include "topology/fit/price_fit.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/evaluation/linear_program.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

const std::vector<PlannedTensor> kModel = {60'000'000, 40'000'000};
constexpr double kModelGb = 0.4;

NetworkView Priced(const NetworkView& view, Random& random) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) link.price_per_gb = 0.01 * static_cast<double>(random.Below(10));
  return *view.WithLinks(links);
}

Policy Plan(const NetworkView& view, std::optional<double> budget, const std::vector<PlannedTensor>& model = kModel) {
  PlannerConfig config;
  config.auxiliary = true;
  config.tensors = model;
  config.budget_per_round = budget;
  absl::StatusOr<Policy> policy = MakePolicy(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  EXPECT_TRUE(ValidatePolicy(*policy, view).ok()) << ValidatePolicy(*policy, view);
  return *std::move(policy);
}

// All half trees of a small overlay on every root, one after the other: as parents, and by the links that they load.
class AllHalves {
 public:
  AllHalves(const NetworkView& view, bool is_reduce)
      : view_(view), is_reduce_(is_reduce), by_root_(view.nodes().size()) {
    for (size_t root = 0; root < view.nodes().size(); ++root) {
      std::vector<size_t> parents(view.nodes().size(), root);
      Extend(root, 0, parents);
    }
  }
  const std::vector<std::vector<size_t>>& OnRoot(size_t root) const { return by_root_[root]; }

 private:
  void Extend(size_t root, size_t node, std::vector<size_t>& parents) {
    if (node == parents.size()) return Note(root, parents);
    if (node == root) return Extend(root, node + 1, parents);
    for (size_t parent = 0; parent < parents.size(); ++parent) {
      if (parent == node) continue;
      parents[node] = parent;
      Extend(root, node + 1, parents);
    }
  }

  void Note(size_t root, const std::vector<size_t>& parents) {
    std::vector<size_t> links;
    for (size_t node = 0; node < parents.size(); ++node) {
      if (node == root) continue;
      size_t at = node;
      for (size_t steps = 0; at != root; at = parents[at]) {
        if (++steps == parents.size()) return;
      }
      const NodeId child = view_.nodes()[node].id;
      const NodeId parent = view_.nodes()[parents[node]].id;
      const NetworkLink* const link = is_reduce_ ? view_.FindLink(child, parent) : view_.FindLink(parent, child);
      if (link == nullptr) return;
      links.push_back(static_cast<size_t>(link - view_.links().data()));
    }
    by_root_[root].push_back(std::move(links));
  }

  const NetworkView& view_;
  const bool is_reduce_;
  std::vector<std::vector<std::vector<size_t>>> by_root_;
};

double PriceOf(const std::vector<size_t>& links, const NetworkView& view) {
  return std::accumulate(links.begin(), links.end(), 0.0,
                         [&view](double sum, size_t link) { return sum + view.links()[link].price_per_gb; });
}

// What plans are compared with: the shares of all pairs of halves that make the seconds of a round least.
class BruteForce {
 public:
  explicit BruteForce(const NetworkView& view) : view_(view), reduce_(view, true), broadcast_(view, false) {}

  double LeastPrice() const {
    double least = 1e9;
    ForEachPair([&](const std::vector<size_t>& up, const std::vector<size_t>& down) {
      least = std::min(least, kModelGb * (PriceOf(up, view_) + PriceOf(down, view_)));
    });
    return least;
  }

  double Seconds(double budget) const {
    LinearProgram program;
    const int all = program.AddRow(-1);
    const int price = program.AddRow(budget);
    std::vector<int> loads;
    for (size_t i = 0; i < view_.links().size(); ++i) loads.push_back(program.AddRow(0));
    const int seconds = program.AddVariable(-1);
    for (size_t i = 0; i < loads.size(); ++i) {
      program.AddTerm(loads[i], seconds, -view_.links()[i].throughput_bps / (8e9 * kModelGb));
    }
    ForEachPair([&](const std::vector<size_t>& up, const std::vector<size_t>& down) {
      const int share = program.AddVariable(0);
      program.AddTerm(all, share, -1);
      program.AddTerm(price, share, kModelGb * (PriceOf(up, view_) + PriceOf(down, view_)));
      for (const auto* half : {&up, &down}) {
        for (const size_t link : *half) program.AddTerm(loads[link], share, 1);
      }
    });
    const absl::StatusOr<LinearSolution> solution = program.Maximise();
    return solution.ok() ? -solution->objective : 0;
  }

 private:
  template <typename F>
  void ForEachPair(F f) const {
    for (size_t root = 0; root < view_.nodes().size(); ++root) {
      for (const auto& up : reduce_.OnRoot(root)) {
        for (const auto& down : broadcast_.OnRoot(root)) f(up, down);
      }
    }
  }

  const NetworkView& view_;
  const AllHalves reduce_;
  const AllHalves broadcast_;
};

TEST(PriceFitTest, ARoundCostsWhatCrossesTheLinks) {
  const NetworkView plain = SampleNetwork(2, {{1, 2, 10}, {2, 1, 40}});
  std::vector<NetworkLink> links(plain.links().begin(), plain.links().end());
  links[0].price_per_gb = 0.03;
  links[1].price_per_gb = 0.05;
  const NetworkView view = *plain.WithLinks(links);
  const Policy policy = Plan(view, std::nullopt);
  EXPECT_NEAR(PricePerGb(policy, view), 0.08, 1e-12) << "each element goes there and comes back";
  EXPECT_NEAR(RoundPrice(policy, view, kModel), 0.4 * 0.08, 1e-12);
}

// Shares come in whole chunks, of which this model has few.
TEST(PriceFitTest, TheFewChunksOfASmallModelAreWithinTheBudgetToo) {
  Random random(5);
  const NetworkView view = Priced(CompleteNetwork(4, 50), random);
  const std::vector<PlannedTensor> model = {30'000, 100};
  const double least = BruteForce(view).LeastPrice() / kModelGb * ModelGigabytes(model);
  const double most = RoundPrice(Plan(view, std::nullopt, model), view, model);
  ASSERT_GT(most, 1.1 * least);
  for (const double part : {0.0, 0.1, 0.2, 0.4, 0.8}) {
    const double budget = least + part * (most - least);
    EXPECT_LE(RoundPrice(Plan(view, budget, model), view, model), (1 + 1e-8) * budget) << part;
  }
}

TEST(PriceFitTest, ElementsCountInTheWidthOfTheirType) {
  EXPECT_NEAR(ModelGigabytes({PlannedTensor(1000, 8), PlannedTensor(1000, 2)}), 1e-5, 1e-15);
  Random random(8);
  const NetworkView view = Priced(CompleteNetwork(4, 50), random);
  // Chunks of both have as many elements, and those of doubles cost four times as much.
  const std::vector<PlannedTensor> model = {PlannedTensor(30'000, 2), PlannedTensor(30'000, 8)};
  const double least = BruteForce(view).LeastPrice() / kModelGb * ModelGigabytes(model);
  for (const double budget : {least, 1.1 * least, 1.5 * least}) {
    EXPECT_LE(RoundPrice(Plan(view, budget, model), view, model), (1 + 1e-8) * budget);
  }
}

TEST(PriceFitTest, BelowTheLeastPriceThePlanIsTheCheapest) {
  Random random(6);
  const NetworkView view = Priced(CompleteNetwork(4, 50), random);
  const double least = BruteForce(view).LeastPrice();
  EXPECT_NEAR(RoundPrice(Plan(view, 0.5 * least), view, kModel), least, 1e-8 * least);
}

TEST(PriceFitTest, WhatAuxiliaryPathsTakeIsWithinTheBudget) {
  Random random(7);
  const NetworkView view = Priced(CompleteNetwork(5, 50), random);
  Policy policy = Plan(view, 1.2 * RoundPrice(Plan(view, 0), view, kModel));
  const double planned = PricePerGb(policy, view);
  ASSERT_FALSE(policy.auxiliary.empty());
  for (Route& path : policy.auxiliary) {
    path.share = 1;
    EXPECT_LE(PricePerGb(policy, view), (1 + 1e-8) * planned) << "from " << path.from.value();
    path.share = 0;
  }
  PlannerConfig config;
  config.auxiliary = true;
  config.tensors = kModel;
  const Policy free = *MakePolicy(view, config);
  EXPECT_GT(free.auxiliary.size(), policy.auxiliary.size()) << "those that cost more are not there";
}

// What balance wants then is to leave the cheap links.
TEST(PriceFitTest, SharesStayWithinTheBudgetWhenCheapLinksBecomeSlow) {
  Random random(8);
  const NetworkView view = Priced(CompleteNetwork(4, 50), random);
  PlannerConfig config;
  config.tensors = kModel;
  config.budget_per_round = 1.1 * RoundPrice(Plan(view, 0), view, kModel);
  Policy policy = Plan(view, config.budget_per_round);
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) link.throughput_bps /= link.price_per_gb < 0.05 ? 100 : 1;
  const NetworkView slower = *view.WithLinks(links);
  RefreshShares(config, slower, policy);
  EXPECT_TRUE(ValidatePolicy(policy, slower).ok());
  EXPECT_LE(RoundPrice(policy, slower, kModel), (1 + 1e-8) * *config.budget_per_round);
}

TEST(PriceFitTest, PlansAreWithinTheBudgetAndCloseToTheFastestThatAre) {
  const bool is_long = std::getenv("BANYAN_LONG") != nullptr;
  const int draws = is_long ? 60 : 2;
  const std::vector<double> parts = is_long ? std::vector{0.0, 0.05, 0.3, 0.6, 1.0} : std::vector{0.0, 0.3};
  double worst = 0;
  for (int seed = 1; seed <= draws; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const NetworkView view = Priced(
        seed % 2 == 0 ? RandomNetwork(4, 2, static_cast<uint64_t>(seed)) : CompleteNetwork(4, 50 + seed), random);
    const BruteForce best(view);
    const double least = best.LeastPrice();
    const double most = RoundPrice(Plan(view, std::nullopt), view, kModel);
    for (const double part : parts) {
      const double budget = least + part * std::max(0.0, most - least);
      const Policy policy = Plan(view, budget);
      EXPECT_LE(RoundPrice(policy, view, kModel), (1 + 1e-8) * budget) << "seed " << seed << " part " << part;
      const double ratio = absl::ToDoubleSeconds(policy.round_time) / best.Seconds(budget);
      EXPECT_LE(ratio, 1.02) << "seed " << seed << " part " << part;
      worst = std::max(worst, ratio);
    }
  }
  std::printf("at worst %.4f of the shortest round\n", worst);
}

}  // namespace
}  // namespace banyan
