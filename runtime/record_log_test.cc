#include "runtime/record_log.h"

#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class RecordLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/record_log_XXXXXX";
    directory_ = mkdtemp(name.data());
  }

  absl::StatusOr<std::unique_ptr<RecordLog>> Open() {
    contents_ = RecordLogContents();
    return RecordLog::Open(
        directory_, contents_, [this](RecordId record) { persisted_.push_back(record.value()); }, [](absl::Status) {});
  }

  void WriteRecords(const std::vector<std::string>& records) {
    auto log = Open();
    ASSERT_TRUE(log.ok()) << log.status();
    for (size_t i = 0; i < records.size(); ++i) (*log)->Append(RecordId(i), records[i]);
  }

  std::string File() const {
    std::ifstream file(directory_ + "/records.log", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void Overwrite(const std::string& bytes) const {
    std::ofstream(directory_ + "/records.log", std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string directory_;
  RecordLogContents contents_;
  std::vector<uint64_t> persisted_;  // of the log's thread; read after the log has gone
};

TEST_F(RecordLogTest, RecordsSurviveTheProcess) {
  const std::string binary("\0\xff\n\0", 4);
  WriteRecords({"term 1", "", binary});
  EXPECT_EQ(persisted_, (std::vector<uint64_t>{0, 1, 2}));
  WriteRecords({"term 2"});
  EXPECT_EQ(contents_.records, (std::vector<std::string>{"term 1", "", binary}));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(contents_.records, (std::vector<std::string>{"term 1", "", binary, "term 2"}));
  EXPECT_EQ(contents_.warning, "");
}

TEST_F(RecordLogTest, SaysWhenARecordIsPersisted) {
  std::promise<RecordId> persisted;
  auto log = RecordLog::Open(
      directory_, contents_, [&](RecordId record) { persisted.set_value(record); }, [](absl::Status) {});
  ASSERT_TRUE(log.ok()) << log.status();
  (*log)->Append(RecordId(9), "binding");
  EXPECT_EQ(persisted.get_future().get(), RecordId(9));
}

TEST_F(RecordLogTest, ACutEndIsSetAside) {
  WriteRecords({"first", "second"});
  const std::string whole = File();
  for (size_t size = whole.size() - 1; size > whole.size() - 18; --size) {
    Overwrite(whole.substr(0, size));
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(contents_.records, (std::vector<std::string>{"first"}));
    EXPECT_NE(contents_.warning.find("after 1 whole records"), std::string::npos) << contents_.warning;
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(contents_.warning, "");
  }
}

TEST_F(RecordLogTest, AWrongByteIsNoticed) {
  WriteRecords({"first", "second"});
  std::string bytes = File();
  bytes.back() ^= 1;
  Overwrite(bytes);
  WriteRecords({"third"});
  EXPECT_EQ(contents_.records, (std::vector<std::string>{"first"}));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(contents_.records, (std::vector<std::string>{"first", "third"}));
}

TEST_F(RecordLogTest, TwoProcessesDoNotShareAFile) {
  auto first = Open();
  ASSERT_TRUE(first.ok());
  auto second = Open();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another process"), absl::string_view::npos) << second.status();
}

TEST_F(RecordLogTest, ADirectoryThatCannotBeIsAnError) {
  directory_ = "/proc/nowhere/state";
  auto log = Open();
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.status().message().find("/proc/nowhere"), absl::string_view::npos) << log.status();
}

}  // namespace
}  // namespace banyan
