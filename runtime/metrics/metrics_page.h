// Serves metrics at http://host:port/metrics in Prometheus' text format, to whoever asks: there is no authentication.
// At /healthz it says "ok", for probes.
// It has a thread of its own, which sees nothing of the process but what `collect` gives it. Thread-compatible.
#ifndef BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
#define BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/metrics/metric_family.h"

struct MHD_Daemon;

namespace banyan {

class MetricsPage {
 public:
  // Called on the page's thread.
  using Collect = std::function<std::vector<MetricFamily>()>;

  // `address` is host:port, in the form that CheckHttpAddress takes. UNAVAILABLE when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Serve(const std::string& address, Collect collect);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;
  // `collect` is not called any more when this returns.
  ~MetricsPage();

  // http://host:port/metrics, with the real port.
  const std::string& url() const { return url_; }
  // The whole page as it is now.
  std::string Render() const;

 private:
  explicit MetricsPage(Collect collect) : collect_(std::move(collect)) {}
  absl::Status Start(const std::string& host, const std::string& port);

  const Collect collect_;
  std::string url_;
  MHD_Daemon* server_ = nullptr;  // null only before Start
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
