#include "runtime/metrics/metrics_page.h"

#include <sstream>
#include <utility>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace banyan {
namespace {

constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

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

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsPage>> MetricsPage::Serve(const std::string& address, Collect collect,
                                                                std::vector<HttpRoute> more, HttpAccess access) {
  std::unique_ptr<MetricsPage> page(new MetricsPage(std::move(collect)));
  MetricsPage* const self = page.get();
  more.push_back({"/metrics", [self] { return HttpContent{kContentType, self->Render()}; }});
  // For probes, which else knock at ports where a protocol is spoken.
  more.push_back({"/healthz", [] { return HttpContent{"text/plain", "ok\n"}; }, nullptr, true});
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Serve(address, std::move(more), std::move(access));
  if (!server.ok()) return server.status();
  page->server_ = *std::move(server);
  return page;
}

std::string MetricsPage::Render() const {
  std::vector<prometheus::MetricFamily> families;
  for (MetricFamily& family : collect_()) {
    // One without samples would only be a headline.
    if (!family.samples.empty()) families.push_back(Convert(std::move(family)));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace banyan
