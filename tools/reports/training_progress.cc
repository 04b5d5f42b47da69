#include "tools/reports/training_progress.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

constexpr size_t kShownOfALine = 120;

// JSON has no word for them, YAML has.
std::string Number(double value) { return std::isfinite(value) ? absl::StrFormat("%.6g", value) : ".nan"; }

std::string Format(const RoundProgress& round) {
  return absl::StrCat("{\"rank\":", round.rank, ",\"round\":", round.round, ",\"loss\":", Number(round.loss),
                      ",\"pushed_ns\":", round.pushed_at.nanoseconds(),
                      ",\"pulled_ns\":", round.pulled_at.nanoseconds(), "}");
}

std::string Format(const TrainingResult& result) {
  return absl::StrCat("{\"rank\":", result.rank, ",\"rounds\":", result.rounds, ",\"parameters\":", result.parameters,
                      ",\"hash\":\"", result.hash, "\"",
                      result.accuracy ? absl::StrCat(",\"accuracy\":", Number(*result.accuracy)) : "", "}");
}

}  // namespace

std::string FormatProgress(const TrainingProgress& progress) {
  return std::visit([](const auto& kind) { return Format(kind); }, progress);
}

absl::StatusOr<TrainingProgress> ParseProgress(absl::string_view line) {
  try {
    const YAML::Node object = YAML::Load(std::string(line));
    if (object["round"]) {
      return RoundProgress{.rank = object["rank"].as<int>(),
                           .round = object["round"].as<int64_t>(),
                           .loss = object["loss"].as<double>(),
                           .pushed_at = Timestamp::FromNanoseconds(object["pushed_ns"].as<int64_t>()),
                           .pulled_at = Timestamp::FromNanoseconds(object["pulled_ns"].as<int64_t>())};
    }
    TrainingResult result{.rank = object["rank"].as<int>(),
                          .rounds = object["rounds"].as<int64_t>(),
                          .parameters = object["parameters"].as<int64_t>(),
                          .hash = object["hash"].as<std::string>()};
    if (object["accuracy"]) result.accuracy = object["accuracy"].as<double>();
    return result;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("expected a line of training progress, got '",
                                                   absl::Utf8SafeCHexEscape(line.substr(0, kShownOfALine)),
                                                   "': ", error.what()));
  }
}

}  // namespace banyan
