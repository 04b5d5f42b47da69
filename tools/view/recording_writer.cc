#include "tools/view/recording_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tools/view/recording_line.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Open(const std::string& path) {
  errno = 0;
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(path));
  if (!writer->file_.good()) return writer->CannotWrite();
  return writer;
}

absl::Status RecordingWriter::Add(double at_s, absl::string_view status) {
  const absl::StatusOr<std::string> line = MakeRecordingLine(Advance(at_s), status);
  return line.ok() ? Write(*line) : line.status();
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
  return absl::UnavailableError(absl::StrCat("cannot write ", path_, ": ", std::strerror(errno)));
}

}  // namespace banyan
