// Runs a profile and a binding through the states of a run, with a healthy loss and workers that agree: the warm-up,
// the admission, a forced veto, and its end. The very classes that decide in a run decide here. Pure function.
#ifndef BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_STAGES_H_
#define BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_STAGES_H_

#include <string>
#include <vector>

#include "precision/audit/route_audit.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"

namespace banyan {

// One stage. Its routes are right where candidates of the profile's family have the one that the stage expects, and all
// other slices are plain.
struct PreflightStage {
  std::string name;
  bool is_right = true;
  std::string detail;
};

struct PreflightRun {
  std::vector<PreflightStage> stages;
  RouteAudit audit;
};

// A warm-up that would take longer than kMostPreflightSteps is run as if it had so many.
inline constexpr int64_t kMostPreflightSteps = 1000;

PreflightRun RunPreflightStages(const OperatingProfile& profile, const PrecisionBinding& binding);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_STAGES_H_
