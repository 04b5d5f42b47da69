// Writes a recording, a line as each status and each trace comes. Thread-compatible.
// Invariants:
// - Whole lines reach the file one by one, so that a recorder that is killed leaves at most its last line in part.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_WRITER_H_
#define BANYAN_TOOLS_VIEW_RECORDING_WRITER_H_

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/reports/round_chart.h"

namespace banyan {

class RecordingWriter {
 public:
  // Replaces the file. UNAVAILABLE when it cannot be written.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Open(const std::string& path);

  // Adds the status, as JSON, that came `at_s` seconds after 1970, or after a simulation began. What a clock that was
  // set back says is taken as the time of the entry before. INVALID_ARGUMENT when it is none; UNAVAILABLE when it
  // cannot be written, and then the file has what came before.
  absl::Status Add(double at_s, absl::string_view status);

  // Adds a traced round, likewise.
  absl::Status AddTrace(double at_s, const RoundChart& chart);

 private:
  explicit RecordingWriter(std::string path)
      : path_(std::move(path)), file_(path_, std::ios::binary | std::ios::trunc) {}
  // Returns the time of the next entry, where the clock says `at_s`.
  double Advance(double at_s);
  absl::Status Write(const std::string& line);
  absl::Status CannotWrite() const;

  const std::string path_;
  std::ofstream file_;
  double last_s_ = 0;  // of the newest entry
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_RECORDING_WRITER_H_
