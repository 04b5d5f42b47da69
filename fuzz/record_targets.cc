#include <cstdint>

#include "absl/status/statusor.h"
#include "core/check.h"
#include "fuzz/fuzz_target.h"
#include "runtime/records/record_format.h"
#include "scheduler/state/state_record.h"
#include "scheduler/state/testing/state_record_samples.h"

namespace banyan {
namespace {

constexpr uint64_t kGeneration = 3;

bool RunStateRecord(absl::string_view bytes) {
  const absl::StatusOr<StateRecord> record = DecodeStateRecord(std::string(bytes));
  if (!record.ok()) return false;
  const std::string written = EncodeStateRecord(*record);
  const absl::StatusOr<StateRecord> again = DecodeStateRecord(written);
  BANYAN_CHECK(again.ok());
  BANYAN_CHECK(EncodeStateRecord(*again) == written);
  return true;
}

std::vector<std::string> StateRecordSeeds() {
  std::vector<std::string> seeds;
  for (const StateRecord& record : StateRecordSamples()) seeds.push_back(EncodeStateRecord(record));
  return seeds;
}

bool RunSnapshot(absl::string_view bytes) {
  const absl::StatusOr<std::vector<std::string>> records = DecodeSnapshot(std::string(bytes));
  if (!records.ok()) return false;
  BANYAN_CHECK(DecodeSnapshot(EncodeSnapshot(*records)).ok());
  return true;
}

std::vector<std::string> SnapshotSeeds() { return {EncodeSnapshot(StateRecordSeeds()), EncodeSnapshot({})}; }

// All three forms of a file, as any of them may lie in a folder.
bool RunRecordFile(absl::string_view bytes) {
  bool is_taken = DecodeSnapshotFile(bytes, kGeneration).ok();
  for (const absl::StatusOr<LogContents>& log : {DecodeLog(bytes, kGeneration), DecodeOldLog(bytes)}) {
    if (!log.ok()) continue;
    BANYAN_CHECK(log->whole_bytes <= bytes.size());
    is_taken |= !log->records.empty();  // what is not whole may be a torn end
  }
  return is_taken;
}

std::vector<std::string> RecordFileSeeds() {
  std::string log = EncodeLogHead(kGeneration);
  log += EncodeBatch({"one", "two"}, kGeneration, log.size());
  log += EncodeBatch({""}, kGeneration, log.size());
  return {log, EncodeSnapshotFile("all of it", kGeneration)};
}

}  // namespace

std::vector<FuzzTarget> RecordTargets() {
  return {{"state-record", RunStateRecord, StateRecordSeeds},
          {"snapshot", RunSnapshot, SnapshotSeeds},
          {"record-file", RunRecordFile, RecordFileSeeds}};
}

}  // namespace banyan
