#include "runtime/records/record_format.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint64_t kGeneration = 7;

using Records = std::vector<std::string>;

struct Log {
  std::string bytes = EncodeLogHead(kGeneration);
  std::vector<size_t> starts;  // of the batches

  void Add(const Records& records) {
    starts.push_back(bytes.size());
    bytes += EncodeBatch(records, kGeneration, bytes.size());
  }
};

Log SampleLog() {
  Log log;
  log.Add({"first"});
  log.Add({"second", "", std::string("\0\xff", 2)});
  log.Add({"third"});
  log.Add({"fourth", "fifth"});
  return log;
}

// How many records the first `batches` of the sample hold.
size_t RecordsIn(size_t batches) { return std::vector<size_t>{0, 1, 4, 5, 7}[batches]; }

TEST(RecordFormatTest, ReadsWhatWasWritten) {
  const Log log = SampleLog();
  const absl::StatusOr<LogContents> contents = DecodeLog(log.bytes, kGeneration);
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(contents->records, (Records{"first", "second", "", std::string("\0\xff", 2), "third", "fourth", "fifth"}));
  EXPECT_EQ(contents->whole_bytes, log.bytes.size());
  EXPECT_TRUE(DecodeLog(EncodeLogHead(kGeneration), kGeneration)->records.empty());
}

TEST(RecordFormatTest, ALogCutAnywhereLosesItsLastBatch) {
  const Log log = SampleLog();
  for (size_t size = 0; size < log.bytes.size(); ++size) {
    const absl::StatusOr<LogContents> contents = DecodeLog(log.bytes.substr(0, size), kGeneration);
    if (size < LogHeadBytes()) {
      ASSERT_EQ(contents.status().code(), absl::StatusCode::kDataLoss) << size;
      continue;
    }
    ASSERT_TRUE(contents.ok()) << size << contents.status();
    size_t whole = 0;
    while (whole < log.starts.size() &&
           (whole + 1 == log.starts.size() ? log.bytes.size() : log.starts[whole + 1]) <= size)
      ++whole;
    EXPECT_EQ(contents->records.size(), RecordsIn(whole)) << size;
    EXPECT_EQ(contents->whole_bytes, log.starts[whole]) << size;
  }
}

TEST(RecordFormatTest, AFlippedBitIsATornEndOrDamage) {
  const Log log = SampleLog();
  for (size_t byte = 0; byte < log.bytes.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = log.bytes;
      damaged[byte] ^= static_cast<char>(1 << bit);
      const absl::StatusOr<LogContents> contents = DecodeLog(damaged, kGeneration);
      if (byte < log.starts.back()) {
        ASSERT_EQ(contents.status().code(), absl::StatusCode::kDataLoss) << byte << " " << bit;
        EXPECT_EQ(contents.status().message().substr(0, 5), "byte ");
      } else {
        ASSERT_TRUE(contents.ok()) << byte << " " << bit << contents.status();
        EXPECT_EQ(contents->whole_bytes, log.starts.back());
        EXPECT_EQ(contents->records.size(), RecordsIn(3));
      }
    }
  }
}

TEST(RecordFormatTest, ALostPageInTheMiddleOfTheLastBatchIsATornEnd) {
  Log log = SampleLog();
  const Records large(20, std::string(1000, 'x'));
  log.Add(large);
  for (const size_t from : {log.starts.back(), log.starts.back() + 4096}) {
    std::string torn = log.bytes;
    torn.replace(from, 4096, 4096, '\0');
    const absl::StatusOr<LogContents> contents = DecodeLog(torn, kGeneration);
    ASSERT_TRUE(contents.ok()) << contents.status();
    EXPECT_EQ(contents->whole_bytes, log.starts.back());
  }
}

