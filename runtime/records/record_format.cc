#include "runtime/records/record_format.h"

#include <xxhash.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr absl::string_view kLogMark = "banyanL1";
constexpr absl::string_view kSnapshotMark = "banyanS1";
constexpr absl::string_view kBatchMark =
    "\xba\xa7"
    "ch";
constexpr size_t kHeadBytes = 16;          // mark, generation
constexpr size_t kBatchHeadBytes = 16;     // mark, length, checksum
constexpr size_t kSnapshotHeadBytes = 32;  // head, length, checksum
constexpr size_t kOldHeadBytes = 12;       // length, checksum
constexpr size_t kRecordLengthBytes = 4;

template <typename Integer>
void AppendLittleEndian(Integer value, std::string& to) {
  for (size_t i = 0; i < sizeof(Integer); ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}

template <typename Integer>
Integer ReadLittleEndian(absl::string_view bytes) {
  Integer value = 0;
  for (size_t i = 0; i < sizeof(Integer); ++i) value |= Integer{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

// The checksum of bytes that stand at `offset` in a file of `generation`.
uint64_t Checksum(absl::string_view bytes, uint64_t generation, size_t offset) {
  std::string place;
  AppendLittleEndian(generation, place);
  AppendLittleEndian(uint64_t{offset}, place);
  AppendLittleEndian(uint64_t{bytes.size()}, place);
  return XXH64(bytes.data(), bytes.size(), XXH64(place.data(), place.size(), 0));
}

uint64_t OldChecksum(absl::string_view length, absl::string_view bytes) {
  return XXH64(bytes.data(), bytes.size(), XXH64(length.data(), length.size(), 0));
}

absl::Status DamageAt(size_t offset, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("byte ", offset, ": ", what));
}

std::string EncodeHead(absl::string_view mark, uint64_t generation) {
  std::string head(mark);
  AppendLittleEndian(generation, head);
  return head;
}

absl::Status CheckHead(absl::string_view bytes, absl::string_view mark, uint64_t generation) {
  if (bytes.substr(0, kHeadBytes) == EncodeHead(mark, generation)) return absl::OkStatus();
  return DamageAt(0, absl::StrCat("expected '", mark, "' and generation ", generation, ", found something else"));
}

// Takes the bytes of the batch at `offset`; empty when there is no whole one.
std::optional<absl::string_view> BatchAt(absl::string_view bytes, uint64_t generation, size_t offset) {
  const absl::string_view rest = bytes.substr(offset);
  if (rest.size() < kBatchHeadBytes || rest.substr(0, kBatchMark.size()) != kBatchMark) return std::nullopt;
  const size_t length = ReadLittleEndian<uint32_t>(rest.substr(4));
  if (length > rest.size() - kBatchHeadBytes) return std::nullopt;
  const absl::string_view batch = rest.substr(kBatchHeadBytes, length);
  if (Checksum(batch, generation, offset) != ReadLittleEndian<uint64_t>(rest.substr(8))) return std::nullopt;
  return batch;
}

// True when the records of the batch fill it exactly.
bool TakeRecords(absl::string_view batch, std::vector<std::string>& records) {
  while (batch.size() >= kRecordLengthBytes) {
    const size_t length = ReadLittleEndian<uint32_t>(batch);
    batch.remove_prefix(kRecordLengthBytes);
    if (length > batch.size()) return false;
    records.emplace_back(batch.substr(0, length));
    batch.remove_prefix(length);
  }
  return batch.empty();
}

// Finds a whole batch behind the bad one at `offset`, or the start of another one where the bad one says that it ends.
// After a crash there is neither.
std::optional<size_t> BatchBehind(absl::string_view bytes, uint64_t generation, size_t offset) {
  const absl::string_view rest = bytes.substr(offset);
  if (rest.size() >= kBatchHeadBytes && rest.substr(0, kBatchMark.size()) == kBatchMark) {
    const size_t end = kBatchHeadBytes + ReadLittleEndian<uint32_t>(rest.substr(4));
    if (end < rest.size() && rest.substr(end, kBatchMark.size()) == kBatchMark) return offset + end;
  }
  for (size_t next = bytes.find(kBatchMark, offset + 1); next != absl::string_view::npos;
       next = bytes.find(kBatchMark, next + 1)) {
    if (BatchAt(bytes, generation, next).has_value()) return next;
  }
  return std::nullopt;
}

// Takes the record of an old log at `offset`; empty when there is no whole one.
std::optional<absl::string_view> OldRecordAt(absl::string_view bytes, size_t offset) {
  const absl::string_view rest = bytes.substr(offset);
  if (rest.size() < kOldHeadBytes) return std::nullopt;
  const size_t length = ReadLittleEndian<uint32_t>(rest);
  if (length > rest.size() - kOldHeadBytes) return std::nullopt;
  const absl::string_view record = rest.substr(kOldHeadBytes, length);
  if (OldChecksum(rest.substr(0, 4), record) != ReadLittleEndian<uint64_t>(rest.substr(4))) return std::nullopt;
  return record;
}

}  // namespace

std::string EncodeLogHead(uint64_t generation) { return EncodeHead(kLogMark, generation); }

size_t LogHeadBytes() { return kHeadBytes; }

std::string EncodeBatch(const std::vector<std::string>& records, uint64_t generation, size_t offset) {
  std::string batch;
  for (const std::string& record : records) {
    AppendLittleEndian(static_cast<uint32_t>(record.size()), batch);
    batch += record;
  }
  BANYAN_CHECK(batch.size() <= kMaxBatchBytes);
  std::string bytes(kBatchMark);
  AppendLittleEndian(static_cast<uint32_t>(batch.size()), bytes);
  AppendLittleEndian(Checksum(batch, generation, offset), bytes);
  return bytes + batch;
}

absl::StatusOr<LogContents> DecodeLog(absl::string_view bytes, uint64_t generation) {
  if (absl::Status status = CheckHead(bytes, kLogMark, generation); !status.ok()) return status;
  LogContents contents;
  contents.whole_bytes = kHeadBytes;
  while (contents.whole_bytes < bytes.size()) {
    const std::optional<absl::string_view> batch = BatchAt(bytes, generation, contents.whole_bytes);
    if (!batch.has_value()) break;
    if (!TakeRecords(*batch, contents.records)) {
      return DamageAt(contents.whole_bytes, "a batch that does not hold whole records");
    }
    contents.whole_bytes += kBatchHeadBytes + batch->size();
  }
  if (contents.whole_bytes == bytes.size()) return contents;
  const std::optional<size_t> behind = BatchBehind(bytes, generation, contents.whole_bytes);
  if (!behind.has_value()) return contents;
  return DamageAt(contents.whole_bytes, absl::StrCat("damaged records, with others behind them at byte ", *behind));
}

std::string EncodeSnapshotFile(absl::string_view snapshot, uint64_t generation) {
  std::string bytes = EncodeHead(kSnapshotMark, generation);
  AppendLittleEndian(uint64_t{snapshot.size()}, bytes);
  AppendLittleEndian(Checksum(snapshot, generation, kSnapshotHeadBytes), bytes);
  bytes.append(snapshot.data(), snapshot.size());
  return bytes;
}

absl::StatusOr<std::string> DecodeSnapshotFile(absl::string_view bytes, uint64_t generation) {
  if (absl::Status status = CheckHead(bytes, kSnapshotMark, generation); !status.ok()) return status;
  if (bytes.size() < kSnapshotHeadBytes) return DamageAt(bytes.size(), "the file is cut off");
  const absl::string_view snapshot = bytes.substr(kSnapshotHeadBytes);
  const auto length = ReadLittleEndian<uint64_t>(bytes.substr(kHeadBytes));
  if (length != snapshot.size()) {
    return DamageAt(kHeadBytes, absl::StrCat(length, " bytes expected, ", snapshot.size(), " found"));
  }
  if (Checksum(snapshot, generation, kSnapshotHeadBytes) != ReadLittleEndian<uint64_t>(bytes.substr(24))) {
    return DamageAt(24, "the checksum is not that of the bytes that follow");
  }
  return std::string(snapshot);
}

absl::StatusOr<LogContents> DecodeOldLog(absl::string_view bytes) {
  LogContents contents;
  while (const auto record = OldRecordAt(bytes, contents.whole_bytes)) {
    contents.records.emplace_back(*record);
    contents.whole_bytes += kOldHeadBytes + record->size();
  }
  for (size_t next = contents.whole_bytes + 1; next < bytes.size(); ++next) {
    // An empty record is as good as none: the scheduler wrote none.
    const std::optional<absl::string_view> record = OldRecordAt(bytes, next);
    if (!record.has_value() || record->empty()) continue;
    return DamageAt(contents.whole_bytes, absl::StrCat("damaged records, with others behind them at byte ", next));
  }
  return contents;
}

}  // namespace banyan
