#include "tools/view/recording.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/json_reader.h"
#include "tools/reports/round_chart.h"
#include "tools/reports/status_text.h"

namespace banyan {

// --- lines ---

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
  if (const absl::StatusOr<nlohmann::json> value = ParseJson(rest); !value.ok()) {
    return Damaged(value.status().message());
  }
  read.json = rest;
  return read;
}

}  // namespace

std::string MakeRecordingLine(double at_s, const JobStatus& status) {
  return MakeLine(kStatusLineVersion, at_s, kStatus, StatusJson(status));
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
  return chart.ok() ? read : Damaged(chart.status().message());
}

// --- who writes them ---

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Open(const std::string& path) {
  errno = 0;
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(path));
  if (!writer->file_.good()) return writer->CannotWrite();
  return writer;
}

absl::Status RecordingWriter::Add(double at_s, const JobStatus& status) {
  return Write(MakeRecordingLine(Advance(at_s), status));
}

absl::Status RecordingWriter::AddTrace(double at_s, const RoundChart& chart) {
  return Write(MakeTraceLine(Advance(at_s), chart));
}

double RecordingWriter::Advance(double at_s) { return last_s_ = std::max(last_s_, at_s); }

absl::Status RecordingWriter::Write(const std::string& line) {
  errno = 0;
  file_ << line << '\n' << std::flush;
  return file_.good() ? absl::OkStatus() : CannotWrite();
}

absl::Status RecordingWriter::CannotWrite() const {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
}

// --- who reads them ---

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
    const absl::StatusOr<JobStatus> status = ParseStatus(read->json);
    if (!status.ok()) return status.status();
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