TEST(RecordFormatTest, TwoDamagedBatchesAreNoTornEnd) {
  const Log log = SampleLog();
  std::string damaged = log.bytes;
  damaged[log.starts[3] - 1] ^= 1;
  damaged[log.starts[3] + 20] ^= 1;
  EXPECT_EQ(DecodeLog(damaged, kGeneration).status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecordFormatTest, ARecordDoesNotPassForABatch) {
  Log log;
  log.Add({"first"});
  log.Add({EncodeBatch({"a lie"}, kGeneration, 500)});
  std::string torn = log.bytes;
  torn[log.starts[1]] ^= 1;
  const absl::StatusOr<LogContents> contents = DecodeLog(torn, kGeneration);
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(contents->records, Records{"first"});
}

TEST(RecordFormatTest, ALogOfAnotherGenerationIsDamage) {
  EXPECT_EQ(DecodeLog(SampleLog().bytes, kGeneration + 1).status().code(), absl::StatusCode::kDataLoss);
}

TEST(RecordFormatTest, ASnapshotIsWholeOrDamaged) {
  const std::string bytes = EncodeSnapshotFile("all that counts", kGeneration);
  EXPECT_EQ(*DecodeSnapshotFile(bytes, kGeneration), "all that counts");
  EXPECT_EQ(*DecodeSnapshotFile(EncodeSnapshotFile("", kGeneration), kGeneration), "");
  EXPECT_EQ(DecodeSnapshotFile(bytes, kGeneration + 1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeSnapshotFile(bytes + "x", kGeneration).status().code(), absl::StatusCode::kDataLoss);
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    std::string damaged = bytes;
    damaged[byte] ^= 4;
    ASSERT_EQ(DecodeSnapshotFile(damaged, kGeneration).status().code(), absl::StatusCode::kDataLoss) << byte;
    ASSERT_EQ(DecodeSnapshotFile(bytes.substr(0, byte), kGeneration).status().code(), absl::StatusCode::kDataLoss);
  }
}

// Written by a version that had no snapshots: "first", "", "second", "third".
std::string OldLog() {
  return absl::HexStringToBytes(
      "050000006903c30d9665f706666972737400000000ed38f2fd51b9c81506000000d1fe3283af0128fc7365636f6e64"
      "050000007574ea28186edcbb7468697264");
}
constexpr size_t kOldStarts[] = {0, 17, 29, 47, 64};

TEST(RecordFormatTest, ReadsAnOldLog) {
  const absl::StatusOr<LogContents> contents = DecodeOldLog(OldLog());
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(contents->records, (Records{"first", "", "second", "third"}));
  EXPECT_EQ(contents->whole_bytes, OldLog().size());
  EXPECT_TRUE(DecodeOldLog("")->records.empty());
}

TEST(RecordFormatTest, AnOldLogCutAnywhereLosesItsLastRecord) {
  for (size_t size = 0; size < OldLog().size(); ++size) {
    const absl::StatusOr<LogContents> contents = DecodeOldLog(OldLog().substr(0, size));
    ASSERT_TRUE(contents.ok()) << size << contents.status();
    EXPECT_LE(contents->whole_bytes, size);
    EXPECT_EQ(contents->whole_bytes, kOldStarts[contents->records.size()]);
    EXPECT_GT(kOldStarts[contents->records.size() + 1], size);
  }
}

TEST(RecordFormatTest, AFlippedBitInAnOldLogIsATornEndOrDamage) {
  for (size_t byte = 0; byte < OldLog().size(); ++byte) {
    std::string damaged = OldLog();
    damaged[byte] ^= 2;
    const absl::StatusOr<LogContents> contents = DecodeOldLog(damaged);
    if (byte < kOldStarts[3]) {
      EXPECT_EQ(contents.status().code(), absl::StatusCode::kDataLoss) << byte;
    } else {
      ASSERT_TRUE(contents.ok()) << byte << contents.status();
      EXPECT_EQ(contents->whole_bytes, kOldStarts[3]);
    }
  }
}

}  // namespace
}  // namespace banyan
