// The bytes of the files that hold a core's records. Pure functions.
//
// A log is a head, then batches. A batch is what was made durable at once: a mark, a length, a checksum, and then each
// record with its length. A snapshot is a head, a length, a checksum, and the bytes. Heads name the generation, which
// each snapshot begins. Numbers are little-endian. Checksums are XXH64 and know where they stand, so that no bytes of
// a record pass for a batch.
#ifndef BANYAN_RUNTIME_RECORDS_RECORD_FORMAT_H_
#define BANYAN_RUNTIME_RECORDS_RECORD_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

inline constexpr size_t kMaxBatchBytes = size_t{1} << 30;

// What a log's bytes say. The records of whole batches come first.
struct LogContents {
  std::vector<std::string> records;  // oldest first
  size_t whole_bytes = 0;            // up to the end of the last whole batch; what follows is torn
};

std::string EncodeLogHead(uint64_t generation);
size_t LogHeadBytes();
// Encodes a batch that stands `offset` bytes from the start of the log. REQUIRES: kMaxBatchBytes at most in all.
std::string EncodeBatch(const std::vector<std::string>& records, uint64_t generation, size_t offset);
// Reads a log. A crash leaves the last batch torn, and only that one: whole_bytes says where it begins. DATA_LOSS names
// the byte where more than that is damaged.
absl::StatusOr<LogContents> DecodeLog(absl::string_view bytes, uint64_t generation);

std::string EncodeSnapshotFile(absl::string_view snapshot, uint64_t generation);
// DATA_LOSS names the byte from which on the file is not what it was.
absl::StatusOr<std::string> DecodeSnapshotFile(absl::string_view bytes, uint64_t generation);

// Reads a log of the versions that had no snapshots: each record is a 4-byte length, an 8-byte XXH64 of length and
// bytes, and the bytes. As DecodeLog.
absl::StatusOr<LogContents> DecodeOldLog(absl::string_view bytes);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_RECORDS_RECORD_FORMAT_H_
