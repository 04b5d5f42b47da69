#include "topology/fit/model_fit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "topology/evaluation/round_time.h"
#include "topology/fit/price_fit.h"
#include "topology/fit/share_rounding.h"
#include "topology/packing/packed_planner.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/policy_check.h"

namespace banyan {
namespace {

// Of FAPT with so many roots; small models are sooner done over few shallow trees than over all that a packing has.
constexpr int kRootsToTry[] = {1, 2, 4, kMaxRootsOfAll};
// In larger networks, and every node: where most nodes have links with each other, that is about a star for each.
constexpr int kMoreRootsToTry[] = {1, 2, 4, 8, 16, kMaxRootsOfAll, 2 * kMaxRootsOfAll};
// In still larger ones each plan takes long.
constexpr int kMostNodesForMoreRoots = 150;

std::vector<int> RootsToTry(const PlannerConfig& config, int nodes) {
  std::vector<int> roots(std::begin(kRootsToTry), std::end(kRootsToTry));
  int most = config.roots.value_or(kMaxRootsOfAll);
  if (nodes > kMaxRootsOfAll && nodes <= kMostNodesForMoreRoots && !config.roots.has_value()) {
    roots.assign(std::begin(kMoreRootsToTry), std::end(kMoreRootsToTry));
    roots.push_back(most = nodes);
  }
  std::erase_if(roots, [most](int count) { return count > most; });
  for (int& count : roots) count = std::min(count, nodes);
  return roots;
}

// Of the packing's rate: what trees may cost that fill and drain sooner. Which trees a program takes is a matter of
// chance where many are as good for it: more parts are more draws, too.
constexpr double kSpareParts[] = {0, 0.03, 0.06, 0.1, 0.15};
constexpr double kFewSpareParts[] = {0, 0.1, 0.2};
// Smaller networks have few trees to draw from, and in larger ones each draw takes long.
constexpr size_t kFewestNodesForManyDraws = 6;
constexpr size_t kMostNodesForManyDraws = 12;

bool AllowsManyDraws(size_t nodes) { return nodes >= kFewestNodesForManyDraws && nodes <= kMostNodesForManyDraws; }

// So many of the candidates have their chunks fitted: the best with the same chunks.
constexpr size_t kFittedCandidates = 4;

class ModelFit {
 public:
  ModelFit(const NetworkView& view, const PlannerConfig& config)
      : view_(view), config_(config), rates_only_(config), many_(AllowsManyDraws(view.nodes().size())) {
    // Plans are valued only when their chunks suit the model.
    rates_only_.tensors.clear();
    if (config.budget_per_round.has_value())
      rates_only_.most_per_gb = *config.budget_per_round / ModelGigabytes(config.tensors);
  }

  absl::StatusOr<Policy> Best() const;
  absl::StatusOr<Policy> BestInHaste() const;

 private:
  struct Candidate {
    Policy policy;
    absl::Duration round_time;
    double too_dear = 0;  // what a round costs, if that is more than the budget
  };

  static bool IsBetter(const Candidate& a, const Candidate& b) {
    return std::tie(a.too_dear, a.round_time) < std::tie(b.too_dear, b.round_time);
  }

  absl::Duration Time(const Policy& policy) const {
    return PredictRoundTime(policy, view_, config_.tensors, config_.sent_part);
  }
  // With the chunks that suit it.
  Candidate Fitted(Policy policy) const;
  // With the shares that keep it within the budget, if there is one.
  Candidate Held(Candidate candidate) const;
  // Of the cheapest trees, which are within any budget that some plan keeps.
  absl::StatusOr<Policy> Cheapest() const;
  // Packed for chunks of this size, beginning with these trees.
  std::vector<Candidate> Packed(int64_t chunk_max_elements, std::vector<Tree> begin_with) const;
  // FAPT's that could be sooner done than `to_beat`.
  std::vector<Candidate> Fapt(absl::Duration to_beat) const;
  // One tree's, likewise: with little to send few edges in turn count more than rates.
  std::vector<Candidate> OneTree(absl::Duration to_beat) const;
  // At their rates no round of the model is shorter than that.
  bool CanBeat(const Policy& policy, absl::Duration to_beat) const {
    return absl::Seconds(config_.sent_part * BitsOf(config_.tensors) / policy.rate_bps) <= to_beat;
  }
  Policy WithSearchedShares(Candidate best) const;

