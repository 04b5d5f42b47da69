#include "tools/supervision/process_record.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"

namespace banyan {
namespace {

using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

ProcessRecord Training() {
  return {.name = "training process 3 (n\"4)",
          .kind = ProcessKind::kTraining,
          .node = "n\"4",
          .rank = 3,
          .pid = 1234,
          .supervisor = getpid(),
          .starts = 2};
}

TEST(ProcessRecordTest, JsonKeepsEverything) {
  for (const std::optional<int> rank : {std::optional<int>(3), std::optional<int>()}) {
    ProcessRecord record = Training();
    record.rank = rank;
    const absl::StatusOr<ProcessRecord> read = ParseProcessRecord(FormatProcessRecord(record));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(FormatProcessRecord(*read), FormatProcessRecord(record));
    EXPECT_EQ(read->name, record.name);
    EXPECT_EQ(read->kind, ProcessKind::kTraining);
    EXPECT_EQ(read->rank, rank);
    EXPECT_EQ(read->pid, 1234);
    EXPECT_EQ(read->supervisor, getpid());
  }
}

TEST(ProcessRecordTest, RefusesAnythingElse) {
  const std::string valid = FormatProcessRecord(Training());
  for (const std::string& text : {std::string(), std::string("[]"), std::string("{}"), std::string("{"),
                                  std::string("{\"name\":\"x\"}"), valid.substr(0, valid.size() / 2)}) {
    EXPECT_FALSE(ParseProcessRecord(text).ok()) << text;
  }
}

TEST(ProcessRecordTest, ACommandLineTellsTheKind) {
  EXPECT_EQ(KindOf({"/usr/bin/banyan", "node", "--name", "n1"}), ProcessKind::kNode);
  EXPECT_EQ(KindOf({"banyan", "scheduler", "overlay.yaml"}), ProcessKind::kScheduler);
  EXPECT_EQ(KindOf({"banyan", "status"}), ProcessKind::kOther);
  EXPECT_EQ(KindOf({"python3", "train.py"}), ProcessKind::kTraining);
  EXPECT_EQ(KindOf({}), ProcessKind::kOther);
}

TEST(ProcessRecordTest, ACommandLineTellsTheRank) {
  EXPECT_THAT(RankOf({"trainer", "--rank", "7"}), Optional(7));
  EXPECT_THAT(RankOf({"trainer", "--rank=8", "--x"}), Optional(8));
  EXPECT_THAT(RankOf({"trainer", "--rank"}), Eq(std::nullopt));
  EXPECT_THAT(RankOf({"trainer", "--rank", "two"}), Eq(std::nullopt));
}

class ProcessRecordsTest : public ::testing::Test {
 protected:
  const std::unique_ptr<WorkDirectory> directory_ = *WorkDirectory::Make("banyan-test");
  const ProcessRecords records_{directory_->File("processes")};
};

TEST_F(ProcessRecordsTest, KeepsTheLastOfEveryProcessUntilItIsRemoved) {
  EXPECT_THAT(records_.ReadAll(), IsEmpty());
  ProcessRecord record = Training();
  ProcessRecord other = Training();
  other.name = "node n1";
  ASSERT_TRUE(records_.Write(record).ok());
  ASSERT_TRUE(records_.Write(other).ok());
  record.pid = 0;
  ASSERT_TRUE(records_.Write(record).ok());
  const std::vector<ProcessRecord> read = records_.ReadAll();
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].name, "node n1");
  EXPECT_EQ(read[1].pid, 0);
  records_.Remove(record);
  EXPECT_THAT(records_.ReadAll(), SizeIs(1));
  records_.Remove(other);
  EXPECT_FALSE(std::filesystem::exists(records_.path()));
}

TEST_F(ProcessRecordsTest, PassesOverWhatIsNoRecordAndWhoseSupervisorIsGone) {
  ProcessRecord orphan = Training();
  // Beyond any number that the kernel gives out.
  orphan.supervisor = 1 << 30;
  ASSERT_TRUE(records_.Write(orphan).ok());
  std::ofstream(records_.path() + "/x.json") << "what?";
  EXPECT_THAT(records_.ReadAll(), IsEmpty());
}

TEST_F(ProcessRecordsTest, WithoutAFolderNothingIsWritten) {
  const ProcessRecords none("");
  EXPECT_TRUE(none.Write(Training()).ok());
  EXPECT_THAT(none.ReadAll(), IsEmpty());
}

}  // namespace
}  // namespace banyan
