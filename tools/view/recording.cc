#include "tools/view/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tools/reports/status_view.h"
#include "tools/view/recording_line.h"

namespace banyan {

absl::StatusOr<Recording> Recording::Open(const std::string& path) {
  Recording recording(path);
  if (const absl::Status status = recording.Index(); !status.ok()) return status;
  return recording;
}

absl::Status Recording::Index() {
  errno = 0;
  std::ifstream file(path_, std::ios::binary);
  std::string line(kLongestLineBytes + 1, '\0');
  int64_t offset_bytes = 0;
  while (file.getline(line.data(), static_cast<std::streamsize>(line.size())) && !file.eof()) {
    const int64_t taken_bytes = file.gcount();
    const absl::Status status = AddLine(line.data(), static_cast<size_t>(taken_bytes - 1), offset_bytes);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ", line ", lines_ + 1, ": ", status.message()));
    }
    offset_bytes += taken_bytes;
  }
  if (!file.is_open() || file.bad()) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path_, ": ", std::strerror(errno)));
  }
  if (!file.eof()) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ", line ", lines_ + 1,
                                                   ": expected a line of a recording, of at most ", kLongestLineBytes,
                                                   " bytes, got a longer one; is this another file?"));
  }
  if (moments_.empty()) {
    // Of another program, or of a recorder that was killed at once.
    const absl::Status rest = file.gcount() == 0
                                  ? absl::InvalidArgumentError("expected a line of a recording, got an empty file")
                                  : ReadRecordingLine(line.c_str()).status();
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ", line 1: ",
        rest.ok() ? "expected an end of the line, got the end of the file; record it again" : rest.message()));
  }
  if (newest_.offset_bytes != moments_.back().offset_bytes) moments_.push_back(newest_);
  return absl::OkStatus();
}

absl::Status Recording::AddLine(const char* line, size_t size_bytes, int64_t offset_bytes) {
  const absl::StatusOr<RecordingLine> read = ReadRecordingLine({line, size_bytes});
  if (!read.ok()) return read.status();
  if (lines_ > 0 && read->at_s < newest_.at_s) {
    return absl::InvalidArgumentError(absl::StrCat("expected a time of ", newest_.at_s,
                                                   " s or later, as the line before, got ", read->at_s,
                                                   " s; view the parts of the file one by one"));
  }
  if (lines_ == 0) {
    const absl::StatusOr<StatusView> view = ParseStatus(read->status);
    if (!view.ok()) return view.status();
  }
  newest_ = {offset_bytes, read->at_s};
  if (lines_ % stride_ == 0) moments_.push_back(newest_);
  ++lines_;
  if (moments_.size() < kMostMoments) return absl::OkStatus();
  for (size_t i = 0; 2 * i < moments_.size(); ++i) moments_[i] = moments_[2 * i];
  moments_.resize((moments_.size() + 1) / 2);
  stride_ *= 2;
  return absl::OkStatus();
}

size_t Recording::Find(double at_s) const {
  const auto after = std::upper_bound(moments_.begin(), moments_.end(), at_s,
                                      [](double time_s, const Moment& moment) { return time_s < moment.at_s; });
  return after == moments_.begin() ? 0 : static_cast<size_t>(after - moments_.begin()) - 1;
}

absl::StatusOr<std::string> Recording::Read(size_t moment) const {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(moments_[moment].offset_bytes);
  std::string line;
  std::getline(file, line);
  const absl::StatusOr<RecordingLine> read = ReadRecordingLine(line);
  if (read.ok() && read->at_s == moments_[moment].at_s) return std::string(read->status);
  return absl::FailedPreconditionError(absl::StrCat(path_, " has changed since it was opened; expected the status of ",
                                                    moments_[moment].at_s, " s at byte ", moments_[moment].offset_bytes,
                                                    "; start again to view what is there now"));
}

}  // namespace banyan
