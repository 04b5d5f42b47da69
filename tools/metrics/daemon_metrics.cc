#include "tools/metrics/daemon_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "access/exposure.h"
#include "tools/daemon/daemon_address.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<MetricsPage>> ServeMetrics(const std::string& http, MetricsPage::Collect collect,
                                                          const LogFunction& log, std::vector<HttpRoute> more,
                                                          const std::string& token) {
  absl::StatusOr<std::unique_ptr<MetricsPage>> page =
      MetricsPage::Serve(http, std::move(collect), std::move(more), token);
  if (!page.ok()) return page;
  if (token.empty() && !IsLoopback(absl::StrCat("tcp://", http))) {
    log(LogLevel::kWarning,
        absl::StrCat("metrics at ", http,
                     ", which other machines reach: whoever does may read them, without --http-token"));
  }
  log(LogLevel::kInfo, absl::StrCat("metrics at ", (*page)->url()));
  return page;
}

}  // namespace banyan
