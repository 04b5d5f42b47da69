#include "runtime/records/directory_record_store.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "protocol/testing/record_store_conformance.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Files = std::map<std::string, std::string>;

struct DirectoryStorage {
  DirectoryStorage() {
    std::string name = testing::TempDir() + "/records_XXXXXX";
    path = mkdtemp(name.data());
  }
  std::unique_ptr<RecordStore> NewStore() const { return std::make_unique<DirectoryRecordStore>(path); }

  // All files but the lock.
  Files Read() const {
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().filename() == "lock") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return files;
  }
  void Write(const Files& files) const {
    for (const auto& [name, bytes] : Read()) std::filesystem::remove(path + "/" + name);
    for (const auto& [name, bytes] : files) {
      std::ofstream(path + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
    }
  }

  std::string path;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Directory, RecordStoreConformance, DirectoryStorage);

class DirectoryRecordStoreTest : public testing::Test {
 protected:
  absl::StatusOr<StoredRecords> Open() {
    store_.reset();
    store_ = storage_.NewStore();
    return store_->Open();
  }
  absl::StatusOr<StoredRecords> OpenWith(const Files& files) {
    store_.reset();
    storage_.Write(files);
    return Open();
  }
  // The files of snapshot "one" with the records "two" and "three" after it, and those after the next snapshot, "all".
  Files MakeGeneration() {
    EXPECT_TRUE(Open().ok());
    EXPECT_TRUE(store_->Replace("one").ok());
    EXPECT_TRUE(store_->Append({"two"}).ok());
    EXPECT_TRUE(store_->Append({"three"}).ok());
    return storage_.Read();
  }
  Files MakeNextGeneration() {
    EXPECT_TRUE(store_->Replace("all").ok());
    return storage_.Read();
  }

  // The error when a file is damaged or gone names it, a byte, and a way out; and no file has been changed.
  void ExpectDataLoss(const Files& files, const std::string& file) {
    const absl::Status status = OpenWith(files).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(storage_.path + "/" + file + ": byte "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("bring the directory back from a copy"));
    EXPECT_EQ(storage_.Read(), files);
  }

  DirectoryStorage storage_;
  std::unique_ptr<RecordStore> store_;
  const StoredRecords old_ = {"one", {"two", "three"}, ""};
  const StoredRecords new_ = {"all", {}, ""};
};

TEST_F(DirectoryRecordStoreTest, HoldsOneGeneration) {
  EXPECT_THAT(MakeGeneration(), testing::ElementsAre(testing::Key("log-2"), testing::Key("snapshot-2")));
  EXPECT_THAT(MakeNextGeneration(), testing::ElementsAre(testing::Key("log-3"), testing::Key("snapshot-3")));
}

TEST_F(DirectoryRecordStoreTest, ACrashInTheMiddleOfASnapshotLeavesTheOldOne) {
  const Files before = MakeGeneration();
  const Files after = MakeNextGeneration();
  const std::string& snapshot = after.at("snapshot-3");
  for (size_t size = 0; size <= after.at("log-3").size(); ++size) {
    Files crashed = before;
    crashed["log-3"] = after.at("log-3").substr(0, size);
    EXPECT_EQ(*OpenWith(crashed), old_);
    EXPECT_EQ(storage_.Read(), before);
  }
  for (size_t size = 0; size <= snapshot.size(); ++size) {
    Files crashed = before;
    crashed["log-3"] = after.at("log-3");
    crashed["snapshot-3.new"] = snapshot.substr(0, size);
    EXPECT_EQ(*OpenWith(crashed), old_);
    EXPECT_EQ(storage_.Read(), before);
  }
}

TEST_F(DirectoryRecordStoreTest, ACrashAfterASnapshotLeavesTheNewOne) {
  const Files before = MakeGeneration();
  const Files after = MakeNextGeneration();
  Files crashed = after;
  crashed.insert(before.begin(), before.end());
  EXPECT_EQ(*OpenWith(crashed), new_);
  EXPECT_EQ(storage_.Read(), after);
  crashed = after;
  crashed["log-2"] = before.at("log-2");
  EXPECT_EQ(*OpenWith(crashed), new_);
  EXPECT_EQ(storage_.Read(), after);
}

TEST_F(DirectoryRecordStoreTest, ACrashInTheFirstStartLeavesNothing) {
  ASSERT_TRUE(Open().ok());
  const Files first = storage_.Read();
  EXPECT_EQ(*OpenWith({{"log-1", first.at("log-1").substr(0, 5)}}), StoredRecords());
  EXPECT_EQ(*OpenWith({{"log-1", first.at("log-1")}, {"snapshot-1.new", "ban"}}), StoredRecords());
  EXPECT_EQ(storage_.Read(), first);
}

TEST_F(DirectoryRecordStoreTest, ATornEndIsKeptAside) {
  const Files files = MakeGeneration();
  const std::string& log = files.at("log-2");
  const size_t last_bytes = 16 + 4 + 5;  // the batch of "three"
  for (size_t cut = 1; cut < last_bytes; ++cut) {
    Files torn = files;
    torn["log-2"] = log.substr(0, log.size() - cut);
    const absl::StatusOr<StoredRecords> stored = OpenWith(torn);
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(stored->tail, std::vector<std::string>{"two"});
    EXPECT_THAT(stored->warning, HasSubstr(absl::StrCat("/log-2: after 1 whole records the last ", last_bytes - cut)));
    EXPECT_EQ(storage_.Read().at("log-2.damaged"), log.substr(log.size() - last_bytes, last_bytes - cut));
    ASSERT_TRUE(store_->Append({"another"}).ok());
    EXPECT_EQ(*Open(), (StoredRecords{"one", {"two", "another"}, ""}));
  }
}

