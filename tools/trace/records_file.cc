#include "tools/trace/records_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status WriteRecordsFile(const std::string& path, const std::string& name, RoundRecords records) {
  if (records.departures.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("wrote no ", path, ": ", name, " has sent nothing in the rounds that were to be traced"));
  }
  // A node makes only what it sends first.
  const NodeId node = records.departures.front().journey.source;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << EncodeRecords({name, node, std::move(records)});
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

absl::StatusOr<NodeRecords> ReadRecordsFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and its first byte is an error.
  const bool is_readable = file.good() && (file.peek(), !file.bad());
  std::ostringstream bytes;
  if (is_readable && !file.eof()) bytes << file.rdbuf();
  if (!is_readable) return absl::NotFoundError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
  absl::StatusOr<NodeRecords> records = DecodeRecords(bytes.str());
  if (records.ok()) return records;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", records.status().message()));
}

}  // namespace banyan
