#include "proto/precision/training_health_wire.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/wire_limits.h"

namespace banyan {
namespace {

// Whatever digits it is written with, it can be read again.
constexpr double kLargestLoss = 1e308;

// Undoes FiniteLoss, but for the sign of what is no number. Who smooths losses would not get over a very large one.
double OriginalLoss(double loss) {
  return std::abs(loss) < kLargestLoss ? loss : std::copysign(std::numeric_limits<double>::infinity(), loss);
}

}  // namespace

double FiniteLoss(double loss) {
  if (std::isnan(loss)) return kLargestLoss;
  return std::clamp(loss, -kLargestLoss, kLargestLoss);
}

void Write(const HealthReport& from, wire::Envelope& to) {
  wire::HealthReport& report = *to.mutable_health_report();
  report.set_worker(from.worker.value());
  report.set_step(from.health.step);
  report.set_loss(FiniteLoss(from.health.loss));
  report.set_progress(from.health.progress);
  report.set_learning_rate_fraction(from.health.learning_rate_fraction);
  if (from.health.metric.has_value()) report.set_metric(FiniteLoss(*from.health.metric));
}

HealthReport Read(const wire::HealthReport& from, FieldReader fields) {
  HealthReport report;
  report.worker = WorkerId(fields.Between("worker", from.worker(), 0u, kMaxWorkersPerNode - 1));
  report.health.step = fields.Between("step", from.step(), int64_t{0}, std::numeric_limits<int64_t>::max());
  report.health.loss = OriginalLoss(fields.FiniteBetween("loss", from.loss(), -kLargestLoss, kLargestLoss));
  report.health.progress = fields.FiniteBetween("progress", from.progress(), 0, 1);
  report.health.learning_rate_fraction =
      fields.FiniteBetween("learning_rate_fraction", from.learning_rate_fraction(), 0, 1);
  if (from.has_metric()) {
    report.health.metric = fields.FiniteBetween("metric", from.metric(), -kLargestLoss, kLargestLoss);
  }
  return report;
}

}  // namespace banyan
