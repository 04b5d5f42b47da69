// What planners are told beside the network. A value; thread-compatible.
#ifndef BANYAN_TOPOLOGY_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "topology/auxiliary_paths.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// `roots: all` means every node up to this many, else this many of the best.
inline constexpr int kMaxRootsOfAll = 32;

struct PlannerConfig {
  std::string planner = "packed";
  std::optional<int> roots;    // fapt, packed: how many; empty means all
  std::optional<NodeId> root;  // star, bkt, mst, and fapt and packed if roots is 1; empty or away means the best
  int arity = 2;               // bkt: children of each inner node
  std::vector<Tree> trees;     // custom; shares all 0 means by `shares`
  // The rule by which the trees share the model. Shares that `trees` give stay as they are.
  ShareRule shares = ShareRule::kQuality;
  bool auxiliary = false;  // give tree edges auxiliary paths
  AuxiliaryLimits auxiliary_limits;
  int64_t chunk_max_elements = 65536;
  int64_t chunk_min_elements = 4096;  // packed: the smallest chunks that it may choose
  // The model's tensors in KeyId order; empty while the model is unknown.
  std::vector<PlannedTensor> tensors;
  // Of the bits of the tensors' elements what links carry, with codecs and votes as they go now.
  double sent_part = 1;
  std::vector<Tree> current_trees;  // packed: the trees in use, from which it starts
  // packed: what a round of the model may cost, in the currency of the links' prices; empty: whatever it does. Where
  // it has a value and the model is not known, the plan is of the cheapest trees.
  std::optional<double> budget_per_round = std::nullopt;
  // packed: what 10^9 bytes of the model may cost; PlanForModel derives it from the budget.
  std::optional<double> most_per_gb = std::nullopt;
  // packed: the best of the trees in use and FAPT's (PlanInHaste in topology/fit/model_fit.h), while everybody waits.
  bool in_haste = false;
  // Becomes true when nobody wants the plan any more: it ends soon then, with CANCELLED. It may do so on another
  // thread, and outlives the plan. Null: it is wanted.
  const std::atomic<bool>* unwanted = nullptr;

  bool IsUnwanted() const { return unwanted != nullptr && unwanted->load(std::memory_order_relaxed); }
};

// Tells if the trees are chosen for the model's rounds, and not for their rate alone (topology/fit/model_fit.h).
inline bool FitsTreesToModel(const PlannerConfig& config) {
  return config.planner == "packed" && !config.tensors.empty();
}

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNER_H_
