// The interface of all planners: a network view in, a policy out. Planners are stateless and pure; the same input gives
// the same policy.
#ifndef BANYAN_TOPOLOGY_PLANNER_H_
#define BANYAN_TOPOLOGY_PLANNER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "topology/auxiliary_paths.h"
#include "topology/network_view.h"
#include "topology/overlay_config.h"
#include "topology/policy.h"

namespace banyan {

// `roots: all` means every node up to this many, else this many of the best.
inline constexpr int kMaxRootsOfAll = 32;

struct PlannerConfig {
  std::string planner = "packed";
  std::optional<int> roots;    // fapt, packed: how many; empty means all
  std::optional<NodeId> root;  // star, bkt, mst, and fapt and packed if roots is 1; empty means the best
  int arity = 2;               // bkt: children of each inner node
  std::vector<Tree> trees;     // custom; shares all 0 means by `shares`
  // How the trees share the model. Shares that `trees` give stay as they are.
  ShareRule shares = ShareRule::kQuality;
  bool auxiliary = false;  // whether tree edges get auxiliary paths
  AuxiliaryLimits auxiliary_limits;
  int64_t chunk_max_elements = 65536;
  int64_t chunk_min_elements = 4096;  // packed: the smallest chunks that it may choose
  // Of the model, in KeyId order; empty while it is unknown.
  std::vector<int64_t> tensor_elements;
  std::vector<Tree> current_trees;  // packed: of the policy in use, to begin with
};

// Whether the trees are chosen for the model's rounds, and not for their rate alone (topology/fit/model_fit.h).
inline bool FitsTreesToModel(const PlannerConfig& config) {
  return config.planner == "packed" && !config.tensor_elements.empty();
}

class Planner {
 public:
  virtual ~Planner() = default;

  // Trees over all nodes of the view, with routes, shares by quality, rate and bound; MakePolicy does what
  // config.shares and config.auxiliary ask for beyond that. Version, epoch and key table are left for the scheduler to
  // fill. FAILED_PRECONDITION when the view is not connected in both directions, INVALID_ARGUMENT when
  // it is empty or the configuration does not fit it.
  virtual absl::StatusOr<Policy> Plan(const NetworkView& view, const PlannerConfig& config) const = 0;
};

// The names MakePlanner knows, for messages and help.
std::vector<std::string> PlannerNames();

// NOT_FOUND lists the known names.
absl::StatusOr<std::unique_ptr<Planner>> MakePlanner(absl::string_view name);

// Resolves the names in an overlay's `topology`, `multipath` and `chunks` sections. INVALID_ARGUMENT names the node
// that `view` lacks.
absl::StatusOr<PlannerConfig> MakePlannerConfig(const OverlayConfig& overlay, const NetworkView& view);

// Makes the planner that `config` names, runs it on `view`, and refines its policy (RefinePolicy). Errors are those of
// MakePlanner and Planner::Plan.
absl::StatusOr<Policy> MakePolicy(const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNER_H_
