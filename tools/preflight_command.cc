#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "precision/preflight/preflight.h"
#include "precision/profile/binding_proposal.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

struct PreflightFlags {
  std::string overlay;
  std::string profile;
  std::string binding;
  std::string tensors;
  std::string propose;  // family; empty: check
  bool json = false;
};

CommandLine MakeCommandLine(PreflightFlags& flags) {
  CommandLine line(
      "banyan preflight",
      "Checks an operating profile and a binding for low-bit rounds: coverage, sensitive roles, family and\n"
      "share. Then rehearses warm-up, admission and a forced veto with the controls alone, on a loss that falls;\n"
      "no model runs. Or proposes a binding.",
      "banyan preflight overlay.yaml --profile profile.yaml --binding binding.yaml");
  line.Positional("OVERLAY.yaml", "the job, for how many workers vote", &flags.overlay);
  line.Text("profile", "FILE", "the operating profile", &flags.profile);
  line.Text("binding", "FILE", "the binding", &flags.binding);
  line.Text("tensors", "FILE", "the model: a name and a shape such as 128x784 a line", &flags.tensors);
  line.Choice("propose", {"binary", "ternary"}, "print a binding for the tensors, instead of checking one",
              &flags.propose);
  line.Switch("json", "print JSON", &flags.json);
  line.Needs("propose", "tensors");
  line.Exclude("propose", "profile");
  line.Exclude("propose", "binding");
  line.Exclude("propose", "json");
  return line;
}

absl::StatusOr<std::vector<NamedShape>> ReadTensors(const std::string& path) {
  if (path.empty()) return std::vector<NamedShape>();
  absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ReadTensorList(*text, path);
}

absl::StatusOr<std::string> Propose(const PreflightFlags& flags) {
  absl::StatusOr<std::vector<NamedShape>> tensors = ReadTensors(flags.tensors);
  if (!tensors.ok()) return tensors.status();
  const LowBitFamily family = flags.propose == "binary" ? LowBitFamily::kBinary : LowBitFamily::kTernary;
  return BindingYaml(ProposeBinding(*tensors, family, "proposal", flags.tensors));
}

absl::StatusOr<PreflightInput> ReadInput(const PreflightFlags& flags) {
  PreflightInput input;
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay.status();
  input.workers = 0;
  for (const NodeConfig& node : overlay->nodes) input.workers += node.workers;
  const absl::StatusOr<std::string> profile_text = ReadOverlayText(flags.profile);
  if (!profile_text.ok()) return profile_text.status();
  absl::StatusOr<OperatingProfile> profile = ReadProfile(*profile_text, flags.profile);
  if (!profile.ok()) return profile.status();
  input.profile = *std::move(profile);
  const absl::StatusOr<std::string> binding_text = ReadOverlayText(flags.binding);
  if (!binding_text.ok()) return binding_text.status();
  absl::StatusOr<PrecisionBinding> binding = ReadBinding(*binding_text, flags.binding);
  if (!binding.ok()) return binding.status();
  input.binding = *std::move(binding);
  absl::StatusOr<std::vector<NamedShape>> tensors = ReadTensors(flags.tensors);
  if (!tensors.ok()) return tensors.status();
  input.tensors = *std::move(tensors);
  return input;
}

}  // namespace

int PreflightCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  PreflightFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!flags.propose.empty()) {
    const absl::StatusOr<std::string> yaml = Propose(flags);
    if (!yaml.ok()) return line.Failure(yaml.status(), err);
    out << *yaml;
    return kExitSuccess;
  }
  if (flags.profile.empty() || flags.binding.empty()) {
    return line.UsageError("expected --profile and --binding, or --propose with --tensors", err);
  }
  const absl::StatusOr<PreflightInput> input = ReadInput(flags);
  if (!input.ok()) return line.Failure(input.status(), err);
  const PreflightReport report = RunPreflight(*input);
  out << (flags.json ? PreflightJson(report) : PreflightText(report));
  return report.is_passed() ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
