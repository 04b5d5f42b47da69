#include "topology/overlay/link_fields.h"

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

const NetworkNode* ReadNode(YamlMapReader& map, absl::string_view key, const NetworkView& view,
                            YamlProblems& problems) {
  const YamlValue* value = map.Require(key);
  if (value == nullptr) return nullptr;
  const std::optional<std::string> name = ReadName(*value, map.PathOf(key), problems);
  if (!name.has_value()) return nullptr;
  const NetworkNode* node = view.FindNodeByName(*name);
  if (node == nullptr) {
    problems.Add(value->place, absl::StrCat(map.PathOf(key), ": expected a node of the overlay, got '", *name, "'"));
  }
  return node;
}

}  // namespace

std::optional<double> RequireNumber(YamlMapReader& map, absl::string_view key, const NumberRange& range,
                                    YamlProblems& problems) {
  const YamlValue* value = map.Require(key);
  return value == nullptr ? std::nullopt : ReadNumber(*value, map.PathOf(key), range, problems);
}

std::optional<std::pair<NodeId, NodeId>> ReadLinkEnds(YamlMapReader& map, const std::string& where,
                                                      const NetworkView& view, YamlProblems& problems) {
  const NetworkNode* from = ReadNode(map, "from", view, problems);
  const NetworkNode* to = ReadNode(map, "to", view, problems);
  if (from == nullptr || to == nullptr) return std::nullopt;
  if (view.FindLink(from->id, to->id) != nullptr) return std::pair(from->id, to->id);
  problems.Add(map.place(), absl::StrCat(where, ": the overlay has no link from ", from->name, " to ", to->name));
  return std::nullopt;
}

}  // namespace banyan
