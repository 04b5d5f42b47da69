#include "tools/plan_command.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/command_line.h"
#include "tools/model_size.h"
#include "tools/reports/plan_report.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// What the command line says beyond the file.
struct PlanFlags {
  std::string path;
  std::string planner;  // empty: the file's
  bool has_roots = false;
  std::optional<int> roots;  // empty with has_roots: all
  std::optional<std::string> root;
  int64_t arity = 0;        // 0: the file's
  std::string shares;       // empty: the file's
  std::string auxiliary;    // "on" or "off"; empty: the file's multipath.enabled
  int64_t model_bytes = 0;  // 0: unknown
  bool json = false;
  bool dot = false;
};

CommandLine MakeCommandLine(PlanFlags& flags) {
  CommandLine line(
      "banyan plan",
      "Plans how gradients travel over an overlay: trees, shares, delays, auxiliary paths, the all-reduce rates\n"
      "that the links allow without and with these, and a bound that no scheme can beat.",
      "banyan plan deploy/topologies/internet2.yaml --planner fapt --roots all");
  line.Positional("OVERLAY.yaml", "the overlay; nodes and links suffice", &flags.path);
  line.Choice("planner", PlannerNames(), "instead of the file's topology.planner", &flags.planner);
  line.Custom("roots", "N|all", "fapt, packed: how many roots", [&flags](absl::string_view value) {
    flags.has_roots = true;
    if (value == "all") return absl::OkStatus();
    int roots = 0;
    if (!absl::SimpleAtoi(value, &roots) || roots < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected all or a whole number of at least 1, got '", value, "'"));
    }
    flags.roots = roots;
    return absl::OkStatus();
  });
  line.Text("root", "NAME", "plan one tree, on this node", &flags.root);
  line.Choice("shares", {"quality", "balanced"}, "instead of the file's topology.shares", &flags.shares);
  line.Choice("auxiliary", {"on", "off"}, "auxiliary paths; default: as multipath.enabled says", &flags.auxiliary);
  line.Integer("k", "K", "bkt: children per node", 1, kMaxOverlayNodes, &flags.arity);
  line.Custom("model-bytes", "B", "plan for the time that a round of such a model takes",
              [&flags](absl::string_view value) {
                const absl::StatusOr<int64_t> bytes = ReadModelBytes(value);
                if (bytes.ok()) flags.model_bytes = *bytes;
                return bytes.status();
              });
  line.Switch("json", "print JSON", &flags.json);
  line.Switch("dot", "print a graph for graphviz", &flags.dot);
  line.Exclude("json", "dot");
  return line;
}

// Refuses flags that the planner has no use for.
absl::Status CheckUse(const PlanFlags& flags, const std::string& planner) {
  const bool has_many = planner == "fapt" || planner == "packed";
  if (flags.has_roots && !has_many) {
    return absl::InvalidArgumentError(absl::StrCat("--roots: the planner '", planner,
                                                   "' has one root or its own trees; fapt and packed have --roots"));
  }
  if (flags.arity > 0 && planner != "bkt") {
    return absl::InvalidArgumentError(
        absl::StrCat("--k: only the planner bkt has it, not '", planner, "'; add --planner bkt"));
  }
  if (flags.root.has_value() && planner == "custom") {
    return absl::InvalidArgumentError("--root: the trees of the planner 'custom' are the file's");
  }
  return absl::OkStatus();
}

absl::Status ApplyFlags(const PlanFlags& flags, OverlayConfig& overlay) {
  TopologyConfig& topology = overlay.topology;
  if (!flags.planner.empty()) topology.planner = flags.planner;
  if (absl::Status status = CheckUse(flags, topology.planner); !status.ok()) return status;
  if (flags.has_roots) topology.roots = flags.roots;
  if (!flags.shares.empty()) {
    topology.shares = flags.shares == "balanced" ? ShareRule::kBalanced : ShareRule::kQuality;
  }
  if (!flags.auxiliary.empty()) overlay.multipath.enabled = flags.auxiliary == "on";
  if (flags.arity > 0) topology.arity = static_cast<int>(flags.arity);
  if (flags.root.has_value()) {
    if (flags.has_roots && flags.roots != 1) {
      return absl::InvalidArgumentError("--root plans one tree; leave --roots out or give 1");
    }
    topology.root = flags.root;
    topology.roots = 1;
  }
  if (topology.roots.has_value() && *topology.roots > static_cast<int>(overlay.nodes.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--roots ", *topology.roots, ": the overlay has only ", overlay.nodes.size(), " nodes"));
  }
  return absl::OkStatus();
}

int Fail(const absl::Status& status, std::ostream& err) {
  err << "banyan plan: " << std::string(status.message()) << "\n";
  return kExitFailure;
}

}  // namespace

int PlanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PlanFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.path);
  if (!overlay.ok()) return Fail(overlay.status(), err);
  if (const absl::Status status = ApplyFlags(flags, *overlay); !status.ok()) {
    return line.UsageError(status.message(), err);
  }
  const NetworkView view = MakeNetworkView(*overlay);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(*overlay, view);
  if (!config.ok()) return line.UsageError(config.status().message(), err);
  if (flags.model_bytes > 0) config->tensor_elements = {flags.model_bytes / kElementBytes};
  absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  if (!policy.ok()) return Fail(policy.status(), err);
  policy->bound_bps = std::min(policy->bound_bps, RateBoundBps(view));
  out << (flags.json ? PlanJson(*policy, view) : flags.dot ? PlanDot(*policy, view) : PlanText(*policy, view));
  return kExitSuccess;
}

}  // namespace banyan
