#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ids.h"
#include "core/units.h"
#include "topology/overlay/did_you_mean.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

// Of a link below a bit per second no plan can be made.
constexpr NumberRange kMbps = {.low = 1e-6, .high = 1e9, .unit = NumberUnit::kMegabits};
constexpr NumberRange kDelayMs = {.low = 0, .high = 600 * 1000, .unit = NumberUnit::kMilliseconds};
constexpr NumberRange kLossPercent = {.low = 0, .high = 100};
// TCP's time-outs double with each loss in a row: beyond this part it carries next to nothing, whatever the rate.
constexpr double kMostLossPercent = 50;
// Of 10^9 bytes, in any currency.
constexpr NumberRange kPricePerGb = {.low = 0, .high = 1e9};
constexpr NumberRange kLatitude = {.low = -90, .high = 90};
constexpr NumberRange kLongitude = {.low = -180, .high = 180};

void ReadNodeAddress(YamlMapReader& map, const char* key, absl::Status (*check)(absl::string_view), std::string& out,
                     YamlProblems& problems) {
  const YamlValue* value = map.Find(key);
  if (value == nullptr) return;
  out = ReadText(*value, map.PathOf(key), problems).value_or("");
  const absl::Status status = check(out);
  if (!status.ok()) problems.Add(value->place, absl::StrCat(map.PathOf(key), ": ", status.message()));
}

void ReadCap(YamlMapReader& map, const char* key, std::optional<double>& cap_bps, YamlProblems& problems) {
  const YamlValue* value = map.Find(key);
  if (value == nullptr) return;
  const std::optional<double> mbps = ReadNumber(*value, map.PathOf(key), kMbps, problems);
  if (mbps.has_value()) cap_bps = *mbps * kBitsPerMegabit;
}

// Refuses the short forms that people try in a list of maps. `example` is the long one.
void CheckEntry(const YamlValue& value, const std::string& where, const char* example, YamlProblems& problems) {
  const bool is_short =
      value.kind == YamlValue::Kind::kSequence ||
      (value.kind == YamlValue::Kind::kScalar && value.scalar.find_first_of(":=") == std::string::npos);
  if (!is_short) return;
  problems.Add(value.place, absl::StrCat(where, ": expected a map such as ", example, ", got ", Describe(value)));
}

// Latitude and longitude, in degrees.
std::optional<EarthPosition> ReadPosition(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* value = map.Find("place");
  if (value == nullptr) return std::nullopt;
  const std::string where = map.PathOf("place");
  if (value->kind != YamlValue::Kind::kSequence || value->items.size() != 2) {
    problems.Add(value->place,
                 absl::StrCat(where, ": expected [latitude, longitude] in degrees, got ", Describe(*value)));
    return std::nullopt;
  }
  const std::optional<double> latitude = ReadNumber(*value->items[0], where, kLatitude, problems);
  const std::optional<double> longitude = ReadNumber(*value->items[1], where, kLongitude, problems);
  return EarthPosition{latitude.value_or(0), longitude.value_or(0)};
}

NodeConfig ReadNodeConfig(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  CheckEntry(value, where, "{name: n1}", problems);
  NodeConfig node;
  node.place = value.place;
  YamlMapReader map(value, where, problems);
  const YamlValue* name = map.Require("name");
  if (name != nullptr) node.name = ReadName(*name, map.PathOf("name"), problems).value_or("");
  ReadNodeAddress(map, "address", CheckConnectAddress, node.address, problems);
  ReadNodeAddress(map, "listen", CheckListenAddress, node.listen, problems);
  map.Integer("workers", 1, kMaxWorkersPerNode, node.workers);
  ReadCap(map, "up_mbps", node.up_cap_bps, problems);
  ReadCap(map, "down_mbps", node.down_cap_bps, problems);
  ReadPublicKey(map, node.public_key, problems);
  node.position = ReadPosition(map, problems);
  map.Number("price_per_gb", kPricePerGb, node.price_per_gb);
  map.Finish();
  return node;
}

void ReadBetween(YamlMapReader& map, LinkConfig& link, YamlProblems& problems) {
  const YamlValue* between = map.Require("between");
  if (between == nullptr) return;
  const std::string where = map.PathOf("between");
  if (between->kind != YamlValue::Kind::kSequence || between->items.size() != 2) {
    problems.Add(between->place,
                 absl::StrCat(where, ": expected the names of two nodes, [a, b], got ", Describe(*between)));
    return;
  }
  link.a = ReadName(*between->items[0], where, problems).value_or("");
  link.b = ReadName(*between->items[1], where, problems).value_or("");
}

// Reads one number for both directions, or [a to b, b to a]. Leaves alone what is wrong; false where the key is absent.
bool ReadBothWays(YamlMapReader& map, const char* key, const NumberRange& range, double scale, double& a_to_b,
                  double& b_to_a, YamlProblems& problems) {
  const YamlValue* value = map.Find(key);
  if (value == nullptr) return false;
  const std::string where = map.PathOf(key);
  if (value->kind == YamlValue::Kind::kSequence && value->items.size() != 2) {
    problems.Add(value->place, absl::StrCat(where, ": expected one number, or two as [a to b, b to a], got a list of ",
                                            value->items.size()));
    return true;
  }
  const bool both = value->kind != YamlValue::Kind::kSequence;
  const std::optional<double> there = ReadNumber(both ? *value : *value->items[0], where, range, problems);
  const std::optional<double> back = ReadNumber(both ? *value : *value->items[1], where, range, problems);
  if (there.has_value()) a_to_b = *there * scale;
  if (back.has_value()) b_to_a = *back * scale;
  return true;
}