TEST_F(DirectoryRecordStoreTest, WhatIsKeptAsideIsNeverOverwritten) {
  Files files = MakeGeneration();
  files["log-2"] += "first";
  ASSERT_TRUE(OpenWith(files).ok());
  for (const char* torn : {"second", "third"}) {
    files = storage_.Read();
    files["log-2"] += torn;
    EXPECT_EQ(OpenWith(files)->tail, old_.tail);
  }
  files = storage_.Read();
  EXPECT_EQ(files.at("log-2.damaged"), "first");
  EXPECT_EQ(files.at("log-2.damaged-2"), "second");
  EXPECT_EQ(files.at("log-2.damaged-3"), "third");
}

TEST_F(DirectoryRecordStoreTest, DamageInTheMiddleIsDataLoss) {
  const Files files = MakeGeneration();
  const size_t last = files.at("log-2").size() - 25;
  for (size_t byte = 0; byte < files.at("log-2").size(); ++byte) {
    Files damaged = files;
    damaged["log-2"][byte] ^= 16;
    if (byte < last) {
      ExpectDataLoss(damaged, "log-2");
    } else {
      EXPECT_EQ(OpenWith(damaged)->tail, std::vector<std::string>{"two"});
    }
  }
}

TEST_F(DirectoryRecordStoreTest, ADamagedSnapshotIsDataLoss) {
  const Files files = MakeGeneration();
  for (size_t byte = 0; byte < files.at("snapshot-2").size(); ++byte) {
    Files damaged = files;
    damaged["snapshot-2"][byte] ^= 16;
    ExpectDataLoss(damaged, "snapshot-2");
    damaged["snapshot-2"] = files.at("snapshot-2").substr(0, byte);
    ExpectDataLoss(damaged, "snapshot-2");
  }
}

TEST_F(DirectoryRecordStoreTest, AMissingFileIsDataLoss) {
  const Files before = MakeGeneration();
  Files missing = before;
  missing.erase("log-2");
  ExpectDataLoss(missing, "log-2");
  missing = before;
  missing.erase("snapshot-2");
  ExpectDataLoss(missing, "snapshot-2");
  // Nor does an older generation take the place of a newer one.
  ASSERT_TRUE(OpenWith(before).ok());
  Files after = MakeNextGeneration();
  ASSERT_TRUE(store_->Append({"four"}).ok());
  after = storage_.Read();
  after.erase("snapshot-3");
  after.insert(before.begin(), before.end());
  ExpectDataLoss(after, "snapshot-3");
}

// The log of a version that had no snapshots: "first", "", "second", "third".
std::string OldLog() {
  return absl::HexStringToBytes(
      "050000006903c30d9665f706666972737400000000ed38f2fd51b9c81506000000d1fe3283af0128fc7365636f6e64"
      "050000007574ea28186edcbb7468697264");
}

TEST_F(DirectoryRecordStoreTest, TakesOverAnOldLog) {
  const StoredRecords expected = {"", {"first", "", "second", "third"}, ""};
  EXPECT_EQ(*OpenWith({{"records.log", OldLog()}}), expected);
  const Files after = storage_.Read();
  EXPECT_THAT(after, testing::ElementsAre(testing::Key("log-1"), testing::Key("snapshot-1")));
  EXPECT_EQ(*Open(), expected);
  // A crash meanwhile changes nothing.
  EXPECT_EQ(*OpenWith({{"records.log", OldLog()}, {"log-1", after.at("log-1")}}), expected);
  EXPECT_EQ(storage_.Read(), after);
  Files both = after;
  both["records.log"] = OldLog();
  EXPECT_EQ(*OpenWith(both), expected);
  EXPECT_EQ(storage_.Read(), after);
}

TEST_F(DirectoryRecordStoreTest, ADamagedOldLogIsCutOffOrDataLoss) {
  const absl::StatusOr<StoredRecords> torn = OpenWith({{"records.log", OldLog() + "xyz"}});
  ASSERT_TRUE(torn.ok()) << torn.status();
  EXPECT_THAT(torn->warning, HasSubstr("records.log.damaged"));
  EXPECT_EQ(storage_.Read().at("records.log.damaged"), "xyz");
  std::string damaged = OldLog();
  damaged[14] ^= 1;
  ExpectDataLoss({{"records.log", damaged}}, "records.log");
}

TEST_F(DirectoryRecordStoreTest, AFullDiskLeavesNoTornEnd) {
  MakeGeneration();
  const Files before = storage_.Read();
  struct rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto former_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit low = {before.at("log-2").size() + 1000, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const absl::Status status = store_->Append({std::string(5000, 'x')});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, former_handler);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/log-2"));
  EXPECT_EQ(storage_.Read(), before);
}

TEST_F(DirectoryRecordStoreTest, TwoProcessesDoNotShareADirectory) {
  ASSERT_TRUE(Open().ok());
  const absl::Status second = storage_.NewStore()->Open().status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()), HasSubstr(absl::StrCat("is in use by process ", getpid())));
}

TEST_F(DirectoryRecordStoreTest, MakesItsDirectoryAndThoseAroundIt) {
  const std::string around = storage_.path;
  for (const std::string job : {"first", "second"}) {
    storage_.path = absl::StrCat(around, "/state/banyan/", job);
    EXPECT_EQ(*Open(), StoredRecords());
    EXPECT_EQ(std::filesystem::status(storage_.path).permissions(), std::filesystem::perms::owner_all);
  }
}

TEST_F(DirectoryRecordStoreTest, ADirectoryThatCannotBeIsAnError) {
  storage_.path = "/proc/nowhere/state";
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("/proc/nowhere"));
}

}  // namespace
}  // namespace banyan
