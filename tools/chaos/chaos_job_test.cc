#include "tools/chaos/chaos_job.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/steady_clock.h"
#include "posix/work_directory.h"
#include "tools/supervision/supervised_process.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kPatience = absl::Seconds(60);

char StateOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  const size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? ' ' : text[end + 2];
}

// A job of one process, which sleeps.
class ChaosJobTest : public ::testing::Test {
 protected:
  ChaosJobTest() {
    SupervisionOptions options;
    options.process = {.name = "node n1", .arguments = {"/bin/sleep", "600"}, .log_path = directory_->File("log")};
    options.kind = ProcessKind::kNode;
    options.records = description_.records();
    process_ = *SupervisedProcess::Start(options);
    job_ = std::make_unique<ChaosJob>(description_);
  }

  ProcessRecord Found() const {
    const std::vector<ProcessRecord> found = job_->FindProcesses(ProcessKind::kNode);
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? ProcessRecord() : found[0];
  }

  static bool Reaches(pid_t pid, char state) {
    for (const absl::Time deadline = absl::Now() + kPatience; absl::Now() < deadline;) {
      if (StateOf(pid) == state) return true;
      absl::SleepFor(absl::Milliseconds(5));
    }
    return false;
  }

  ChaosFault kill_ = {.kind = ChaosKind::kKillNode};
  ChaosFault stop_ = {.kind = ChaosKind::kStopNode, .at = SteadyNow(), .lasts = absl::Seconds(60)};
  const std::unique_ptr<WorkDirectory> directory_ = *WorkDirectory::Make("banyan-test");
  const RunningJob description_ = {.directory = directory_->path(), .pid = getpid()};
  std::unique_ptr<SupervisedProcess> process_;
  std::unique_ptr<ChaosJob> job_;
};

TEST_F(ChaosJobTest, KillsAProcessOfTheJob) {
  EXPECT_TRUE(job_->is_running());
  EXPECT_FALSE(job_->is_on_wan());
  ASSERT_TRUE(job_->Hit(Found(), kill_).ok());
  EXPECT_EQ(kill_.target, "node n1");
  EXPECT_EQ(job_->NextUndoing(), kNever);
  EXPECT_TRUE(process_->WaitUntilEnded(kPatience));
}

TEST_F(ChaosJobTest, StopsAProcessAndLetsItGoOnWhenThatIsDue) {
  const ProcessRecord process = Found();
  ASSERT_TRUE(job_->Hit(process, stop_).ok());
  EXPECT_TRUE(Reaches(process.pid, 'T'));
  EXPECT_THAT(job_->FindProcesses(ProcessKind::kNode), IsEmpty());
  const Timestamp due = job_->NextUndoing();
  EXPECT_EQ(due, stop_.at + stop_.lasts);
  EXPECT_THAT(job_->UndoDue(due + -absl::Milliseconds(1)), IsEmpty());
  EXPECT_THAT(job_->UndoDue(due), ElementsAre("lets node n1 go on"));
  EXPECT_TRUE(Reaches(process.pid, 'S'));
  EXPECT_THAT(job_->FindProcesses(ProcessKind::kNode), SizeIs(1));
  EXPECT_EQ(job_->NextUndoing(), kNever);
}

TEST_F(ChaosJobTest, WhatIsStoppedGoesOnAtTheEnd) {
  const ProcessRecord process = Found();
  ASSERT_TRUE(job_->Hit(process, stop_).ok());
  EXPECT_TRUE(Reaches(process.pid, 'T'));
  job_.reset();
  EXPECT_TRUE(Reaches(process.pid, 'S'));
}

// Its number may be another's by now.
TEST_F(ChaosJobTest, WhoHasAnotherParentIsNotHit) {
  ProcessRecord process = Found();
  process.supervisor = 1;
  EXPECT_EQ(job_->Hit(process, kill_).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(process_->is_up());
  process.pid = 1 << 30;
  EXPECT_EQ(job_->Hit(process, stop_).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(job_->NextUndoing(), kNever);
}

TEST_F(ChaosJobTest, WithoutAnEmulatedWanThereAreNoLinks) {
  EXPECT_FALSE(job_->FindLinks().ok());
  for (const ChaosKind kind : {ChaosKind::kCutLink, ChaosKind::kShareLink}) {
    EXPECT_FALSE(job_->HitLinks({.kind = kind, .links = {{"n1", "n2"}}}).ok());
  }
  EXPECT_EQ(job_->NextUndoing(), kNever);
}

TEST(ChaosFaultTest, EachKindIsOnTheListAtItsPlace) {
  for (const ChaosKindInfo& info : kChaosKinds) EXPECT_EQ(InfoOf(info.kind).name, info.name);
  const ChaosFault fault = {.kind = ChaosKind::kStopNode, .target = "node n5", .lasts = absl::Seconds(6)};
  EXPECT_EQ(DescribeFault(InfoOf(fault.kind).does, fault), "stops node n5 for 6s");
  EXPECT_EQ(DescribeFault(InfoOf(fault.kind).undoes, fault), "lets node n5 go on");
}

}  // namespace
}  // namespace banyan
