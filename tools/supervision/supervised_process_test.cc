#include "tools/supervision/supervised_process.h"

#include <signal.h>

#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kPatience = absl::Seconds(60);

class SupervisedProcessTest : public ::testing::Test {
 protected:
  void Start(const std::string& script) {
    SupervisionOptions options;
    options.process = {.name = "node n1",
                       .arguments = {"/bin/sh", "-c", script},
                       .log_path = directory_->File("log"),
                       .capture_output = true};
    options.kind = ProcessKind::kNode;
    options.node = "n1";
    options.records = records_;
    absl::StatusOr<std::unique_ptr<SupervisedProcess>> process = SupervisedProcess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
  }

  void TendUntil(const std::function<bool()>& is_reached) {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!is_reached()) {
      ASSERT_LT(absl::Now(), deadline);
      ASSERT_TRUE(process_->Tend().ok());
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  const std::unique_ptr<WorkDirectory> directory_ = *WorkDirectory::Make("banyan-test");
  const ProcessRecords records_{directory_->File("processes")};
  std::unique_ptr<SupervisedProcess> process_;
};

TEST_F(SupervisedProcessTest, ExitCodeZeroIsTheEnd) {
  Start("echo done; exit 0");
  EXPECT_TRUE(process_->is_up());
  EXPECT_FALSE(process_->is_done());
  TendUntil([&] { return process_->is_done(); });
  EXPECT_FALSE(process_->is_up());
  EXPECT_EQ(process_->failures(), 0);
  EXPECT_THAT(process_->TakeLines(), ElementsAre("done"));
}

TEST_F(SupervisedProcessTest, WhoIsKilledRunsAgainAndIsRecordedAnew) {
  Start("echo hello; exec sleep 600");
  ASSERT_THAT(records_.ReadAll(), SizeIs(1));
  const ProcessRecord first = records_.ReadAll()[0];
  ASSERT_EQ(kill(first.pid, SIGKILL), 0);
  TendUntil([&] { return process_->failures() == 1; });
  EXPECT_FALSE(process_->is_up());
  EXPECT_EQ(records_.ReadAll()[0].pid, 0);
  EXPECT_EQ(process_->DescribeEnd(), "node n1 ended with signal 9 (Killed)");
  TendUntil([&] { return process_->is_up(); });
  const ProcessRecord second = records_.ReadAll()[0];
  EXPECT_NE(second.pid, first.pid);
  EXPECT_EQ(second.starts, 2);
  EXPECT_EQ(second.node, "n1");
  EXPECT_EQ(second.kind, ProcessKind::kNode);
  process_.reset();
  EXPECT_NE(kill(second.pid, 0), 0);
  EXPECT_THAT(records_.ReadAll(), IsEmpty());
}

TEST_F(SupervisedProcessTest, TellsWhoWasAskedToEnd) {
  Start("exec sleep 600");
  process_->Signal(SIGTERM);
  TendUntil([&] { return process_->failures() == 1; });
  EXPECT_TRUE(process_->was_asked_to_end());
  TendUntil([&] { return process_->is_up(); });
  process_->Signal(SIGINT);
  TendUntil([&] { return process_->failures() == 2; });
  EXPECT_FALSE(process_->was_asked_to_end());
}

TEST_F(SupervisedProcessTest, ADaemonSaysThatItWasAskedToEnd) {
  Start("exit 143");
  TendUntil([&] { return process_->failures() == 1; });
  EXPECT_TRUE(process_->was_asked_to_end());
}

TEST_F(SupervisedProcessTest, WhoWasCalledWronglyIsNotStartedAgain) {
  Start("exit 2");
  TendUntil([&] { return process_->is_given_up(); });
  EXPECT_EQ(process_->failures(), 1);
  EXPECT_EQ(process_->DescribeEnd(), "node n1 ended with exit code 2 (wrong usage): it is not started again");
}

TEST_F(SupervisedProcessTest, LinesOfAllStartsComeOut) {
  // The second start finds the file of the first, and is done.
  const std::string file = directory_->File("was-here");
  Start(absl::StrCat("if [ -e ", file, " ]; then echo two; exit 0; fi; touch ", file, "; echo one; exit 7"));
  TendUntil([&] { return process_->is_done(); });
  EXPECT_EQ(process_->failures(), 1);
  EXPECT_THAT(process_->TakeLines(), ElementsAre("one", "two"));
}

TEST_F(SupervisedProcessTest, WhoFailsAtOnceAgainAndAgainIsGivenUp) {
  Start("echo 'no such device' >&2; exit 3");
  TendUntil([&] { return process_->is_given_up(); });
  EXPECT_EQ(process_->failures(), RestartBudget::kMostFailures);
  EXPECT_THAT(process_->DescribeEnd(), AllOf(HasSubstr("node n1 ended with exit code 3, 5 times in a row"),
                                             HasSubstr("it is not started again")));
  EXPECT_EQ(process_->LogTail(2), "    no such device\n    no such device\n");
  ASSERT_TRUE(process_->Tend().ok());
  EXPECT_FALSE(process_->is_up());
}

}  // namespace
}  // namespace banyan
