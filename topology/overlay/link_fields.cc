#include "topology/overlay/link_fields.h"

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

YamlSlot NodeOf(NodeId& out, const NetworkView& view) {
  YamlSlot slot = {.form = "name"};
  slot.read = [&](const YamlSpot& at) {
    const std::optional<std::string> name = ReadName(at.value, at.where, at.problems);
    const NetworkNode* const node = name.has_value() ? view.FindNodeByName(*name) : nullptr;
    if (node != nullptr) out = node->id;
    if (node != nullptr || !name.has_value()) return;
    at.Refuse(absl::StrCat("expected a node of the overlay, got '", *name, "'"));
  };
  return slot;
}

}  // namespace

YamlSlot LinkEntry(NodeId& from, NodeId& to, const NetworkView& view, std::vector<YamlKey> more) {
  more.push_back({"from", Required(NodeOf(from, view))});
  more.push_back({"to", Required(NodeOf(to, view))});
  return Map(std::move(more), [&](YamlMapReader& map, YamlProblems& problems) {
    if (!problems.status().ok() || view.FindLink(from, to) != nullptr) return;
    problems.Add(map.place(), absl::StrCat(map.where(), ": the overlay has no link from ", view.NameOf(from), " to ",
                                           view.NameOf(to)));
  });
}

}  // namespace banyan
