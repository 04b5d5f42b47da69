// The detector's slack and threshold from the losses of past runs: of healthy ones, which must not make it fire, and of
// harmed ones, which must (NEURON-Fabric, Wang, Huang and Lung, 2026, section 4.3, leaves the rule open). Pure
// functions.
#ifndef BANYAN_PRECISION_CALIBRATION_DETECTOR_CALIBRATION_H_
#define BANYAN_PRECISION_CALIBRATION_DETECTOR_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "precision/profile/operating_profile.h"

namespace banyan {

// A run whose harm begins with its step `harmed_from`, counted from 0.
struct HarmedRun {
  std::vector<double> losses;
  int64_t harmed_from = 0;
};

struct CalibrationOptions {
  int64_t warmup_steps = 100;  // of every run, which the detector does not judge
  double smoothing = 0.1;
  double margin = 1.25;  // times the most that a healthy run reaches
};

struct Calibration {
  DetectorProfile detector;
  int64_t healthy_runs = 0;
  int64_t harmed_runs = 0;
  int64_t detections = 0;    // of harmed runs, at or after the harm
  int64_t false_alarms = 0;  // in harmed runs, before the harm
  // Steps from the harm to the detection, of the slowest.
  std::optional<int64_t> slowest_steps = std::nullopt;

  // "3/3 true detections within 9 steps, 0 false in 3 healthy runs".
  std::string Evidence() const;
};

// The slack is the mean rise of the smoothed loss after the warm-up plus one standard deviation, over all healthy runs,
// and at least half that deviation. The threshold is `margin` times the most that a healthy run's sum reaches with it.
// INVALID_ARGUMENT where a run is no longer than its warm-up, or a healthy one has a loss that is not finite.
absl::StatusOr<Calibration> CalibrateDetector(const std::vector<std::vector<double>>& healthy,
                                              const std::vector<HarmedRun>& harmed, const CalibrationOptions& options);

// Returns the file of an operating profile with this detector, to which whoever knows the workload adds the rest.
std::string CalibratedProfileYaml(const std::string& name, const std::string& source, LowBitFamily family,
                                  const Calibration& calibration, const CalibrationOptions& options);

// Reads the losses of a run, step by step, from the plain list in which a file tells them: one number a line, of which
// the last word counts, as in `step 12 loss 0.53`. Empty lines and what follows a # do not count. INVALID_ARGUMENT
// reads `file:line: what was expected, what came`. `nan` and `inf` are losses too.
absl::StatusOr<std::vector<double>> ReadLossList(absl::string_view text, absl::string_view file_name);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CALIBRATION_DETECTOR_CALIBRATION_H_
