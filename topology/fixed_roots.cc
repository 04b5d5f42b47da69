#include "topology/fixed_roots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "topology/policy_assembly.h"
#include "topology/route_table.h"

namespace banyan {
namespace {

// Shares are written by people: what differs by less is the same.
constexpr double kSameShare = 1e-6;

absl::Status Misfit(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the roots keep the optimizer's state, so topology.trees must have the roots and shares of the first plan: ",
      what));
}

// The configured trees in the order of the fixed roots.
absl::StatusOr<std::vector<Tree>> OrderTrees(std::vector<Tree> trees, const NetworkView& view,
                                             const PlannerConfig& config) {
  std::vector<Tree> ordered;
  for (const FixedRoot& fixed : config.fixed_roots) {
    const auto found =
        std::find_if(trees.begin(), trees.end(), [&](const Tree& tree) { return tree.root == fixed.root; });
    if (found == trees.end()) return Misfit(absl::StrCat("a tree of root ", view.NameOf(fixed.root), " is missing"));
    if (found->share != 0 && std::abs(found->share - fixed.share) > kSameShare) {
      return Misfit(
          absl::StrCat("the share of root ", view.NameOf(fixed.root), " is ", fixed.share, ", not ", found->share));
    }
    ordered.push_back(std::move(*found));
    ordered.back().share = fixed.share;
    trees.erase(found);
  }
  if (!trees.empty()) return Misfit(absl::StrCat(view.NameOf(trees[0].root), " is none of those roots"));
  return ordered;
}

}  // namespace

absl::StatusOr<Policy> PlanWithFixedRoots(const Planner& planner, const NetworkView& view,
                                          const PlannerConfig& config) {
  PlannerConfig single = config;
  single.fixed_roots.clear();
  if (config.planner == "custom") {
    absl::StatusOr<std::vector<Tree>> ordered = OrderTrees(config.trees, view, config);
    if (!ordered.ok()) return ordered.status();
    single.trees = *std::move(ordered);
    return planner.Plan(view, single);
  }
  // Its trees share the links, so it looks at all roots together.
  if (config.planner == "packed") return planner.Plan(view, config);
  single.roots = 1;
  std::map<NodeId, Tree> by_root;
  std::vector<Tree> trees;
  for (const FixedRoot& fixed : config.fixed_roots) {
    auto known = by_root.find(fixed.root);
    if (known == by_root.end()) {
      single.root = fixed.root;
      absl::StatusOr<Policy> planned = planner.Plan(view, single);
      if (!planned.ok()) return planned.status();
      known = by_root.emplace(fixed.root, std::move(planned->trees.front())).first;
    }
    trees.push_back(known->second);
    trees.back().share = fixed.share;
  }
  RouteTable routes(&view);
  return AssemblePolicy(config.planner, config, std::move(trees), routes);
}

}  // namespace banyan
