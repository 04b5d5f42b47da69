#include "tools/view/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tools/reports/status_view.h"
#include "tools/view/recording_line.h"

namespace banyan {
namespace {

std::string TimeOfDay(double at_s) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S UTC", absl::UnixEpoch() + absl::Seconds(at_s), absl::UTCTimeZone());
}

}  // namespace

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
  if (statuses_.lines == 0) return NoStatus(file.gcount() == 0 ? "" : line.c_str());
  statuses_.KeepNewest();
  traces_.KeepNewest();
  return absl::OkStatus();
}

absl::Status Recording::NoStatus(const std::string& rest) const {
  const auto refuse = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ", line ", lines_ + 1, ": ", what));
  };
  if (rest.empty()) {
    return refuse(lines_ == 0 ? "expected a line of a recording, got an empty file"
                              : "expected the status of a job, got only traces before the end of the file");
  }
  // Of another program, or of a recorder that was killed at once.
  const absl::Status read = ReadRecordingLine(rest).status();
  return refuse(read.ok() ? "expected an end of the line, got the end of the file; record it again" : read.message());
}

absl::Status Recording::AddLine(const char* line, size_t size_bytes, int64_t offset_bytes) {
  const absl::StatusOr<RecordingLine> read = ReadRecordingLine({line, size_bytes});
  if (!read.ok()) return read.status();
  if (lines_ > 0 && read->at_s < newest_s_) {
    return absl::InvalidArgumentError(absl::StrCat("expected the time of the line before, ", TimeOfDay(newest_s_),
                                                   ", or a later one, got ", TimeOfDay(read->at_s),
                                                   "; view the parts of the file one by one"));
  }
  if (!read->is_trace && statuses_.lines == 0) {
    const absl::StatusOr<StatusView> view = ParseStatus(read->json);
    if (!view.ok()) return view.status();
  }
  if (lines_ == 0) from_s_ = read->at_s;
  newest_s_ = read->at_s;
  ++lines_;
  (read->is_trace ? traces_ : statuses_).Add({offset_bytes, read->at_s});
  return absl::OkStatus();
}

void Recording::Series::Add(const Moment& moment) {
  newest = moment;
  if (lines++ % stride == 0) moments.push_back(moment);
  if (moments.size() < kMostMoments) return;
  for (size_t i = 0; 2 * i < moments.size(); ++i) moments[i] = moments[2 * i];
  moments.resize((moments.size() + 1) / 2);
  stride *= 2;
}

void Recording::Series::KeepNewest() {
  if (lines > 0 && newest.offset_bytes != moments.back().offset_bytes) moments.push_back(newest);
}

std::optional<size_t> Recording::Series::Find(double at_s) const {
  const auto after = std::upper_bound(moments.begin(), moments.end(), at_s,
                                      [](double time_s, const Moment& moment) { return time_s < moment.at_s; });
  if (after == moments.begin()) return std::nullopt;
  return static_cast<size_t>(after - moments.begin()) - 1;
}

size_t Recording::Find(double at_s) const { return statuses_.Find(at_s).value_or(0); }

absl::StatusOr<std::string> Recording::ReadLine(const Moment& moment, bool is_trace) const {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(moment.offset_bytes);
  std::string line;
  std::getline(file, line);
  const absl::StatusOr<RecordingLine> read = ReadRecordingLine(line);
  if (read.ok() && read->at_s == moment.at_s && read->is_trace == is_trace) return std::string(read->json);
  return absl::FailedPreconditionError(absl::StrCat(path_, " has changed since it was opened; expected the ",
                                                    is_trace ? "trace" : "status", " of ", moment.at_s, " s at byte ",
                                                    moment.offset_bytes, "; start again to view what is there now"));
}

}  // namespace banyan
