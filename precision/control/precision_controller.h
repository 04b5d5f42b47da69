// Decides the route of every slice in every round: Commander and Supervisor over one profile and one binding.
// Thread-compatible; one per job, owned by whoever makes policies.
//
// Invariants:
// - A slice that is no candidate, or whose scope was not admitted, is plain FP32 in every round.
// - Where no scope was admitted, that is judged again after as many steps as the warm-up has.
// - In one round all admitted slices have one route, but for scopes that somebody has vetoed by order.
#ifndef BANYAN_PRECISION_CONTROL_PRECISION_CONTROLLER_H_
#define BANYAN_PRECISION_CONTROL_PRECISION_CONTROLLER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "precision/control/commander.h"
#include "precision/control/supervisor.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"

namespace banyan {

// Returns the name of the scope to which `slice` of `tensor` belongs.
std::string ScopeOf(PrecisionScope scope, absl::string_view tensor, const SliceBinding& slice);

class PrecisionController {
 public:
  PrecisionController(const OperatingProfile& profile, const PrecisionBinding& binding);

  // Decides on the next round. Called once per round, in order.
  void BeginRound();
  // Returns the route of `slice` of `tensor` in the round that began last.
  PrecisionRoute RouteOf(absl::string_view tensor, const SliceBinding& slice) const;
  // Why admitted slices are vetoed in this round.
  Veto veto() const { return veto_; }
  // Whether the run is still in its warm-up, whose gradients are to be diagnosed.
  bool is_warming_up() const { return !is_decided_; }

  void ObserveScope(const std::string& scope, const ScopeDiagnostics& diagnostics);
  // What came of the round that began last.
  void Observe(const TrainingHealth& health);

  // Goes on after a restart where these scopes were admitted: the warm-up is over, and admitted slices are vetoed, if
  // they were, for a whole cooldown. What warm-up and probe had `learned` holds again, as Supervisor::Resume says.
  void Resume(const std::vector<std::string>& admitted, bool is_vetoed, const std::optional<LearnedControls>& learned);
  void ForceVeto(bool vetoes) { supervisor_.Force(vetoes); }
  // Vetoes these scopes and no others by order, at once and whatever the health of the training.
  void OrderVeto(std::set<std::string> scopes) { ordered_ = std::move(scopes); }
  const std::set<std::string>& ordered() const { return ordered_; }

  // Scopes of the binding's candidates; empty before the warm-up is over.
  const std::map<std::string, Commander::Admission>& admissions() const { return admissions_; }
  const Supervisor& supervisor() const { return supervisor_; }
  const OperatingProfile& profile() const { return profile_; }

 private:
  void DecideAdmission();

  OperatingProfile profile_;
  PrecisionBinding binding_;
  Commander commander_;
  Supervisor supervisor_;
  bool is_decided_ = false;
  bool has_admitted_ = false;
  bool is_low_bit_ = false;  // admitted slices of this round
  Veto veto_ = Veto::kNone;
  std::map<std::string, Commander::Admission> admissions_;
  std::set<std::string> ordered_;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_PRECISION_CONTROLLER_H_
