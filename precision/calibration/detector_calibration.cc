#include "precision/calibration/detector_calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "core/json_writer.h"
#include "precision/control/loss_trend.h"
#include "precision/profile/precision_binding.h"

namespace banyan {
namespace {

// The rises of the smoothed loss after the warm-up.
std::vector<double> Rises(const std::vector<double>& losses, const CalibrationOptions& options) {
  LossTrend trend(options.smoothing);
  std::vector<double> rises;
  for (size_t step = 0; step < losses.size(); ++step) {
    const double rise = trend.Add(losses[step]);
    if (static_cast<int64_t>(step) >= options.warmup_steps) rises.push_back(rise);
  }
  return rises;
}

absl::Status CheckLength(const std::vector<double>& losses, const CalibrationOptions& options) {
  if (static_cast<int64_t>(losses.size()) > options.warmup_steps) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "expected runs of more than the %d steps of the warm-up, got one of %d", options.warmup_steps, losses.size()));
}

void JudgeHarmed(const HarmedRun& run, const CalibrationOptions& options, Calibration& calibration) {
  CusumDetector detector(calibration.detector.slack, calibration.detector.threshold);
  int64_t step = options.warmup_steps;
  bool is_detected = false;
  for (double rise : Rises(run.losses, options)) {
    const bool fires = detector.Add(rise);
    if (fires && step < run.harmed_from) ++calibration.false_alarms;
    if (fires && step >= run.harmed_from && !is_detected) {
      is_detected = true;
      ++calibration.detections;
      calibration.slowest_steps = std::max(calibration.slowest_steps.value_or(0), step - run.harmed_from + 1);
    }
    ++step;
  }
}

}  // namespace

absl::StatusOr<std::vector<double>> ReadLossList(absl::string_view text, absl::string_view file_name) {
  std::vector<double> losses;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t,"), absl::SkipEmpty());
    double loss = 0;
    if (words.empty() || !absl::SimpleAtod(words.back(), &loss)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: expected a loss at the end of the line, got '%s'", file_name, number, line));
    }
    losses.push_back(loss);
  }
  if (!losses.empty()) return losses;
  return absl::InvalidArgumentError(absl::StrFormat("%s: expected a loss a line, got none", file_name));
}

std::string Calibration::Evidence() const {
  std::string text = absl::StrFormat("%d/%d true detections", detections, harmed_runs);
  if (slowest_steps.has_value()) absl::StrAppend(&text, " within ", *slowest_steps, " steps");
  return absl::StrCat(text, ", ", false_alarms, " false; silent in ", healthy_runs, " healthy runs");
}

absl::StatusOr<Calibration> CalibrateDetector(const std::vector<std::vector<double>>& healthy,
                                              const std::vector<HarmedRun>& harmed, const CalibrationOptions& options) {
  if (healthy.empty()) return absl::InvalidArgumentError("expected the losses of a healthy run at least, got none");
  Calibration calibration;
  RunningStatistics rises;
  for (const std::vector<double>& losses : healthy) {
    if (absl::Status status = CheckLength(losses, options); !status.ok()) return status;
    for (double rise : Rises(losses, options)) {
      if (!std::isfinite(rise)) {
        return absl::InvalidArgumentError("expected finite losses of a healthy run, got others; such a run is harmed");
      }
      rises.Add(rise);
    }
  }
  calibration.detector.smoothing = options.smoothing;
  calibration.detector.slack = std::max(rises.mean() + rises.deviation(), rises.deviation() / 2);
  double most = 0;
  for (const std::vector<double>& losses : healthy) {
    CusumDetector detector(calibration.detector.slack, std::numeric_limits<double>::max());
    for (double rise : Rises(losses, options)) {
      detector.Add(rise);
      most = std::max(most, detector.reached());
    }
  }
  // Runs without any noise leave nothing to measure: a threshold above zero is one that they do not reach.
  calibration.detector.threshold = std::max(options.margin * most, 1e-9);
  calibration.healthy_runs = static_cast<int64_t>(healthy.size());
  calibration.harmed_runs = static_cast<int64_t>(harmed.size());
  for (const HarmedRun& run : harmed) {
    if (absl::Status status = CheckLength(run.losses, options); !status.ok()) return status;
    JudgeHarmed(run, options, calibration);
  }
  return calibration;
}

std::string CalibratedProfileYaml(const std::string& name, const std::string& source, LowBitFamily family,
                                  const Calibration& calibration, const CalibrationOptions& options) {
  const auto quoted = [](const std::string& text) { return JsonWriter().String(text).text(); };
  return absl::StrFormat(
      "schema: %d\nprofile: %s\nprovenance: {source: %s, made_by: banyan calibrate, evidence: %s}\nmode: %s\n"
      "admission: {warmup_steps: %d}\ndetector: {slack: %.6g, threshold: %.6g, smoothing: %g}\n",
      kProfileSchema, quoted(name), quoted(source), quoted(calibration.Evidence()), FamilyName(family),
      options.warmup_steps, calibration.detector.slack, calibration.detector.threshold, calibration.detector.smoothing);
}

}  // namespace banyan
