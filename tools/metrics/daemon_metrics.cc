#include "tools/metrics/daemon_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "access/exposure.h"
#include "tools/daemon/daemon_address.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<MetricsPage>> ServeMetrics(const std::string& http, MetricsPage::Collect collect,
                                                          const LogFunction& log, std::vector<HttpRoute> more,
                                                          HttpAccess access) {
  const bool is_open = access.token == nullptr;
  absl::StatusOr<std::unique_ptr<MetricsPage>> page =
      MetricsPage::Serve(http, std::move(collect), std::move(more), std::move(access));
  if (!page.ok()) return page;
  if (is_open && !IsLoopback(absl::StrCat("tcp://", http))) {
    log(LogLevel::kWarning,
        absl::StrCat("metrics at ", http,
                     ", which other machines reach: whoever does may read them, without --http-token"));
  }
  log(LogLevel::kInfo, absl::StrCat("metrics at ", (*page)->url()));
  return page;
}

}  // namespace banyan