  const NetworkView& view_;
  const PlannerConfig& config_;
  PlannerConfig rates_only_;
  const bool many_;
};

ModelFit::Candidate ModelFit::Fitted(Policy policy) const {
  policy.chunk_max_elements = config_.chunk_max_elements;
  const absl::Duration time = FitChunks(view_, config_.tensors, config_.chunk_min_elements, policy, config_.sent_part);
  return {std::move(policy), time};
}

ModelFit::Candidate ModelFit::Held(Candidate candidate) const {
  if (!config_.budget_per_round.has_value()) return candidate;
  const bool holds = HoldPrice(view_, config_.tensors, *config_.budget_per_round, candidate.policy);
  candidate.too_dear = holds ? 0 : RoundPrice(candidate.policy, view_, config_.tensors);
  candidate.round_time = Time(candidate.policy);
  return candidate;
}

absl::StatusOr<Policy> ModelFit::Cheapest() const {
  PlannerConfig config = rates_only_;
  config.most_per_gb = 0;
  return PlanPacked(view_, config);
}

std::vector<ModelFit::Candidate> ModelFit::Packed(int64_t chunk_max_elements, std::vector<Tree> begin_with) const {
  PlannerConfig config = rates_only_;
  config.chunk_max_elements = chunk_max_elements;
  config.current_trees = std::move(begin_with);
  const auto parts = many_ ? absl::Span<const double>(kSpareParts) : absl::Span<const double>(kFewSpareParts);
  absl::StatusOr<std::vector<Policy>> policies = PlanPackedEach(view_, config, parts);
  std::vector<Candidate> candidates;
  if (!policies.ok()) return candidates;
  for (Policy& policy : *policies) {
    const absl::Duration time = Time(policy);
    candidates.push_back({std::move(policy), time});
  }
  return candidates;
}

std::vector<ModelFit::Candidate> ModelFit::Fapt(absl::Duration to_beat) const {
  std::vector<Candidate> candidates;
  for (const int roots : RootsToTry(config_, static_cast<int>(view_.nodes().size()))) {
    if (config_.IsUnwanted()) break;
    PlannerConfig few = rates_only_;
    few.roots = roots;
    absl::StatusOr<Policy> fapt = PlanFapt(view_, few);
    if (fapt.ok() && CanBeat(*fapt, to_beat)) candidates.push_back(Fitted(*std::move(fapt)));
  }
  return candidates;
}

std::vector<ModelFit::Candidate> ModelFit::OneTree(absl::Duration to_beat) const {
  std::vector<Candidate> candidates;
  for (const auto plan : {PlanMst, PlanStar}) {
    absl::StatusOr<Policy> tree = plan(view_, rates_only_);
    if (tree.ok() && CanBeat(*tree, to_beat)) candidates.push_back(Fitted(*std::move(tree)));
  }
  return candidates;
}

Policy ModelFit::WithSearchedShares(Candidate best) const {
  Candidate held = best;
  Policy rounded = best.policy;
  RoundShares(view_, config_.tensors, rounded);
  Policy chosen = Time(rounded) <= best.round_time ? std::move(rounded) : std::move(best.policy);
  SearchShares(view_, config_.tensors, chosen, config_.sent_part);
  if (!config_.budget_per_round.has_value()) return chosen;
  // The search knows nothing of prices.
  Candidate searched = Held({std::move(chosen), absl::InfiniteDuration()});
  return IsBetter(searched, held) ? std::move(searched.policy) : std::move(held.policy);
}

// The trees in use over the nodes of `view`; nothing where none can be kept.
std::optional<Policy> KeepTrees(const NetworkView& view, const PlannerConfig& config) {
  std::vector<Tree> trees = ExtendTrees(PruneTrees(config.current_trees, view), view);
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  std::erase_if(trees, [&](const Tree& tree) { return !CheckTree(tree, members, view).ok(); });
  const double sum =
      std::accumulate(trees.begin(), trees.end(), 0.0, [](double sum, const Tree& tree) { return sum + tree.share; });
  if (!(sum > 0)) return std::nullopt;
  for (Tree& tree : trees) tree.share /= sum;
  RouteTable routes(&view);
  return AssemblePolicy("packed", config, std::move(trees), routes);
}

absl::StatusOr<Policy> ModelFit::BestInHaste() const {
  std::vector<Candidate> candidates = Fapt(absl::InfiniteDuration());
  // It says what is wrong with the network.
  if (candidates.empty()) return PlanFapt(view_, rates_only_);
  std::optional<Policy> kept = KeepTrees(view_, rates_only_);
  if (kept.has_value()) candidates.push_back(Fitted(*std::move(kept)));
  for (Candidate& candidate : candidates) candidate = Held(std::move(candidate));
  return WithSearchedShares(std::move(*std::min_element(candidates.begin(), candidates.end(), IsBetter)));
}

absl::StatusOr<Policy> ModelFit::Best() const {
  absl::StatusOr<Policy> packed = PlanPacked(view_, rates_only_);
  if (!packed.ok()) return packed;
  if (config_.IsUnwanted()) return absl::CancelledError("this plan is not needed any more");
  const double bound_bps = packed->bound_bps;
  std::vector<Candidate> best = {Fitted(*std::move(packed))};
  const int64_t chunk_max_elements = best.front().policy.chunk_max_elements;
  std::vector<Candidate> drawn = Packed(chunk_max_elements, best.front().policy.trees);
  if (many_) std::ranges::move(Packed(chunk_max_elements, {}), std::back_inserter(drawn));
  std::stable_sort(drawn.begin(), drawn.end(), IsBetter);
  if (drawn.size() > kFittedCandidates) drawn.resize(kFittedCandidates);
  for (Candidate& candidate : drawn) {
    if (config_.IsUnwanted()) return absl::CancelledError("this plan is not needed any more");
    best.push_back(Fitted(std::move(candidate.policy)));
  }
  std::ranges::move(Fapt(best.front().round_time), std::back_inserter(best));
  std::ranges::move(OneTree(best.front().round_time), std::back_inserter(best));
  if (config_.budget_per_round.has_value()) {
    absl::StatusOr<Policy> cheapest = Cheapest();
    if (cheapest.ok()) best.push_back(Fitted(*std::move(cheapest)));
    for (Candidate& candidate : best) candidate = Held(std::move(candidate));
  }
  Policy chosen = WithSearchedShares(std::move(*std::min_element(best.begin(), best.end(), IsBetter)));
  chosen.bound_bps = std::min(chosen.bound_bps, bound_bps);
  return chosen;
}

constexpr double kEqual = 1.03;
// Where chunks have become too small, smaller ones are worse.
constexpr double kWorse = 1.05;

struct Size {
  int64_t chunk_max_elements = 0;
  absl::Duration round_time;
};

constexpr int64_t kMostPredictions = 48;
// Visits of chunks to links that may be scheduled in all: a tenth of a second or less.
constexpr double kMostSearchWork = 160'000;
// Less is rounding.
constexpr double kLeastSearchGain = 1e-4;

constexpr size_t kLastTrees = 3;
constexpr size_t kFirstTrees = 6;
constexpr int kChunksToMove[] = {1, 2, 4};

// Shares with which a round of a model is predicted to be sooner done: a rate says how much the links can carry, and
// not which tree's chunks are the last to come. Pure function.
class ShareSearch {
 public:
  ShareSearch(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy, double sent_part)
      : view_(view),
        tensors_(tensors),
        sent_part_(sent_part),
        policy_(policy),
        model_chunks_(static_cast<double>(ElementsOf(tensors)) / static_cast<double>(policy.chunk_max_elements)),
        shortest_(PredictRound(policy, view, tensors, sent_part)) {
    const double visits = std::min(model_chunks_, static_cast<double>(kScheduledChunks)) * 2 *
                          static_cast<double>(view.nodes().size() - 1);
    predictions_left_ = std::min(kMostPredictions, static_cast<int64_t>(kMostSearchWork / std::max(visits, 1.0)));
  }