double ReadLoss(YamlMapReader& map, YamlProblems& problems) {
  const YamlValue* const value = map.Find("loss_percent");
  if (value == nullptr) return 0;
  const double percent = ReadNumber(*value, map.PathOf("loss_percent"), kLossPercent, problems).value_or(0);
  if (percent > kMostLossPercent) {
    problems.Add(value->place, absl::StrCat(map.PathOf("loss_percent"), ": expected at most ", kMostLossPercent,
                                            ", beyond which TCP carries next to nothing, got ", Describe(*value),
                                            "; leave such a link out"));
  }
  return percent / 100;
}

LinkConfig ReadLink(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  CheckEntry(value, where, "{between: [n1, n2], mbps: 100}", problems);
  LinkConfig link;
  link.place = value.place;
  YamlMapReader map(value, where, problems);
  ReadBetween(map, link, problems);
  link.has_rates = ReadBothWays(map, "mbps", kMbps, kBitsPerMegabit, link.a_to_b_bps, link.b_to_a_bps, problems);
  double delay_ms = 0;
  map.Number("delay_ms", kDelayMs, delay_ms);
  link.delay = absl::Milliseconds(delay_ms);
  link.loss_fraction = ReadLoss(map, problems);
  ReadBothWays(map, "price_per_gb", kPricePerGb, 1, link.a_to_b_price_per_gb, link.b_to_a_price_per_gb, problems);
  map.Finish();
  return link;
}

}  // namespace

std::vector<NodeConfig> ReadNodes(const YamlValue& value, YamlProblems& problems) {
  std::vector<NodeConfig> nodes;
  if (value.kind != YamlValue::Kind::kSequence) {
    problems.Add(value.place,
                 absl::StrCat("nodes: expected a list such as [{name: n1}, {name: n2}], got ", Describe(value)));
    return nodes;
  }
  const int count = static_cast<int>(value.items.size());
  if (count < 2 || count > kMaxOverlayNodes) {
    problems.Add(value.place,
                 absl::StrCat("nodes: expected at least 2 and at most ", kMaxOverlayNodes, " nodes, got ", count));
    return nodes;
  }
  for (int i = 0; i < count && problems.status().ok(); ++i) {
    nodes.push_back(ReadNodeConfig(*value.items[i], absl::StrCat("nodes[", i, "]"), problems));
  }
  return nodes;
}

std::vector<LinkConfig> ReadLinks(const YamlValue& value, YamlProblems& problems) {
  std::vector<LinkConfig> links;
  if (value.kind != YamlValue::Kind::kSequence) {
    problems.Add(value.place, absl::StrCat("links: expected a list such as [{between: [n1, n2], mbps: 100}], got ",
                                           Describe(value)));
    return links;
  }
  for (size_t i = 0; i < value.items.size() && problems.status().ok(); ++i) {
    links.push_back(ReadLink(*value.items[i], absl::StrCat("links[", i, "]"), problems));
  }
  return links;
}

void CheckNodes(const std::vector<NodeConfig>& nodes, YamlProblems& problems) {
  std::map<std::string, int> line_of_name;
  std::map<std::string, std::string> name_of_address;
  for (const NodeConfig& node : nodes) {
    const auto [same_name, is_new] = line_of_name.emplace(node.name, node.place.line);
    if (!is_new) {
      problems.Add(node.place,
                   absl::StrCat("two nodes have the name '", node.name, "'; the other is in line ", same_name->second));
    }
    if (node.address.empty()) continue;
    const auto [same_address, is_new_address] = name_of_address.emplace(node.address, node.name);
    if (!is_new_address) {
      problems.Add(node.place, absl::StrCat("nodes '", same_address->second, "' and '", node.name,
                                            "' have the same address ", node.address));
    }
  }
}

void CheckNodeName(const std::string& name, const FilePlace& place, const std::string& where,
                   const std::set<std::string>& names, YamlProblems& problems) {
  if (names.count(name) > 0) return;
  problems.Add(place,
               absl::StrCat(where, ": unknown node '", name, "'", DidYouMean(name, {names.begin(), names.end()})));
}

void CheckLinks(const std::vector<LinkConfig>& links, const std::set<std::string>& names, YamlProblems& problems) {
  std::map<std::pair<std::string, std::string>, int> line_of_pair;
  for (size_t i = 0; i < links.size() && problems.status().ok(); ++i) {
    const LinkConfig& link = links[i];
    for (const std::string& end : {link.a, link.b}) {
      CheckNodeName(end, link.place, absl::StrCat("links[", i, "].between"), names, problems);
    }
    if (link.a == link.b) {
      problems.Add(link.place, absl::StrCat("links[", i, "].between: joins '", link.a, "' to itself"));
    }
    const auto [same, is_new] = line_of_pair.emplace(std::minmax(link.a, link.b), link.place.line);
    if (!is_new) {
      problems.Add(link.place, absl::StrCat("links[", i, "].between: a second link between '", link.a, "' and '",
                                            link.b, "'; the first is in line ", same->second));
    }
  }
}

}  // namespace banyan
