#include "scheduler/policy/overlay_change.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_network.h"

namespace banyan {
namespace {

// Chunks of another size must still fit into the nodes' rooms, which are as large as when they joined.
constexpr int64_t kFloatBytes = 4;
constexpr int64_t kChunksByDefault = 64;

constexpr char kRestart[] = "put it back, or stop the job and start it with the new file";

bool SameTree(const CustomTreeConfig& a, const CustomTreeConfig& b) {
  return a.root == b.root && a.share == b.share && a.reduce == b.reduce && a.broadcast == b.broadcast;
}

// The rows of a configuration that is only looked at.
std::vector<YamlKey> RowsOf(const OverlayConfig& overlay) {
  return LeafKeys(JobKeys(const_cast<OverlayConfig&>(overlay)));
}
std::vector<YamlKey> RowsOf(const NodeConfig& node) { return NodeKeys(const_cast<NodeConfig&>(node)); }

bool IsLive(const YamlKey& key) { return key.change == KeyChange::kLive || key.change == KeyChange::kLiveOnly; }

class Comparison {
 public:
  // What `reported` of the rows of both say.
  void Compare(const std::string& prefix, const std::vector<YamlKey>& was, const std::vector<YamlKey>& is,
               bool (*reported)(const YamlKey&)) {
    for (size_t i = 0; i < was.size(); ++i) {
      if (!reported(was[i])) continue;
      Report(prefix + was[i].name, ReportText(was[i].slot), ReportText(is[i].slot), IsLive(was[i]));
    }
  }
  void Report(const std::string& field, const std::string& was, const std::string& is, bool may_change) {
    if (was == is) return;
    if (may_change) return Changed(absl::StrCat(field, ": ", was, " -> ", is));
    Refuse(field, absl::StrCat("from ", was, " to ", is));
  }
  void Number(const std::string& field, double was, double is) {
    if (was != is) Changed(absl::StrCat(field, ": ", was, " -> ", is));
  }
  void Refuse(const std::string& field, const std::string& how, const char* advice = kRestart) {
    if (!refusal_.ok()) return;
    refusal_ =
        absl::FailedPreconditionError(absl::StrCat(field, " cannot change while the job runs (", how, "): ", advice));
  }
  void Changed(std::string line) { changes_.push_back(std::move(line)); }

  bool refused() const { return !refusal_.ok(); }
  absl::StatusOr<std::vector<std::string>> Take() {
    if (!refusal_.ok()) return refusal_;
    return std::move(changes_);
  }

