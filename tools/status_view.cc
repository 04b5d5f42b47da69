#include "tools/status_view.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

template <typename Value>
Value Get(const YAML::Node& object, const char* name) {
  return object[name] && !object[name].IsNull() ? object[name].as<Value>() : Value();
}

template <typename Value>
std::optional<Value> GetOptional(const YAML::Node& object, const char* name) {
  if (!object[name] || object[name].IsNull()) return std::nullopt;
  return object[name].as<Value>();
}

StatusView::Node ParseNode(const YAML::Node& object) {
  StatusView::Node node;
  node.name = object["name"].as<std::string>();
  node.state = Get<std::string>(object, "state");
  node.address = Get<std::string>(object, "address");
  node.heard_s = GetOptional<double>(object, "heard_s");
  node.workers = Get<int64_t>(object, "workers");
  node.round = GetOptional<int64_t>(object, "round");
  if (Get<int64_t>(object, "step") > 0) node.loss = GetOptional<double>(object, "loss");
  node.sync_s = Get<double>(object, "sync_seconds");
  node.rejected_messages = Get<int64_t>(object, "rejected_messages");
  for (const auto& row : object["memory"]) node.memory_bytes += row.second.as<int64_t>();
  return node;
}

StatusView::Link ParseLink(const YAML::Node& object) {
  StatusView::Link link;
  link.from = object["from"].as<std::string>();
  link.to = object["to"].as<std::string>();
  link.mbps = Get<double>(object, "mbps");
  link.delay_ms = Get<double>(object, "delay_ms");
  link.source = Get<std::string>(object, "source");
  link.sent_bytes = Get<uint64_t>(object, "bytes");
  link.resent_bytes = Get<uint64_t>(object, "resent_bytes");
  return link;
}

StatusView ParseJob(const YAML::Node& object) {
  StatusView status;
  status.job = Get<std::string>(object, "job");
  status.state = Get<std::string>(object, "state");
  status.error = Get<std::string>(object, "error");
  status.epoch = object["epoch"].as<int64_t>();
  status.policy = object["policy"].as<int64_t>();
  status.planner = Get<std::string>(object, "planner");
  status.rate_mbps = Get<double>(object, "rate_mbps");
  status.bound_mbps = Get<double>(object, "bound_mbps");
  status.waiting_for = Get<std::vector<std::string>>(object, "waiting_for");
  for (const YAML::Node& node : object["nodes"]) status.nodes.push_back(ParseNode(node));
  for (const YAML::Node& link : object["links"]) status.links.push_back(ParseLink(link));
  for (const YAML::Node& tree : object["trees"]) {
    status.trees.push_back({Get<std::string>(tree, "root"), Get<double>(tree, "share")});
  }
  return status;
}

void AppendNodes(const StatusView& status, std::string& text) {
  absl::StrAppendFormat(&text, "\n%-12s %-9s %7s %8s %9s %9s %10s  %s\n", "node", "state", "workers", "round", "loss",
                        "sync ms", "memory MB", "address");
  for (const StatusView::Node& node : status.nodes) {
    absl::StrAppendFormat(&text, "%-12s %-9s %7d %8s %9s %9.1f %10.1f  %s\n", node.name, node.state, node.workers,
                          node.round ? absl::StrCat(*node.round) : "-",
                          node.loss ? absl::StrFormat("%.4f", *node.loss) : "-", node.sync_s * 1e3,
                          static_cast<double>(node.memory_bytes) / 1e6, node.address);
  }
}

void AppendLinks(const StatusView& status, std::string& text) {
  absl::StrAppendFormat(&text, "\n%-20s %9s %9s %9s %11s %11s\n", "link", "Mbit/s", "delay ms", "source", "sent MB",
                        "resent MB");
  for (const StatusView::Link& link : status.links) {
    absl::StrAppendFormat(&text, "%-20s %9.1f %9.1f %9s %11.2f %11.2f\n", absl::StrCat(link.from, " > ", link.to),
                          link.mbps, link.delay_ms, link.source, static_cast<double>(link.sent_bytes) / 1e6,
                          static_cast<double>(link.resent_bytes) / 1e6);
  }
}

}  // namespace

absl::StatusOr<StatusView> ParseStatus(absl::string_view json) {
  try {
    return ParseJob(YAML::Load(std::string(json)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("expected the status of a scheduler as JSON: ", error.what()));
  }
}

std::string FormatStatus(const StatusView& status) {
  std::string text =
      absl::StrFormat("job %s: %s, epoch %d, policy %d\n", status.job, status.state, status.epoch, status.policy);
  if (!status.error.empty()) absl::StrAppend(&text, "error: ", status.error, "\n");
  if (!status.waiting_for.empty())
    absl::StrAppend(&text, "waiting for ", absl::StrJoin(status.waiting_for, ", "), "\n");
  if (!status.planner.empty()) {
    absl::StrAppendFormat(&text, "plan: %s, %.1f Mbit/s of at most %.1f\n", status.planner, status.rate_mbps,
                          status.bound_mbps);
  }
  if (!status.trees.empty()) {
    absl::StrAppend(&text, "trees: ",
                    absl::StrJoin(status.trees, ", ",
                                  [](std::string* out, const StatusView::Tree& tree) {
                                    absl::StrAppendFormat(out, "%s %.1f %%", tree.root, tree.share * 100);
                                  }),
                    "\n");
  }
  AppendNodes(status, text);
  AppendLinks(status, text);
  return text;
}

}  // namespace banyan
