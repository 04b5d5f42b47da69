// The metrics of a scheduler for a monitoring system: the same as `banyan status`. docs/reference/metrics.md lists
// them.
#ifndef BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_
#define BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_

#include <vector>

#include "proto/status.h"
#include "runtime/metrics/metrics_page.h"

namespace banyan {

// Pure function.
std::vector<MetricFamily> MakeSchedulerMetrics(const JobStatus& status);

}  // namespace banyan

#endif  // BANYAN_TOOLS_METRICS_SCHEDULER_METRICS_H_
