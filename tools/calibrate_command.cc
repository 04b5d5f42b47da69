#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "precision/calibration/detector_calibration.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int64_t kMostSteps = 1000 * 1000 * 1000;

struct HarmedFile {
  std::string path;
  int64_t harmed_from = 0;
};

struct CalibrateFlags {
  std::vector<std::string> healthy;
  std::vector<HarmedFile> harmed;
  std::string name = "calibrated";
  std::string mode = "binary";
  CalibrationOptions options;
};

absl::Status AddHarmed(absl::string_view text, std::vector<HarmedFile>& harmed) {
  const size_t colon = text.rfind(':');
  HarmedFile file;
  if (colon == absl::string_view::npos || colon == 0 || !absl::SimpleAtoi(text.substr(colon + 1), &file.harmed_from) ||
      file.harmed_from < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a file and the step where harm begins, such as run.txt:400, got '", text, "'"));
  }
  file.path = std::string(text.substr(0, colon));
  --file.harmed_from;  // steps are counted from 1 for people
  harmed.push_back(std::move(file));
  return absl::OkStatus();
}

CommandLine MakeCommandLine(CalibrateFlags& flags) {
  CommandLine line(
      "banyan calibrate",
      "Makes an operating profile for low-bit rounds of the losses of past runs, a loss a line: the detector\n"
      "stays silent in healthy ones, and is tried on harmed ones.",
      "banyan calibrate --healthy run1.txt --healthy run2.txt --harmed spike.txt:400");
  line.Repeated("healthy", "FILE", "losses of a run in full precision", [&flags](absl::string_view text) {
    flags.healthy.emplace_back(text);
    return absl::OkStatus();
  });
  line.Repeated("harmed", "FILE:STEP", "losses of a run that is harmed from STEP on",
                [&flags](absl::string_view text) { return AddHarmed(text, flags.harmed); });
  line.Text("profile-name", "NAME", "the profile's name (default calibrated)", &flags.name);
  line.FormerName("profile-name", "name");
  line.Choice("mode", {"binary", "ternary"}, "the format of low-bit rounds (default binary)", &flags.mode);
  line.Integer("warmup-steps", "N", "of each run, in full precision (default 100)", 1, kMostSteps,
               &flags.options.warmup_steps);
  line.Number("smoothing", "PART", "weight of the newest loss (default 0.1)", 1e-6, 1, &flags.options.smoothing);
  line.Number("margin", "FACTOR", "threshold over what healthy runs reach (default 1.25)", 1, 1000,
              &flags.options.margin);
  return line;
}

absl::StatusOr<std::vector<double>> ReadLosses(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ReadLossList(*text, path);
}

absl::StatusOr<Calibration> Calibrate(const CalibrateFlags& flags) {
  std::vector<std::vector<double>> healthy;
  for (const std::string& path : flags.healthy) {
    absl::StatusOr<std::vector<double>> losses = ReadLosses(path);
    if (!losses.ok()) return losses.status();
    healthy.push_back(*std::move(losses));
  }
  std::vector<HarmedRun> harmed;
  for (const HarmedFile& file : flags.harmed) {
    absl::StatusOr<std::vector<double>> losses = ReadLosses(file.path);
    if (!losses.ok()) return losses.status();
    if (file.harmed_from >= static_cast<int64_t>(losses->size())) {
      return absl::InvalidArgumentError(absl::StrCat(file.path, ": expected harm to begin within its ", losses->size(),
                                                     " steps, and --harmed says step ", file.harmed_from + 1));
    }
    harmed.push_back({*std::move(losses), file.harmed_from});
  }
  return CalibrateDetector(healthy, harmed, flags.options);
}

}  // namespace

int CalibrateCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  CalibrateFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.healthy.empty()) return line.UsageError("expected --healthy with the losses of a run", err);
  const absl::StatusOr<Calibration> calibration = Calibrate(flags);
  if (!calibration.ok()) return line.Failure(calibration.status(), err);
  const LowBitFamily family = flags.mode == "ternary" ? LowBitFamily::kTernary : LowBitFamily::kBinary;
  out << CalibratedProfileYaml(flags.name, absl::StrJoin(flags.healthy, ", "), family, *calibration, flags.options);
  if (calibration->detections == calibration->harmed_runs) return kExitSuccess;
  err << "banyan calibrate: " << calibration->Evidence() << "; lower --margin, or the harm is too small to hear\n";
  return kExitFailure;
}

}  // namespace banyan
