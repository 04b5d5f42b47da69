// Serves metrics at http://host:port/metrics in Prometheus' text format, says "ok" at /healthz, for probes, and what
// else its maker has. Thread-compatible, but Wake is for any thread.
#ifndef BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_
#define BANYAN_RUNTIME_METRICS_METRICS_PAGE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/http/http_route.h"
#include "runtime/http/http_server.h"

namespace banyan {

// One metric with its values, as a monitoring system reads it. A value; thread-compatible.
struct MetricFamily {
  // A counter only rises, until its process starts anew; its name ends with _total. A histogram is made by Histogram.
  enum class Kind : uint8_t { kGauge, kCounter, kHistogram };
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    Labels labels;
    double value = 0;
    std::string suffix = {};  // of the family's name, in a histogram
    friend bool operator==(const Sample&, const Sample&) = default;
  };

  // Of which a family has a series each.
  static constexpr size_t kMostKeys = 200;

  std::string name;  // letters, digits and _; with its unit
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<Sample> samples;

  // Adds a series of a key: those of the first kMostKeys have their own, and all others one together.
  void AddOfKey(std::string key, double value) {
    if (samples.size() > kMostKeys) {
      samples.back().value += value;
    } else {
      Add({{"key", samples.size() == kMostKeys ? "other keys" : std::move(key)}}, value);
    }
  }
  void Add(Labels labels, double value) { samples.push_back({std::move(labels), value}); }
  friend bool operator==(const MetricFamily&, const MetricFamily&) = default;
};

// How long something took, again and again, as Prometheus counts it: in buckets from 5 ms to 100 s. A value;
// thread-compatible.
class Histogram {
 public:
  // Counts `times` of them that took `seconds` each.
  void Add(double seconds, uint64_t times);
  // REQUIRES: `name` ends with _seconds.
  MetricFamily Family(std::string name, std::string help) const;

 private:
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                         1.0,   2.5,  5.0,   10.0, 25.0, 50.0, 100.0};

  std::array<uint64_t, kBounds.size() + 1> counts_ = {};  // up to each bound, and beyond the last
  double sum_s_ = 0;
};

// Returns the path /readyz, for all to see whether a process does its work yet: "ok", or 503 and "not yet".
HttpRoute ReadinessRoute(std::function<bool()> is_ready);

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
