// One metric with its values, as a monitoring system reads it. A value; thread-compatible.
#ifndef BANYAN_RUNTIME_METRICS_METRIC_FAMILY_H_
#define BANYAN_RUNTIME_METRICS_METRIC_FAMILY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace banyan {

struct MetricFamily {
  // A counter only rises, until its process starts anew; its name ends with _total.
  enum class Kind : uint8_t { kGauge, kCounter };
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    Labels labels;
    double value = 0;
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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_METRICS_METRIC_FAMILY_H_
