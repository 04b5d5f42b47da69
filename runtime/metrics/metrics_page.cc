#include "runtime/metrics/metrics_page.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace banyan {
namespace {

constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

void AppendSample(const MetricFamily& family, const MetricFamily::Sample& sample, std::string& text) {
  absl::StrAppend(&text, family.name, sample.suffix);
  char before = '{';
  for (const auto& [name, value] : sample.labels) {
    const std::string quoted = absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\n", "\\n"}, {"\"", "\\\""}});
    absl::StrAppend(&text, absl::string_view(&before, 1), name, "=\"", quoted, "\"");
    before = ',';
  }
  // Sixteen digits: all that tell values apart, and none that make 0.1 long.
  absl::StrAppendFormat(&text, before == ',' ? "} %.16g\n" : " %.16g\n", sample.value);
}

}  // namespace

void Histogram::Add(double seconds, uint64_t times) {
  counts_[std::ranges::lower_bound(kBounds, seconds) - kBounds.begin()] += times;
  sum_s_ += seconds * static_cast<double>(times);
}

MetricFamily Histogram::Family(std::string name, std::string help) const {
  MetricFamily family = {std::move(name), std::move(help), MetricFamily::Kind::kHistogram, {}};
  uint64_t count = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    const std::string bound = i < kBounds.size() ? absl::StrCat(kBounds[i]) : "+Inf";
    family.samples.push_back({{{"le", bound}}, static_cast<double>(count), "_bucket"});
  }
  family.samples.push_back({{}, sum_s_, "_sum"});
  family.samples.push_back({{}, static_cast<double>(count), "_count"});
  return family;
}

HttpRoute ReadinessRoute(std::function<bool()> is_ready) {
  constexpr unsigned kUnavailable = 503;
  return {.path = "/readyz",
          .answer =
              [is_ready = std::move(is_ready)] {
                return is_ready() ? HttpContent{"text/plain", "ok\n"}
                                  : HttpContent{"text/plain", "not yet\n", kUnavailable};
              },
          .is_for_all = true};
}

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
  std::string text;
  for (const MetricFamily& family : collect_()) {
    // One without samples would only be a headline.
    if (family.samples.empty()) continue;
    constexpr const char* kTypes[] = {" gauge\n", " counter\n", " histogram\n"};
    absl::StrAppend(&text, "# HELP ", family.name, " ", family.help, "\n# TYPE ", family.name,
                    kTypes[static_cast<size_t>(family.kind)]);
    for (const MetricFamily::Sample& sample : family.samples) AppendSample(family, sample, text);
  }
  return text;
}

}  // namespace banyan
