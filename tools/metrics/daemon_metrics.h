// The metrics page of a daemon.
#ifndef BANYAN_TOOLS_METRICS_DAEMON_METRICS_H_
#define BANYAN_TOOLS_METRICS_DAEMON_METRICS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/metrics/metrics_page.h"
#include "tools/daemon/daemon_log.h"

namespace banyan {

// Serves at `http`, host:port, and logs where that is; with a warning when other machines read it. `more` is what
// stands beside the metrics. Threads that this starts hold back the signals that their maker does.
absl::StatusOr<std::unique_ptr<MetricsPage>> ServeMetrics(const std::string& http, MetricsPage::Collect collect,
                                                          const LogFunction& log, std::vector<HttpRoute> more = {},
                                                          HttpAccess access = {});

}  // namespace banyan

#endif  // BANYAN_TOOLS_METRICS_DAEMON_METRICS_H_
