#include "tools/view/recording_line.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/json_value.h"
#include "tools/reports/round_chart.h"

namespace banyan {
namespace {

constexpr char kBegin[] = "{\"banyan_recording\":";
constexpr char kTime[] = ",\"at_s\":";
constexpr char kStatus[] = ",\"status\":";
constexpr char kTrace[] = ",\"trace\":";
constexpr size_t kShownBytes = 40;

absl::Status ExpectedLine(absl::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected a line of a recording, which begins with ", kBegin, kStatusLineVersion, kTime, ", got \"",
                   absl::CHexEscape(line.substr(0, kShownBytes)),
                   "\"; `banyan status --watch --record` and `banyan sim --record` write one"));
}

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("damaged: ", what, "; take the line out to view the rest"));
}

// Takes what is before `end`, and it, off the text; false when it is not there.
bool TakeUntil(absl::string_view end, absl::string_view& text, absl::string_view& taken) {
  const size_t at = text.find(end);
  if (at == absl::string_view::npos) return false;
  taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return true;
}

std::string MakeLine(int version, double at_s, const char* name, absl::string_view json) {
  return absl::StrCat(kBegin, version, kTime, absl::StrFormat("%.3f", at_s), name, json, "}");
}

// `rest` is what comes after the time's name.
absl::StatusOr<RecordingLine> ReadRest(absl::string_view rest, bool is_trace) {
  const char* const name = is_trace ? kTrace : kStatus;
  RecordingLine read;
  read.is_trace = is_trace;
  absl::string_view time;
  if (!TakeUntil(name, rest, time) || !absl::SimpleAtod(time, &read.at_s) || !std::isfinite(read.at_s)) {
    return Damaged(absl::StrCat("expected a time in seconds after ", kTime, " and then ", name));
  }
  if (!absl::ConsumeSuffix(&rest, "}")) return Damaged("expected } at its end");
  if (!absl::StartsWith(rest, "{")) {
    return Damaged(absl::StrCat("expected an object of JSON as its ", is_trace ? "trace" : "status"));
  }
  if (const absl::StatusOr<JsonValue> value = JsonValue::Parse(rest); !value.ok()) {
    return Damaged(value.status().message());
  }
  read.json = rest;
  return read;
}

}  // namespace

absl::StatusOr<std::string> MakeRecordingLine(double at_s, absl::string_view status) {
  if (!absl::StartsWith(status, "{") || absl::StrContains(status, "\n")) {
    return absl::InvalidArgumentError("expected a status as an object of JSON in one line");
  }
  if (const absl::StatusOr<JsonValue> value = JsonValue::Parse(status); !value.ok()) return value.status();
  return MakeLine(kStatusLineVersion, at_s, kStatus, status);
}

std::string MakeTraceLine(double at_s, const RoundChart& chart) {
  return MakeLine(kTraceLineVersion, at_s, kTrace, RoundChartJson(chart));
}

absl::StatusOr<RecordingLine> ReadRecordingLine(absl::string_view line) {
  absl::string_view rest = line;
  absl::string_view version;
  int number = 0;
  if (!absl::ConsumePrefix(&rest, kBegin) || !TakeUntil(kTime, rest, version) || !absl::SimpleAtoi(version, &number)) {
    return ExpectedLine(line);
  }
  if (number != kStatusLineVersion && number != kTraceLineVersion) {
    return absl::InvalidArgumentError(absl::StrCat("expected version ", kStatusLineVersion, " or ", kTraceLineVersion,
                                                   " of recordings, got ", number,
                                                   "; view it with the Banyan that recorded it"));
  }
  absl::StatusOr<RecordingLine> read = ReadRest(rest, number == kTraceLineVersion);
  if (!read.ok() || !read->is_trace) return read;
  const absl::StatusOr<RoundChart> chart = ReadRoundChart(read->json);
  return chart.ok() ? read : Damaged(absl::StrCat("in its trace ", chart.status().message()));
}

}  // namespace banyan