  // Until no move that it knows makes the round shorter.
  void Run() {
    while (MoveOnce()) {
    }
  }

 private:
  bool MoveOnce() {
    const std::vector<size_t> by_end = TreesByEnd();
    const size_t last = std::min(kLastTrees, by_end.size());
    const size_t first = std::min(kFirstTrees, by_end.size());
    for (size_t i = 0; i < last; ++i) {
      for (size_t j = 0; j < first; ++j) {
        for (const int chunks : kChunksToMove) {
          if (IsShorter(by_end[by_end.size() - 1 - i], by_end[j], chunks / model_chunks_)) return true;
        }
      }
    }
    return false;
  }

  std::vector<size_t> TreesByEnd() const {
    std::vector<size_t> trees(policy_.trees.size());
    std::iota(trees.begin(), trees.end(), size_t{0});
    std::stable_sort(trees.begin(), trees.end(),
                     [&](size_t a, size_t b) { return shortest_.tree_times[a] < shortest_.tree_times[b]; });
    return trees;
  }

  // Keeps the move when the round is shorter with it.
  bool IsShorter(size_t from, size_t to, double share) {
    const double from_share = policy_.trees[from].share;
    const double to_share = policy_.trees[to].share;
    if (from == to || from_share < 1.5 * share || predictions_left_ == 0) return false;
    --predictions_left_;
    policy_.trees[from].share -= share;
    policy_.trees[to].share += share;
    RoundPrediction moved = PredictRound(policy_, view_, tensors_, sent_part_);
    if (moved.time < (1 - kLeastSearchGain) * shortest_.time) {
      shortest_ = std::move(moved);
      return true;
    }
    policy_.trees[from].share = from_share;
    policy_.trees[to].share = to_share;
    return false;
  }

