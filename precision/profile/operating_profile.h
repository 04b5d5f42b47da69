// What is known of a workload before a run: which low-bit format it bears, from when on, how its health is watched and
// how it recovers. Calibration writes it, a run only reads it (NEURON-Fabric, Wang, Huang and Lung, 2026, Tables 1
// and 2). ReadProfile makes it of a YAML file; docs/precision.md lists the keys. Plain values; pure function.
#ifndef BANYAN_PRECISION_PROFILE_OPERATING_PROFILE_H_
#define BANYAN_PRECISION_PROFILE_OPERATING_PROFILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "precision/profile/control_settings.h"
#include "proto/precision/vote_rules.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

// Where a file of the precision runtime comes from.
struct Provenance {
  std::string source;    // what it was made from
  std::string made_by;   // which program, or who
  std::string evidence;  // what shows that it is right; may be empty
};

inline constexpr int kProfileSchema = 1;

// What is admitted or refused as one: the whole model, the tensors of a role, or a tensor.
enum class PrecisionScope : uint8_t { kModel, kRole, kTensor };

// From when on low-bit rounds may begin, and what a scope must show in the warm-up.
struct AdmissionLimits {
  int64_t warmup_steps = 100;
  double least_sign_agreement = 0.5;  // mean share of voters on the stronger side, in [0.5, 1]
  double most_near_zero = 1;          // share of elements that a voter would vote zero on
  double least_cosine = 0;            // of the low-bit aggregate with the mean in full precision
  double most_loss_rise = 0;          // of the smoothed loss over the second half of the warm-up
};

// Of the CUSUM detector (Page, 1954), in units of the smoothed loss.
struct DetectorProfile {
  double slack = 0;        // rise per step that is borne
  double threshold = 0;    // excess that makes it fire
  double smoothing = 0.1;  // weight of the newest loss
  // The guard of what workers report of a holdout set: it fires when that is so much below its best; 0: none.
  double most_metric_drop = 0;
};

struct RecoveryProfile {
  int64_t cooldown_steps = 50;     // of FP32 after the detector fired
  int64_t readmission_steps = 10;  // healthy ones after that
  int64_t guard_steps = 50;        // after readmission; a trigger within them is answered with
  double guard_factor = 2;         // so many times the cooldown
};

struct ExposureProfile {
  double bound = 1;            // share of rounds that may be low-bit
  double band = 0.03;          // a budget vetoes beyond target + band
  int64_t interval_steps = 1;  // for so long
};

struct OperatingProfile {
  std::string name;
  uint64_t digest = 0;  // of the file; 0 where it is from none
  Provenance provenance;
  bool has_low_bit = true;  // mode: none says false
  VoteRules rules;
  PrecisionScope scope = PrecisionScope::kRole;
  double bits_per_element = 1;  // what modelled traffic counts for a low-bit element
  AdmissionLimits admission;
  DetectorProfile detector;
  RecoveryProfile recovery;
  ExposureProfile exposure;
  ControlSettings controls;
  bool has_guard = true;  // low-bit only where rounds are predicted to be shorter by it; `guard: forced` says false
};

// Reads `text`; `file_name` only goes into messages. INVALID_ARGUMENT reads `file:line:column: what was expected, what
// came`.
absl::StatusOr<OperatingProfile> ReadProfile(absl::string_view text, absl::string_view file_name);

// What the files of the precision runtime begin with.

// Reads the map `provenance`, which must be there, of `file`.
Provenance ReadProvenance(YamlMapReader& file, YamlProblems& problems);

// Checks that `schema` is `known`.
void ReadSchema(YamlMapReader& file, int known, absl::string_view what, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_OPERATING_PROFILE_H_
