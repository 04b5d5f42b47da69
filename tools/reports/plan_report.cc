#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/json_writer.h"
#include "core/units.h"
#include "tools/reports/plan_reports.h"
#include "topology/planners/route_table.h"

namespace banyan {
namespace {

constexpr double kBitsPerMegabyte = 8e6;

// "n1 <- n2 n3; n3 <- n4", from the root outwards.
std::string HalfText(const std::map<NodeId, NodeId>& parents, NodeId root, absl::string_view arrow,
                     const NetworkView& view) {
  std::map<NodeId, std::vector<NodeId>> children;
  for (const auto& [node, parent] : parents) children[parent].push_back(node);
  std::string text;
  std::vector<NodeId> order = {root};
  for (size_t i = 0; i < order.size(); ++i) {
    const auto found = children.find(order[i]);
    if (found == children.end()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", view.NameOf(order[i]), " ", arrow);
    for (const NodeId child : found->second) {
      absl::StrAppend(&text, " ", view.NameOf(child));
      order.push_back(child);
    }
  }
  return text;
}

std::string TreeTable(const Policy& policy, const NetworkView& view, size_t name_width) {
  const int width = static_cast<int>(name_width);
  std::string text = absl::StrFormat("\n%-*s  share %%  reduce s/MB  broadcast s/MB\n", width, "root");
  RouteTable routes(&view);
  for (const Tree& tree : policy.trees) {
    const TreeDelay delay = DelayOf(tree, routes);
    absl::StrAppendFormat(&text, "%-*s  %7.2f  %11.4f  %14.4f\n", width, view.NameOf(tree.root), 100 * tree.share,
                          delay.reduce * kBitsPerMegabyte, delay.broadcast * kBitsPerMegabyte);
  }
  return text;
}

// What hosts and links carry at most, beyond each link alone.
std::string CapsText(const NetworkView& view) {
  std::string text;
  for (const NetworkNode& node : view.nodes()) {
    const auto append = [&](const char* what, const std::optional<double>& cap_bps) {
      if (cap_bps.has_value()) {
        absl::StrAppendFormat(&text, "  %s %s at most %.1f Mbit/s\n", node.name, what, *cap_bps / kBitsPerMegabit);
      }
    };
    append("sends", node.up_cap_bps);
    append("receives", node.down_cap_bps);
  }
  for (const SharedCapacity& shared : view.shared()) {
    absl::StrAppend(&text, "  ", absl::StrJoin(shared.links, ", ", [&view](std::string* out, const auto& ends) {
      absl::StrAppend(out, view.NameOf(ends.first), " > ", view.NameOf(ends.second));
    }));
    absl::StrAppendFormat(&text, " carry at most %.1f Mbit/s\n", shared.capacity_bps / kBitsPerMegabit);
  }
  return text.empty() ? "" : absl::StrCat("\ncaps\n", text);
}

void WriteShared(const NetworkView& view, JsonWriter& json) {
  json.Name("shared").BeginArray();
  for (const SharedCapacity& shared : view.shared()) {
    json.BeginObject().Name("mbps").Number(shared.capacity_bps / kBitsPerMegabit).Name("links").BeginArray();
    for (const auto& [from, to] : shared.links) {
      json.BeginArray().String(view.NameOf(from)).String(view.NameOf(to)).EndArray();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

std::string RoutesText(const std::vector<Route>& routes, absl::string_view title, const NetworkView& view) {
  if (routes.empty()) return "";
  std::string text = absl::StrCat("\n", title, "\n");
  for (const Route& route : routes) {
    absl::StrAppend(&text, "  ", view.NameOf(route.from), " to ", view.NameOf(route.to), " over");
    for (size_t i = 1; i + 1 < route.path.size(); ++i) absl::StrAppend(&text, " ", view.NameOf(route.path[i]));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

void WriteHalf(const std::map<NodeId, NodeId>& parents, const NetworkView& view, JsonWriter& json) {
  json.BeginObject();
  for (const auto& [node, parent] : parents) json.Name(view.NameOf(node)).String(view.NameOf(parent));
  json.EndObject();
}

void WriteRoutes(const std::vector<Route>& routes, const NetworkView& view, JsonWriter& json) {
  json.BeginArray();
  for (const Route& route : routes) {
    json.BeginObject();
    json.Name("from").String(view.NameOf(route.from)).Name("to").String(view.NameOf(route.to)).Name("path");
    json.BeginArray();
    for (const NodeId node : route.path) json.String(view.NameOf(node));
    json.EndArray().EndObject();
  }
  json.EndArray();
}

// A cluster of its own: the paths belong to pairs of neighbours, whichever trees these are in.
std::string AuxiliaryDot(const Policy& policy, const NetworkView& view) {
  if (policy.auxiliary.empty()) return "";
  std::string text = "  subgraph cluster_auxiliary {\n    label=\"auxiliary paths\";\n";
  for (const NodeId node : policy.members) {
    absl::StrAppend(&text, "    a_", node.value(), " [label=\"", view.NameOf(node), "\"];\n");
  }
  for (const Route& route : policy.auxiliary) {
    absl::StrAppend(&text, "    ");
    for (const NodeId node : route.path) absl::StrAppend(&text, node == route.from ? "" : " -> ", "a_", node.value());
    absl::StrAppend(&text, " [style=dotted];\n");
  }
  return text + "  }\n";
}

}  // namespace

std::string PlanText(const Policy& policy, const NetworkView& view, absl::Duration least_round,
                     const std::optional<PlanPrice>& price) {
  std::string text = absl::StrFormat("planner         %s\nnetwork         %d nodes, %d directed links\n",
                                     policy.planner, view.nodes().size(), view.links().size());
  absl::StrAppendFormat(&text, "predicted rate  %.1f Mbit/s (of the model, summed and sent back to all)\n",
                        policy.rate_bps / kBitsPerMegabit);
  if (!policy.auxiliary.empty()) {
    absl::StrAppendFormat(&text, "with auxiliary paths    %.1f Mbit/s\n", policy.auxiliary_rate_bps / kBitsPerMegabit);
  }
  absl::StrAppendFormat(&text, "upper bound     %.1f Mbit/s (that no scheme can beat, were there no delays)\n",
                        policy.bound_bps / kBitsPerMegabit);
  absl::StrAppendFormat(&text, "ratio           %.3f (of rate%s to bound)\n", BoundRatio(policy),
                        policy.auxiliary.empty() ? "" : " with auxiliary paths");
  if (policy.round_time > absl::ZeroDuration()) {
    absl::StrAppendFormat(&text, "time of a round %.3g s, in chunks of %d elements\n",
                          absl::ToDoubleSeconds(policy.round_time), policy.chunk_max_elements);
    absl::StrAppendFormat(&text,
                          "least time      %.3g s (for links, delays and hosts, however it is planned), %.2f of it\n",
                          absl::ToDoubleSeconds(least_round), absl::FDivDuration(least_round, policy.round_time));
  }
  if (price.has_value()) absl::StrAppend(&text, PriceText(*price, view));
  size_t name_width = 4;
  for (const Tree& tree : policy.trees) name_width = std::max(name_width, view.NameOf(tree.root).size());
  absl::StrAppend(&text, TreeTable(policy, view, name_width));
  for (const Tree& tree : policy.trees) {
    absl::StrAppend(&text, "\ntree on ", view.NameOf(tree.root),  //
                    "\n  reduce     ", HalfText(tree.reduce_parent, tree.root, "<-", view), "\n  broadcast  ",
                    HalfText(tree.broadcast_parent, tree.root, "->", view), "\n");
  }
  return absl::StrCat(text, CapsText(view), RoutesText(policy.routes, "routes of tree edges without a link", view),
                      RoutesText(policy.auxiliary, "auxiliary paths", view));
}

std::string PlanJson(const Policy& policy, const NetworkView& view, absl::Duration least_round,
                     const std::optional<PlanPrice>& price) {
  JsonWriter json;
  json.BeginObject().Name("planner").String(policy.planner);
  json.Name("rate_mbps").Number(policy.rate_bps / kBitsPerMegabit);
  json.Name("auxiliary_rate_mbps").Number(policy.auxiliary_rate_bps / kBitsPerMegabit);
  json.Name("bound_mbps").Number(policy.bound_bps / kBitsPerMegabit);
  json.Name("bound_ratio").Number(BoundRatio(policy));
  if (policy.round_time > absl::ZeroDuration()) {
    json.Name("round_seconds").Number(absl::ToDoubleSeconds(policy.round_time));
    json.Name("least_round_seconds").Number(absl::ToDoubleSeconds(least_round));
  }
  if (price.has_value()) WritePrice(*price, json);
  json.Name("chunk_max_elements").Integer(policy.chunk_max_elements);
  json.Name("trees").BeginArray();
  for (const Tree& tree : policy.trees) {
    json.BeginObject().Name("root").String(view.NameOf(tree.root)).Name("share").Number(tree.share);
    json.Name("reduce");
    WriteHalf(tree.reduce_parent, view, json);
    json.Name("broadcast");
    WriteHalf(tree.broadcast_parent, view, json);
    json.EndObject();
  }
  json.EndArray().Name("routes");
  WriteRoutes(policy.routes, view, json);
  json.Name("auxiliary");
  WriteRoutes(policy.auxiliary, view, json);
  WriteShared(view, json);
  json.EndObject();
  return json.text() + "\n";
}

std::string PlanDot(const Policy& policy, const NetworkView& view) {
  std::string text = "digraph plan {\n";
  for (size_t i = 0; i < policy.trees.size(); ++i) {
    const Tree& tree = policy.trees[i];
    const auto vertex = [i](NodeId node) { return absl::StrCat("t", i, "_", node.value()); };
    absl::StrAppendFormat(&text, "  subgraph cluster_%d {\n    label=\"tree on %s, share %.2f %%\";\n", i,
                          view.NameOf(tree.root), 100 * tree.share);
    for (const NodeId node : policy.members) {
      absl::StrAppend(&text, "    ", vertex(node), " [label=\"", view.NameOf(node), "\"",
                      node == tree.root ? ", shape=doublecircle" : "", "];\n");
    }
    for (const auto& [node, parent] : tree.reduce_parent) {
      absl::StrAppend(&text, "    ", vertex(node), " -> ", vertex(parent), ";\n");
    }
    for (const auto& [node, parent] : tree.broadcast_parent) {
      absl::StrAppend(&text, "    ", vertex(parent), " -> ", vertex(node), " [style=dashed];\n");
    }
    absl::StrAppend(&text, "  }\n");
  }
  return absl::StrCat(text, AuxiliaryDot(policy, view), "}\n");
}

}  // namespace banyan
