// The detector's slack and threshold for this run: those of the profile, those that the run's own warm-up suggests, or
// the latter within a trust region around the former, so that a noisy warm-up cannot blind the detector. Pure function.
#ifndef BANYAN_PRECISION_CONTROL_DETECTOR_SCALE_H_
#define BANYAN_PRECISION_CONTROL_DETECTOR_SCALE_H_

#include "precision/control/loss_trend.h"
#include "precision/profile/control_settings.h"
#include "precision/profile/operating_profile.h"

namespace banyan {

struct DetectorScale {
  double slack = 0;
  double threshold = 0;
  double confidence = 0;      // in the warm-up's statistics, in [0, 1]
  bool is_projected = false;  // the trust region held it back
};

// Returns the scale from the rises of the smoothed loss in the warm-up. The run's own slack is their mean plus one
// standard deviation, and the threshold keeps the profile's ratio to it. The region lets both grow by trust_radius
// times the confidence, and shrink to least_tightening.
DetectorScale ScaleDetector(const DetectorProfile& profile, const RunningStatistics& rises,
                            const ControlSettings& settings);

}  // namespace banyan

#endif  // BANYAN_PRECISION_CONTROL_DETECTOR_SCALE_H_
