// Holds a profile, a binding and a model's tensors against each other before a run takes them (NEURON-Fabric, Wang,
// Huang and Lung, 2026, section 5.1). First what the files say: coverage, sensitive roles, family, share. Then what the
// controls of a run would decide: its stages. The paper runs the model under its hook there; here no model and no node
// runs, and the loss is one that falls evenly. Pure functions.
#ifndef BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_H_
#define BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "precision/profile/binding_proposal.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"

namespace banyan {

struct PreflightInput {
  OperatingProfile profile;
  PrecisionBinding binding;
  std::vector<NamedShape> tensors;  // of the model; empty where nobody told them
  int workers = 1;                  // of the job
};

struct PreflightCheck {
  std::string name;
  bool is_passed = true;
  std::string detail;
};

struct PreflightReport {
  std::vector<PreflightCheck> checks;
  double candidate_share = 0;  // of all elements
  double static_traffic = 1;   // modelled, with every round low-bit
  double bound_traffic = 1;    // modelled, at the profile's exposure bound

  bool is_passed() const;
};

PreflightReport RunPreflight(const PreflightInput& input);

// Returns the report as lines for people.
std::string PreflightText(const PreflightReport& report);
// Returns it as one JSON object.
std::string PreflightJson(const PreflightReport& report);

// ---- the stages ----

// One stage. Its routes are right where candidates of the profile's family have the one that the stage expects, and all
// other slices are plain.
struct PreflightStage {
  std::string name;
  bool is_right = true;
  std::string detail;
};

// A warm-up that would take longer than kMostPreflightSteps is run as if it had so many.
inline constexpr int64_t kMostPreflightSteps = 1000;

// Runs a profile and a binding through the states of a run, with a loss that falls and no diagnostics, as nodes send
// none: the warm-up, the admission, a forced veto, and its end. The very classes that decide in a run decide here.
std::vector<PreflightStage> RunPreflightStages(const OperatingProfile& profile, const PrecisionBinding& binding);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PREFLIGHT_PREFLIGHT_H_
