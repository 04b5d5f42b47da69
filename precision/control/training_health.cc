#include "precision/control/training_health.h"

#include <cmath>

namespace banyan {

TrainingHealth MeanHealth(absl::Span<const TrainingHealth> reports) {
  TrainingHealth mean{.step = reports.front().step, .learning_rate_fraction = 0, .metric = std::nullopt};
  double metrics = 0;
  int64_t with_metric = 0;
  const double count = static_cast<double>(reports.size());
  for (const TrainingHealth& report : reports) {
    mean.loss += report.loss / count;
    mean.progress += report.progress / count;
    mean.learning_rate_fraction += report.learning_rate_fraction / count;
    metrics += report.metric.value_or(0);
    with_metric += report.metric.has_value() ? 1 : 0;
  }
  if (with_metric > 0) mean.metric = metrics / static_cast<double>(with_metric);
  return mean;
}

std::optional<int64_t> RemainingSteps(const TrainingHealth& health) {
  if (!(health.progress > 0) || health.step <= 0) return std::nullopt;
  const double total = static_cast<double>(health.step) / std::fmin(health.progress, 1);
  return static_cast<int64_t>(std::llround(total)) - health.step;
}

}  // namespace banyan
