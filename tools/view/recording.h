// Recordings of a job: their lines, who writes them, and who reads them.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_H_
#define BANYAN_TOOLS_VIEW_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "tools/reports/round_chart.h"

namespace banyan {

// Of a line. It rises with lines that older programs cannot read, and these say so then.
inline constexpr int kStatusLineVersion = 1;
inline constexpr int kTraceLineVersion = 2;

// A line of a recording: the status of a job, or the chart of a traced round, and when
// that came. Each line says what it is, so that parts of a recording are recordings, too. Pure functions.
struct RecordingLine {
  double at_s = 0;         // since 1970, or since a simulation began
  bool is_trace = false;   // else it is a status
  absl::string_view json;  // of the status or of the chart; a part of the line
};

// Encodes {"banyan_recording": version, "at_s": .., "status": ..}, without an end of line.
std::string MakeRecordingLine(double at_s, const JobStatus& status);

// Encodes the same with "trace", in which tools/reports/round_chart.h has the chart.
std::string MakeTraceLine(double at_s, const RoundChart& chart);

// Decodes either, and checks all of it. INVALID_ARGUMENT says what was expected, what came and what to do.
absl::StatusOr<RecordingLine> ReadRecordingLine(absl::string_view line);

// Writes a recording, a line as each status and each trace comes. Thread-compatible.
// Invariants:
// - Whole lines reach the file one by one, so that a recorder that is killed leaves at most its last line in part.
class RecordingWriter {
 public:
  // Replaces the file. UNAVAILABLE when it cannot be written.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Open(const std::string& path);

  // Adds the status that came `at_s` seconds after 1970, or after a simulation began. What a clock that was set back
  // says is taken as the time of the entry before. UNAVAILABLE when it cannot be written, and then the file has what
  // came before.
  absl::Status Add(double at_s, const JobStatus& status);

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

// A recording of a job in a file: where its lines are and when they came. Statuses and traces stay in the file. A
// value; thread-compatible. Invariants:
// - At least one status is known, and the times of lines do not go back.
// - At most kMostMoments of either kind, evenly over the file, and one line at a time, take memory.
class Recording {
 public:
  static constexpr size_t kMostMoments = size_t{1} << 17;  // a day and a half, each second
  static constexpr size_t kLongestLineBytes = size_t{16} << 20;

  // Reads through the file once and checks every line. A last line without an end is still being written, or was when
  // the recorder was killed, and is left out. NOT_FOUND, or INVALID_ARGUMENT with the line, what was expected, what
  // came and what to do.
  static absl::StatusOr<Recording> Open(const std::string& path);

  // Of the first and of the last line.
  double from_s() const { return from_s_; }
  double to_s() const { return newest_s_; }

  // The statuses.
  size_t size() const { return statuses_.moments.size(); }
  double at_s(size_t status) const { return statuses_.moments[status].at_s; }
  // The last one that is not after `at_s`; the first when all are.
  size_t Find(double at_s) const;
  // Reads it, as JSON. FAILED_PRECONDITION when the file has changed since it was opened.
  absl::StatusOr<std::string> Read(size_t status) const { return ReadLine(statuses_.moments[status], false); }

  // The traces.
  size_t traces() const { return traces_.moments.size(); }
  double trace_at_s(size_t trace) const { return traces_.moments[trace].at_s; }
  // The last one that is not after `at_s`.
  std::optional<size_t> FindTrace(double at_s) const { return traces_.Find(at_s); }
  // Reads the chart, as JSON. FAILED_PRECONDITION likewise.
  absl::StatusOr<std::string> ReadTrace(size_t trace) const { return ReadLine(traces_.moments[trace], true); }

 private:
  struct Moment {
    int64_t offset_bytes = 0;
    double at_s = 0;
  };
  // The lines of one kind, of which only every so many are kept when they are many, and the last.
  struct Series {
    std::vector<Moment> moments;
    int64_t lines = 0;
    Moment newest;
    int64_t stride = 1;

    void Add(const Moment& moment);
    void KeepNewest();
    std::optional<size_t> Find(double at_s) const;
  };

  explicit Recording(std::string path) : path_(std::move(path)) {}
  absl::Status Index();
  // Says what is wrong with a file without a status, whose last line has no end and is `rest`.
  absl::Status NoStatus(const std::string& rest) const;
  absl::Status AddLine(const char* line, size_t size_bytes, int64_t offset_bytes);
  absl::StatusOr<std::string> ReadLine(const Moment& moment, bool is_trace) const;

  std::string path_;
  Series statuses_;
  Series traces_;
  double from_s_ = 0;
  double newest_s_ = 0;
  int64_t lines_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_RECORDING_H_
