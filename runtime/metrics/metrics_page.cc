#include "runtime/metrics/metrics_page.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "prometheus/collectable.h"
#include "prometheus/exposer.h"
#include "prometheus/metric_family.h"

namespace banyan {
namespace {

// A silent client holds one of the threads for so long.
constexpr char kRequestTimeoutMs[] = "5000";
constexpr char kThreads[] = "2";

prometheus::MetricFamily Convert(MetricFamily from) {
  const bool is_counter = from.kind == MetricFamily::Kind::kCounter;
  prometheus::MetricFamily family;
  family.name = std::move(from.name);
  family.help = std::move(from.help);
  family.type = is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (MetricFamily::Sample& sample : from.samples) {
    prometheus::ClientMetric metric;
    for (auto& [name, value] : sample.labels) metric.label.push_back({std::move(name), std::move(value)});
    metric.counter.value = sample.value;
    metric.gauge.value = sample.value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

class Collector : public prometheus::Collectable {
 public:
  explicit Collector(MetricsPage::Collect collect) : collect_(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    for (MetricFamily& family : collect_()) {
      // One without samples would only be a headline.
      if (!family.samples.empty()) families.push_back(Convert(std::move(family)));
    }
    return families;
  }

 private:
  const MetricsPage::Collect collect_;
};

// The web server's form: a port alone for every interface.
std::string ServerAddress(const std::string& host, const std::string& port) {
  return host == "*" ? port : absl::StrCat(host, ":", port);
}

}  // namespace

// Destroyed from the last member to the first.
class MetricsPage::Parts {
 public:
  Parts(const std::string& address, Collect collect)
      : collector(std::make_shared<Collector>(std::move(collect))),
        exposer(std::vector<std::string>{"listening_ports", address, "num_threads", kThreads, "request_timeout_ms",
                                         kRequestTimeoutMs}) {
    exposer.RegisterCollectable(collector);
  }

  const std::shared_ptr<Collector> collector;  // shared because the exposer wants a weak_ptr
  prometheus::Exposer exposer;
};

absl::StatusOr<std::unique_ptr<MetricsPage>> MetricsPage::Serve(const std::string& address, Collect collect) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  try {
    auto parts = std::make_unique<Parts>(ServerAddress(host, address.substr(colon + 1)), std::move(collect));
    const std::vector<int> ports = parts->exposer.GetListeningPorts();
    std::string url = absl::StrCat("http://", host, ":", ports.empty() ? 0 : ports.front(), "/metrics");
    return std::unique_ptr<MetricsPage>(new MetricsPage(std::move(url), std::move(parts)));
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("expected to serve metrics at ", address,
                     ", could not: is the port free, and the host an address of this machine? (", error.what(), ")"));
  }
}

MetricsPage::MetricsPage(std::string url, std::unique_ptr<Parts> parts)
    : url_(std::move(url)), parts_(std::move(parts)) {}

MetricsPage::~MetricsPage() = default;

}  // namespace banyan
