#include "precision/control/detector_scale.h"

#include <algorithm>

namespace banyan {

DetectorScale ScaleDetector(const DetectorProfile& profile, const RunningStatistics& rises,
                            const ControlSettings& settings) {
  DetectorScale scale{.slack = profile.slack, .threshold = profile.threshold};
  const double needed = static_cast<double>(std::max<int64_t>(settings.confident_steps, 1));
  scale.confidence = std::min(1.0, static_cast<double>(rises.count()) / needed);
  if (settings.detector == DetectorSource::kProfile || rises.count() < 2) return scale;
  // Without a slack in the profile there is no ratio to keep, and no region around it.
  if (!(profile.slack > 0)) return scale;
  const double own = std::max(rises.mean() + rises.deviation(), settings.least_tightening * profile.slack);
  double factor = own / profile.slack;
  if (settings.detector == DetectorSource::kTrustRegion) {
    const double most = 1 + settings.trust_radius * scale.confidence;
    scale.is_projected = factor > most;
    factor = std::min(factor, most);
  }
  scale.slack = factor * profile.slack;
  scale.threshold = factor * profile.threshold;
  return scale;
}

}  // namespace banyan
