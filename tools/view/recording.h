// A recording of a job in a file: where its lines are and when they came. Statuses and traces stay in the file. A
// value; thread-compatible. recording_line.h has the format. Invariants:
// - At least one status is known, and the times of lines do not go back.
// - At most kMostMoments of either kind, evenly over the file, and one line at a time, take memory.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_H_
#define BANYAN_TOOLS_VIEW_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace banyan {

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
