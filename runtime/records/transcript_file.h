// The file of a node's transcript: a log of records (record_format.h). Errors name the file.
#ifndef BANYAN_RUNTIME_RECORDS_TRANSCRIPT_FILE_H_
#define BANYAN_RUNTIME_RECORDS_TRANSCRIPT_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
#include "proto/transcript/node_transcript.h"
#include "protocol/record_store.h"

namespace banyan {

// Reads the transcript of one node. What a crash tore off at the end is left out. NOT_FOUND when there is no file,
// DATA_LOSS when it is damaged or none of a transcript, and else as ReadNodeTranscript.
absl::StatusOr<std::shared_ptr<const NodeTranscript>> ReadTranscriptFile(const std::string& path);

// Writes a transcript as its records come. Thread-compatible; owned by one writer.
class TranscriptFile : public RecordStore {
 public:
  explicit TranscriptFile(std::string path) : path_(std::move(path)) {}

  // Makes the file. ALREADY_EXISTS when there is one: a transcript is of one start of a node.
  absl::StatusOr<StoredRecords> Open() override;
  absl::Status Append(const std::vector<std::string>& records) override;
  // UNIMPLEMENTED: a transcript has no snapshots.
  absl::Status Replace(const std::string& snapshot) override;

 private:
  const std::string path_;
  FileDescriptor file_;
  size_t size_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORDS_TRANSCRIPT_FILE_H_
