#include "runtime/records/transcript_file.h"

#include <fcntl.h>

#include "absl/strings/str_cat.h"
#include "runtime/records/durable_file.h"
#include "runtime/records/record_format.h"

namespace banyan {
namespace {

// Logs of schedulers have generations; a transcript is one log.
constexpr uint64_t kGeneration = 1;

absl::Status AtFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const NodeTranscript>> ReadTranscriptFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<LogContents> contents = DecodeLog(*bytes, kGeneration);
  if (!contents.ok()) return AtFile(path, contents.status());
  absl::StatusOr<NodeTranscript> transcript = ReadNodeTranscript(contents->records);
  if (!transcript.ok()) return AtFile(path, transcript.status());
  return std::make_shared<const NodeTranscript>(*std::move(transcript));
}

absl::StatusOr<StoredRecords> TranscriptFile::Open() {
  absl::StatusOr<FileDescriptor> file = OpenFile(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  if (absl::IsAlreadyExists(file.status())) {
    return absl::AlreadyExistsError(
        absl::StrCat(path_, ": there is a file; a transcript is of one start of a node, so name another one"));
  }
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  const std::string head = EncodeLogHead(kGeneration);
  if (absl::Status status = AppendDurably(file_.get(), head, path_); !status.ok()) return status;
  size_bytes_ = head.size();
  return StoredRecords();
}

absl::Status TranscriptFile::Append(const std::vector<std::string>& records) {
  const std::string batch = EncodeBatch(records, kGeneration, size_bytes_);
  if (absl::Status status = AppendDurably(file_.get(), batch, path_); !status.ok()) return status;
  size_bytes_ += batch.size();
  return absl::OkStatus();
}

absl::Status TranscriptFile::Replace(const std::string& /*snapshot*/) {
  return absl::UnimplementedError(absl::StrCat(path_, ": a transcript has no snapshots"));
}

}  // namespace banyan
