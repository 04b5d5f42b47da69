// Serves metrics at http://host:port/metrics in Prometheus' text format, says "ok" at /healthz, for probes, and what
// else its maker has. Thread-compatible, but Wake is for any thread.
#ifndef BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
#define BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/http/http_route.h"
#include "runtime/http/http_server.h"
#include "runtime/metrics/metric_family.h"

namespace banyan {

class MetricsPage {
 public:
  // Called on the page's thread.
  using Collect = std::function<std::vector<MetricFamily>()>;

  // `address` is host:port, in the form that CheckHttpAddress takes; `more` are further paths. Where `access` has a
  // token only /healthz is for all. UNAVAILABLE when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Serve(const std::string& address, Collect collect,
                                                            std::vector<HttpRoute> more = {}, HttpAccess access = {});
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // http://host:port/metrics, with the real port.
  std::string url() const { return server_->url() + "/metrics"; }
  // Makes event streams among `more` look for what is new.
  void Wake() { server_->Wake(); }
  // The whole page as it is now.
  std::string Render() const;

 private:
  explicit MetricsPage(Collect collect) : collect_(std::move(collect)) {}

  const Collect collect_;
  // Last, so that nobody asks for what is gone.
  std::unique_ptr<HttpServer> server_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