  const NetworkView& view_;
  const std::vector<PlannedTensor>& tensors_;
  const double sent_part_;
  Policy& policy_;
  const double model_chunks_;
  RoundPrediction shortest_;
  int64_t predictions_left_ = 0;
};

}  // namespace

void SearchShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                  double sent_part) {
  if (policy.trees.size() < 2) return;
  ShareSearch(view, tensors, policy, sent_part).Run();
}

absl::Duration FitChunks(const NetworkView& view, const std::vector<PlannedTensor>& tensors, int64_t least_elements,
                         Policy& policy, double sent_part) {
  const int64_t elements = ElementsOf(tensors);
  std::vector<Size> sizes = {{policy.chunk_max_elements, PredictRoundTime(policy, view, tensors, sent_part)}};
  absl::Duration shortest = sizes.front().round_time;
  const int64_t least = std::max(least_elements, kLeastFittedElements);
  for (int64_t size = policy.chunk_max_elements / 2; size >= least; size /= 2) {
    if (elements / size > kMostFittedChunks || sizes.back().round_time > kWorse * shortest) break;
    Policy smaller = policy;
    smaller.chunk_max_elements = size;
    sizes.push_back({size, PredictRoundTime(smaller, view, tensors, sent_part)});
    shortest = std::min(shortest, sizes.back().round_time);
  }
  const auto largest =
      std::find_if(sizes.begin(), sizes.end(), [&](const Size& size) { return size.round_time <= kEqual * shortest; });
  policy.chunk_max_elements = largest->chunk_max_elements;
  return largest->round_time;
}

absl::StatusOr<Policy> PlanForModel(const NetworkView& view, const PlannerConfig& config) {
  return ModelFit(view, config).Best();
}

absl::StatusOr<Policy> PlanInHaste(const NetworkView& view, const PlannerConfig& config) {
  if (!config.tensors.empty()) return ModelFit(view, config).BestInHaste();
  absl::StatusOr<Policy> best = PlanFapt(view, config);
  if (!best.ok()) return best;
  std::optional<Policy> kept = KeepTrees(view, config);
  if (kept.has_value() && kept->rate_bps > best->rate_bps) best = *std::move(kept);
  return best;
}

}  // namespace banyan