 private:
  absl::Status refusal_;
  std::vector<std::string> changes_;
};

void CompareNodes(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  if (was.nodes.size() > is.nodes.size()) {
    return comparison.Refuse("nodes", absl::StrCat("from ", was.nodes.size(), " to ", is.nodes.size(), " nodes"),
                             "leave all nodes in the file, and use `banyan remove` for one that shall go");
  }
  for (size_t i = 0; i < was.nodes.size(); ++i) {
    const NodeConfig& a = was.nodes[i];
    const NodeConfig& b = is.nodes[i];
    const std::string node = absl::StrCat("nodes[", i, "] (", a.name, ").");
    comparison.Compare(node, RowsOf(a), RowsOf(b), [](const YamlKey& key) { return key.change != KeyChange::kFixed; });
  }
  for (size_t i = was.nodes.size(); i < is.nodes.size(); ++i) {
    comparison.Changed(absl::StrCat("nodes: ", is.nodes[i].name, " is new"));
  }
}

void CompareLinks(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  const NetworkView before = MakeNetworkView(was);
  const NetworkView after = MakeNetworkView(is);
  for (const NetworkLink& link : after.links()) {
    const std::string name = absl::StrCat("links[", after.NameOf(link.from), " to ", after.NameOf(link.to), "]");
    const NetworkLink* const old = before.FindLink(link.from, link.to);
    const bool is_of_new_node = std::max(link.from, link.to).value() > was.nodes.size();
    if (old == nullptr && !is_of_new_node) return comparison.Refuse(name, "it is new");
    if (old == nullptr) continue;
    comparison.Number(name + ".mbps", old->throughput_bps / 1e6, link.throughput_bps / 1e6);
    comparison.Number(name + ".delay_ms", absl::ToDoubleMilliseconds(old->delay),
                      absl::ToDoubleMilliseconds(link.delay));
    comparison.Number(name + ".loss_percent", old->loss_fraction * 100, link.loss_fraction * 100);
    comparison.Number(name + ".price_per_gb", old->price_per_gb, link.price_per_gb);
  }
  for (const NetworkLink& link : before.links()) {
    if (after.FindLink(link.from, link.to) != nullptr) continue;
    return comparison.Refuse(absl::StrCat("links[", before.NameOf(link.from), " to ", before.NameOf(link.to), "]"),
                             "it is missing");
  }
}

void CompareShared(const OverlayConfig& was, const OverlayConfig& is, Comparison& comparison) {
  const bool is_same = std::equal(was.shared.begin(), was.shared.end(), is.shared.begin(), is.shared.end(),
                                  [](const SharedConfig& a, const SharedConfig& b) {
                                    return a.capacity_bps == b.capacity_bps && a.links == b.links;
                                  });
  if (!is_same) comparison.Changed(absl::StrCat("shared: ", is.shared.size(), " entries"));
}

void CheckChunks(const OverlayConfig& was, const OverlayConfig& is, int64_t element_bytes, Comparison& comparison) {
  const int64_t elements = is.chunks.max_elements;
  // As nodes do (node/peers/peer_network.cc).
  const int64_t by_default = kChunksByDefault * was.chunks.max_elements * kFloatBytes;
  const int64_t room = std::min(was.transport.relay_bytes > 0 ? was.transport.relay_bytes : by_default,
                                was.transport.early_bytes > 0 ? was.transport.early_bytes : by_default);
  if (elements > was.chunks.max_elements && elements * element_bytes > room) {
    comparison.Refuse("chunks.max_elements",
                      absl::StrCat("a chunk of ", elements * element_bytes, " bytes does not fit into the ", room,
                                   " of transport.relay_bytes and transport.early_bytes"),
                      "make it smaller");
  }
}

std::string TextOf(const CompressionRule& rule) {
  std::string text = absl::StrCat(rule.keys, ": ", TraitsOf(rule.codec)->name, ", ", NameOf(rule.controller));
  for (const ControllerNumber& number : rule.numbers) {
    absl::StrAppend(&text, ", ", number.name, " ", ExactText(number.value));
  }
  if (rule.selection == TopKSelection::kSampled) absl::StrAppend(&text, ", sampled");
  if (rule.error_feedback.has_value())
    absl::StrAppend(&text, ", error_feedback ", *rule.error_feedback ? "true" : "false");
  return text;
}

void AddSettings(const std::vector<YamlKey>& rows, const std::string& prefix, KeyChange change, JobSettings& settings) {
  for (const YamlKey& key : rows) {
    if (key.change == change) settings[prefix + key.name] = ReportText(key.slot);
  }
}

// The votes that a profile asks for, which the file itself does not say.
void AddVotes(const VoteRules& rules, JobSettings& settings) {
  settings["precision.profile (its votes)"] = absl::StrCat(
      "family ", static_cast<int>(rules.family), ", gate ", static_cast<int>(rules.gate), ", sender_threshold ",
      ExactText(rules.sender_threshold), ", result_margin ", ExactText(rules.result_margin), ", aggregate ",
      static_cast<int>(rules.aggregate), ", tie ", static_cast<int>(rules.tie));
}

// Calls `differs` with the name and the two values of the first setting that both have and that differs.
template <typename Differs>
void FindDifference(const JobSettings& was, const JobSettings& is, const Differs& differs) {
  for (const auto& [name, value] : was) {
    const auto found = is.find(name);
    if (found != is.end() && found->second != value) return differs(name, value, found->second);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CompareOverlays(const OverlayConfig& running, const OverlayConfig& wanted,
                                                         int64_t element_bytes) {
  Comparison comparison;
  const std::vector<YamlKey> was = RowsOf(running);
  const std::vector<YamlKey> is = RowsOf(wanted);
  comparison.Compare("", was, is, [](const YamlKey& key) { return key.change == KeyChange::kRefused; });
  if (running.operators != wanted.operators) comparison.Changed("operators: other names or keys");
  if (running.observers != wanted.observers) comparison.Changed("observers: other names or keys");
  CompareNodes(running, wanted, comparison);
  if (comparison.refused()) return comparison.Take();
  CompareLinks(running, wanted, comparison);
  CompareShared(running, wanted, comparison);
  comparison.Compare("", was, is, IsLive);
  const std::vector<CustomTreeConfig>& trees = wanted.topology.trees;
  if (!std::equal(running.topology.trees.begin(), running.topology.trees.end(), trees.begin(), trees.end(), SameTree)) {
    comparison.Changed(absl::StrCat("topology.trees: ", trees.size(), " custom trees"));
  }
  CheckChunks(running, wanted, element_bytes, comparison);
  FindDifference(FixedSettings(running), FixedSettings(wanted),
                 [&comparison](const std::string& name, const std::string& was, const std::string& is) {
                   comparison.Report(name, was, is, /*may_change=*/false);
                 });
  return comparison.Take();
}

JobSettings FixedSettings(const OverlayConfig& overlay) {
  JobSettings settings;
  for (const NodeConfig& node : overlay.nodes) {
    AddSettings(RowsOf(node), absl::StrCat("nodes (", node.name, ")."), KeyChange::kFixed, settings);
  }
  AddSettings(RowsOf(overlay), "", KeyChange::kFixed, settings);
  const auto append_rule = [](std::string* out, const CompressionRule& rule) { *out += TextOf(rule); };
  const std::string rules = absl::StrJoin(overlay.compression.rules, "; ", append_rule);
  settings["compression.rules"] = rules.empty() ? "(none)" : rules;
  if (overlay.low_bit.has_value()) AddVotes(*overlay.low_bit, settings);
  return settings;
}

JobSettings StartSettings(const OverlayConfig& overlay) {
  JobSettings settings = FixedSettings(overlay);
  AddSettings(RowsOf(overlay), "", KeyChange::kLiveOnly, settings);
  return settings;
}

absl::Status CompareSettings(const JobSettings& recorded, const JobSettings& now, const std::string& file_name) {
  absl::Status status;
  FindDifference(recorded, now, [&](const std::string& name, const std::string& was, const std::string& is) {
    status = absl::FailedPreconditionError(absl::StrCat(
        name, " is ", was, " in the running job, and ", is, " in ", file_name,
        ": it cannot change while a job runs. Bring the old file back. To begin another job with this one, end the "
        "running job first (`banyan stop`, then `banyan scheduler --another`), or begin with a new state (another "
        "--state-dir)"));
  });
  return status;
}

}  // namespace banyan
