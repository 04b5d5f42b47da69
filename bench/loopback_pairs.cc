#include "bench/loopback_pairs.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/timing.h"
#include "core/check.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

std::string FormatList(const std::vector<double>& values) {
  return absl::StrCat(
      "[", absl::StrJoin(values, ",", [](std::string* out, double v) { absl::StrAppendFormat(out, "%.9f", v); }), "]");
}

void TakeSlower(const std::vector<double>& from, std::vector<double>& into) {
  BANYAN_CHECK(from.size() == into.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

std::string FormatPairs(const LoopbackPairs& pairs) {
  return absl::StrCat("{\"banyan_seconds\":", FormatList(pairs.banyan_seconds),
                      ",\"gloo_seconds\":", FormatList(pairs.gloo_seconds), "}");
}

absl::StatusOr<LoopbackPairs> ParsePairs(absl::string_view line) {
  try {
    const YAML::Node object = YAML::Load(std::string(line));
    LoopbackPairs pairs = {object["banyan_seconds"].as<std::vector<double>>(),
                           object["gloo_seconds"].as<std::vector<double>>()};
    if (pairs.banyan_seconds.size() == pairs.gloo_seconds.size()) return pairs;
    return absl::InvalidArgumentError("expected as many times of Banyan as of Gloo");
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("expected a process's times as JSON: ", error.what()));
  }
}

LoopbackPairs Slowest(const std::vector<LoopbackPairs>& processes) {
  BANYAN_CHECK(!processes.empty());
  LoopbackPairs slowest = processes.front();
  for (const LoopbackPairs& process : processes) {
    TakeSlower(process.banyan_seconds, slowest.banyan_seconds);
    TakeSlower(process.gloo_seconds, slowest.gloo_seconds);
  }
  return slowest;
}

LoopbackSummary Summarize(const LoopbackPairs& pairs) {
  std::vector<double> ratios;
  for (size_t i = 0; i < pairs.banyan_seconds.size(); ++i) {
    ratios.push_back(pairs.banyan_seconds[i] / pairs.gloo_seconds[i]);
  }
  return {Median(pairs.banyan_seconds), Median(pairs.gloo_seconds), Median(std::move(ratios))};
}

}  // namespace banyan
