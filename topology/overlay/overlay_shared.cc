#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/units.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

using Ends = std::pair<std::string, std::string>;

// Of a link below a bit per second no plan can be made.
constexpr NumberRange kMbps = {.low = 1e-6, .high = 1e9, .unit = NumberUnit::kMegabits};
constexpr char kSharedExample[] = "{links: [[n1, n2], [n1, n3]], mbps: 100}";

std::vector<Ends> ReadEnds(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  std::vector<Ends> links;
  if (value.kind != YamlValue::Kind::kSequence || value.items.empty()) {
    problems.Add(value.place,
                 absl::StrCat(where, ": expected a list of links such as [[n1, n2], [n1, n3]], got ", Describe(value)));
    return links;
  }
  for (const auto& item : value.items) {
    if (item->kind != YamlValue::Kind::kSequence || item->items.size() != 2) {
      problems.Add(item->place,
                   absl::StrCat(where, ": expected the names of two nodes, [from, to], got ", Describe(*item)));
      return links;
    }
    links.emplace_back(ReadName(*item->items[0], where, problems).value_or(""),
                       ReadName(*item->items[1], where, problems).value_or(""));
  }
  return links;
}

SharedConfig ReadEntry(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  SharedConfig shared;
  shared.place = value.place;
  YamlMapReader map(value, where, problems);
  if (const YamlValue* links = map.Require("links"); links != nullptr) {
    shared.links = ReadEnds(*links, map.PathOf("links"), problems);
  }
  if (const YamlValue* mbps = map.Require("mbps"); mbps != nullptr) {
    const std::optional<double> read = ReadNumber(*mbps, map.PathOf("mbps"), kMbps, problems);
    if (read.has_value()) shared.capacity_bps = *read * kBitsPerMegabit;
  }
  map.Finish();
  return shared;
}

}  // namespace

std::vector<SharedConfig> ReadShared(const YamlValue& value, YamlProblems& problems) {
  std::vector<SharedConfig> shared;
  if (value.kind != YamlValue::Kind::kSequence) {
    problems.Add(value.place,
                 absl::StrCat("shared: expected a list such as [", kSharedExample, "], got ", Describe(value)));
    return shared;
  }
  for (size_t i = 0; i < value.items.size() && problems.status().ok(); ++i) {
    shared.push_back(ReadEntry(*value.items[i], absl::StrCat("shared[", i, "]"), problems));
  }
  return shared;
}

void CheckShared(const OverlayConfig& overlay, YamlProblems& problems) {
  std::set<std::string> names;
  for (const NodeConfig& node : overlay.nodes) names.insert(node.name);
  std::set<Ends> pairs;
  for (const LinkConfig& link : overlay.links.value_or(std::vector<LinkConfig>())) {
    pairs.insert(std::minmax(link.a, link.b));
  }
  for (size_t i = 0; i < overlay.shared.size() && problems.status().ok(); ++i) {
    const SharedConfig& shared = overlay.shared[i];
    const std::string where = absl::StrCat("shared[", i, "].links");
    std::set<Ends> known;
    for (const Ends& ends : shared.links) {
      CheckNodeName(ends.first, shared.place, where, names, problems);
      CheckNodeName(ends.second, shared.place, where, names, problems);
      const bool is_link =
          overlay.links.has_value() ? pairs.contains(std::minmax(ends.first, ends.second)) : ends.first != ends.second;
      const std::string link = absl::StrCat("a link from '", ends.first, "' to '", ends.second, "'");
      if (!is_link) problems.Add(shared.place, absl::StrCat(where, ": there is not ", link));
      if (!known.insert(ends).second) problems.Add(shared.place, absl::StrCat(where, ": ", link, " is there twice"));
    }
  }
}

OverlayConfig WithoutCaps(OverlayConfig overlay) {
  for (NodeConfig& node : overlay.nodes) {
    node.up_cap_bps.reset();
    node.down_cap_bps.reset();
  }
  overlay.shared.clear();
  return overlay;
}

}  // namespace banyan
