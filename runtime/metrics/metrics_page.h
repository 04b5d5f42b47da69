// Serves metrics at http://host:port/metrics in Prometheus' text format, to whoever asks: there is no authentication.
// It has threads of its own, which see nothing of the process but what `collect` gives them. Thread-compatible.
#ifndef BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
#define BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/metrics/metric_family.h"

namespace banyan {

class MetricsPage {
 public:
  // Called on any thread, also on several at once.
  using Collect = std::function<std::vector<MetricFamily>()>;

  // `address` is host:port, in the form that CheckHttpAddress takes. UNAVAILABLE when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsPage>> Serve(const std::string& address, Collect collect);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;
  // `collect` is not called any more when this returns, after up to two seconds: so seldom does the web server look.
  ~MetricsPage();

  // http://host:port/metrics, with the real port.
  const std::string& url() const { return url_; }

 private:
  class Parts;
  MetricsPage(std::string url, std::unique_ptr<Parts> parts);

  const std::string url_;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
