// A line of a recording: the status of a job, as its scheduler encoded it, or the chart of a traced round, and when
// that came. Each line says what it is, so that parts of a recording are recordings, too. Pure functions.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_LINE_H_
#define BANYAN_TOOLS_VIEW_RECORDING_LINE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/reports/round_chart.h"

namespace banyan {

// Of a line. It rises with lines that older programs cannot read, and these say so then.
inline constexpr int kStatusLineVersion = 1;
inline constexpr int kTraceLineVersion = 2;

struct RecordingLine {
  double at_s = 0;         // since 1970, or since a simulation began
  bool is_trace = false;   // else it is a status
  absl::string_view json;  // of the status or of the chart; a part of the line
};

// Encodes {"banyan_recording": version, "at_s": .., "status": ..}, without an end of line. INVALID_ARGUMENT when the
// status is no object of JSON on one line.
absl::StatusOr<std::string> MakeRecordingLine(double at_s, absl::string_view status);

// Encodes the same with "trace", in which tools/reports/round_chart.h has the chart.
std::string MakeTraceLine(double at_s, const RoundChart& chart);

// Decodes either, and checks all of it. INVALID_ARGUMENT says what was expected, what came and what to do.
absl::StatusOr<RecordingLine> ReadRecordingLine(absl::string_view line);

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_RECORDING_LINE_H_
