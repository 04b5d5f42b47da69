// A recording of a job in a file: where its lines are and when they came. The statuses stay in the file. A value;
// thread-compatible. recording_line.h has the format.
// Invariants:
// - At least one line is known, and their times do not go back.
// - At most kMostMoments of them, evenly over the file, and one line at a time, take memory.
#ifndef BANYAN_TOOLS_VIEW_RECORDING_H_
#define BANYAN_TOOLS_VIEW_RECORDING_H_

#include <cstddef>
#include <cstdint>
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

  size_t size() const { return moments_.size(); }
  double at_s(size_t moment) const { return moments_[moment].at_s; }
  double from_s() const { return moments_.front().at_s; }
  double to_s() const { return moments_.back().at_s; }
  // The last moment that is not after `at_s`; the first when all are.
  size_t Find(double at_s) const;
  // Reads the status of a moment, as JSON. FAILED_PRECONDITION when the file has changed since it was opened.
  absl::StatusOr<std::string> Read(size_t moment) const;

 private:
  struct Moment {
    int64_t offset_bytes = 0;
    double at_s = 0;
  };

  explicit Recording(std::string path) : path_(std::move(path)) {}
  absl::Status Index();
  absl::Status AddLine(const char* line, size_t size_bytes, int64_t offset_bytes);

  std::string path_;
  std::vector<Moment> moments_;
  int64_t lines_ = 0;
  Moment newest_;
  int64_t stride_ = 1;  // of the lines that are kept
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_RECORDING_H_
