#include "topology/overlay/cross_traffic.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/units.h"
#include "topology/overlay/link_fields.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

constexpr double kLeastSeconds = 1e-3;

NumberRange Seconds(double low) { return {low, kMostSeconds, /*low_allowed=*/true, NumberUnit::kSeconds}; }

void ReadTraffic(const YamlValue& value, const std::string& where, const NetworkView& view, YamlProblems& problems,
                 std::vector<CrossTraffic>& traffic) {
  YamlMapReader map(value, where, problems);
  const std::optional<double> mbps =
      RequireNumber(map, "mbps", {kLeastMbps, kMostMbps, /*low_allowed=*/true, NumberUnit::kMegabits}, problems);
  const std::optional<double> on = RequireNumber(map, "on_seconds", Seconds(kLeastSeconds), problems);
  const std::optional<double> off = RequireNumber(map, "off_seconds", Seconds(0), problems);
  std::optional<double> first_at = 0;
  if (map.Find("first_at_seconds") != nullptr) first_at = RequireNumber(map, "first_at_seconds", Seconds(0), problems);
  const std::optional<std::pair<NodeId, NodeId>> ends = ReadLinkEnds(map, where, view, problems);
  map.Finish();
  if (!mbps.has_value() || !on.has_value() || !off.has_value() || !first_at.has_value() || !ends.has_value()) return;
  traffic.push_back({ends->first, ends->second, *mbps * kBitsPerMegabit, absl::Seconds(*on), absl::Seconds(*off),
                     absl::Seconds(*first_at)});
}

}  // namespace

bool IsOn(const CrossTraffic& traffic, absl::Duration elapsed) {
  if (elapsed < traffic.first_at) return false;
  absl::Duration in_period;
  absl::IDivDuration(elapsed - traffic.first_at, traffic.on + traffic.off, &in_period);
  return in_period < traffic.on;
}

absl::Duration NextBurst(const CrossTraffic& traffic, absl::Duration elapsed) {
  if (elapsed < traffic.first_at) return traffic.first_at;
  absl::Duration in_period;
  const absl::Duration period = traffic.on + traffic.off;
  absl::IDivDuration(elapsed - traffic.first_at, period, &in_period);
  return elapsed - in_period + period;
}

absl::StatusOr<std::vector<CrossTraffic>> ParseCrossTraffic(absl::string_view text, absl::string_view file_name,
                                                            const NetworkView& view) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  YamlProblems problems(file_name);
  YamlMapReader file(document->root(), "", problems);
  const YamlValue* list = file.Require("traffic");
  std::vector<CrossTraffic> traffic;
  if (list != nullptr && list->kind != YamlValue::Kind::kSequence) {
    problems.Add(list->place, absl::StrCat("traffic: expected a list of bursts, got ", Describe(*list)));
  } else if (list != nullptr) {
    for (size_t i = 0; i < list->items.size(); ++i) {
      ReadTraffic(*list->items[i], absl::StrCat("traffic[", i, "]"), view, problems, traffic);
    }
  }
  file.Finish();
  if (!problems.status().ok()) return problems.status();
  return traffic;
}

absl::StatusOr<std::vector<CrossTraffic>> LoadCrossTraffic(const std::string& path, const NetworkView& view) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ParseCrossTraffic(*text, path, view);
}

}  // namespace banyan
