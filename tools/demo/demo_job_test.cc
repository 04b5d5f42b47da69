#include "tools/demo/demo_job.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Real processes, which are shell scripts in place of the daemons and the training program.
class DemoJobTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-test");
    ASSERT_TRUE(directory.ok()) << directory.status();
    directory_ = *std::move(directory);
    options_.overlay = "nodes: [{name: n1}, {name: n2}]\n";
    options_.nodes = {{"n1", 1}, {"n2", 2}};
    options_.banyan_program = MakeProgram("banyan", "exec sleep 600");
    options_.trainer_program = MakeProgram("trainer", "exec sleep 600");
    ASSERT_EQ(pipe(stop_), 0);
  }
  void TearDown() override {
    close(stop_[0]);
    close(stop_[1]);
  }

  std::string MakeProgram(const std::string& name, const std::string& script) {
    const std::string path = directory_->File(name);
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<DemoNetwork>> network = DemoNetwork::OnLoopback(options_.nodes.size());
    ASSERT_TRUE(network.ok()) << network.status();
    network_ = *std::move(network);
    absl::StatusOr<std::unique_ptr<DemoJob>> job = DemoJob::Start(options_, *network_, *directory_);
    ASSERT_TRUE(job.ok()) << job.status();
    job_ = *std::move(job);
  }

  absl::StatusOr<std::vector<TrainingProgress>> Take(size_t count) {
    std::vector<TrainingProgress> all;
    for (int i = 0; i < 300 && all.size() < count; ++i) {
      absl::StatusOr<std::vector<TrainingProgress>> some = job_->TakeProgress(stop_[0], absl::Milliseconds(100));
      if (!some.ok()) return some.status();
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }

  bool AllAreUp() const {
    const std::vector<DemoProcess> failed = job_->failed_processes();
    return failed.size() == 2 && failed[0].is_up && failed[1].is_up;
  }

  std::string WaitForFailure() {
    for (int i = 0; i < 3000; ++i) {
      if (const absl::Status status = job_->Tend(); !status.ok()) return std::string(status.message());
      absl::SleepFor(absl::Milliseconds(10));
    }
    return "";
  }

  std::unique_ptr<WorkDirectory> directory_;
  DemoJobOptions options_;
  std::unique_ptr<DemoNetwork> network_;
  std::unique_ptr<DemoJob> job_;
  int stop_[2];
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first line that a process has logged, once there is one.
std::string FirstLine(const std::string& path) {
  std::string line;
  for (int i = 0; i < 3000; ++i) {
    std::ifstream file(path);
    if (std::getline(file, line) && !file.eof()) return line;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return line;
}

TEST_F(DemoJobTest, StartsEveryProcessWithItsArguments) {
  options_.banyan_program = MakeProgram("banyan", "echo \"$@\"; exec sleep 600");
  options_.trainer_program = MakeProgram("trainer",
                                         "echo \"$@\" >&2; echo '{\"rank\":'$7',\"round\":1,\"loss\":1,"
                                         "\"pushed_ns\":1,\"pulled_ns\":2}'; exec sleep 600");
  options_.trainer_arguments = {"--rounds=5"};
  Start();
  EXPECT_EQ(job_->worker_count(), 3);
  const absl::StatusOr<std::vector<TrainingProgress>> progress = Take(3);
  ASSERT_TRUE(progress.ok()) << progress.status();
  EXPECT_EQ(progress->size(), 3u);
  EXPECT_TRUE(job_->Tend().ok());
  EXPECT_THAT(FirstLine(directory_->File("scheduler.log")), HasSubstr("scheduler " + directory_->File("overlay.yaml")));
  EXPECT_THAT(FirstLine(directory_->File("n2.log")),
              HasSubstr(absl::StrCat("node --name n2 --scheduler ", network_->scheduler_address(),
                                     " --listen tcp://127.0.0.1:")));
  EXPECT_THAT(FirstLine(directory_->File("trainer-2.log")),
              HasSubstr(absl::StrCat("--json --node unix:", directory_->File("n2.sock"),
                                     " --worker 1 --rank 2 --world 3 --rounds=5")));
  EXPECT_TRUE(job_->Stop().ok());
}

TEST_F(DemoJobTest, WhoIsKilledIsStartedAgain) {
  options_.trainer_program =
      MakeProgram("trainer",
                  "echo '{\"rank\":'$7',\"round\":1,\"loss\":1,\"pushed_ns\":1,\"pulled_ns\":2}'; "
                  "exec sleep 600");
  Start();
  ASSERT_EQ(Take(3)->size(), 3u);
  EXPECT_THAT(job_->failed_processes(), IsEmpty());
  const ProcessRecords records(directory_->File("processes"));
  EXPECT_THAT(records.ReadAll(), SizeIs(7));
  for (const ProcessRecord& record : records.ReadAll()) {
    if (record.node == "n1") {
      EXPECT_EQ(kill(record.pid, SIGKILL), 0);
    }
  }
  std::vector<int> lost;
  for (int i = 0; i < 3000 && lost.empty(); ++i) {
    ASSERT_TRUE(job_->Tend().ok());
    lost = job_->TakeLostWorkers();
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_THAT(lost, ElementsAre(0));
  for (int i = 0; i < 300 && !AllAreUp(); ++i) {
    ASSERT_TRUE(job_->Tend().ok());
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_THAT(job_->failed_processes(),
              ElementsAre(DemoProcess{"node n1", 1, true, "signal 9 (Killed)"},
                          DemoProcess{"training process 0 (n1)", 1, true, "signal 9 (Killed)"}));
  EXPECT_EQ(Take(1)->size(), 1u);
  EXPECT_THAT(job_->TakeLostWorkers(), IsEmpty());
}

TEST_F(DemoJobTest, ADeadNodeIsReportedWithItsLog) {
  options_.banyan_program =
      MakeProgram("banyan", "if [ \"$3\" = n2 ]; then echo 'the disk is full' >&2; kill -SEGV $$; fi; exec sleep 600");
  Start();
  const std::string failure = WaitForFailure();
  EXPECT_THAT(failure, HasSubstr("node n2 ended with signal 11"));
  EXPECT_THAT(failure, HasSubstr("    the disk is full\n"));
  EXPECT_THAT(failure, Not(HasSubstr("node n1")));
}

TEST_F(DemoJobTest, ANodeMayNotEndEvenWithSuccessWhileItsTrainingProcessNeedsIt) {
  options_.trainer_program = MakeProgram("trainer", "exit 1");
  options_.banyan_program = MakeProgram("banyan", "if [ \"$3\" = n1 ]; then exit 0; fi; exec sleep 600");
  Start();
  EXPECT_THAT(WaitForFailure(), HasSubstr("node n1 ended with exit code 0, too early"));
}

TEST_F(DemoJobTest, ATrainingProcessMayEndWithSuccessOnly) {
  options_.trainer_program = MakeProgram("trainer", "if [ \"$7\" = 1 ]; then exit 1; fi; exit 0");
  Start();
  const std::string failure = WaitForFailure();
  EXPECT_THAT(failure, HasSubstr("training process 1 (n2) ended with exit code 1"));
  EXPECT_THAT(failure, Not(HasSubstr("training process 0")));
}

TEST_F(DemoJobTest, RefusesALineThatIsNoProgress) {
  options_.trainer_program = MakeProgram("trainer", "echo hello; exec sleep 600");
  Start();
  const absl::StatusOr<std::vector<TrainingProgress>> progress = Take(1);
  EXPECT_THAT(std::string(progress.status().message()), HasSubstr("training process"));
}

TEST_F(DemoJobTest, NothingIsLeftAfterItsEnd) {
  options_.banyan_program = MakeProgram("banyan", "echo $$; exec sleep 600");
  Start();
  std::string pid;
  for (int i = 0; i < 3000 && pid.empty(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    pid = ReadAll(directory_->File("n1.log"));
  }
  EXPECT_EQ(kill(std::stoi(pid), 0), 0);
  job_.reset();
  EXPECT_NE(kill(std::stoi(pid), 0), 0);
}

TEST_F(DemoJobTest, TellsTheLastStatus) {
  options_.banyan_program = MakeProgram("banyan",
                                        "if [ \"$1\" = status ]; then echo '{\"job\":\"j\",\"policy\":2}'; echo "
                                        "'{\"job\":\"j\",\"policy\":3}'; fi; exec sleep 600");
  Start();
  std::optional<JobStatus> status;
  for (int i = 0; i < 3000 && (!status.has_value() || status->policy < 3); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    if (std::optional<JobStatus> taken = job_->TakeStatus(); taken.has_value()) status = std::move(taken);
  }
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->policy, 3u);
  EXPECT_FALSE(job_->TakeStatus().has_value());
}

TEST_F(DemoJobTest, AStopSignalEndsTheWaiting) {
  Start();
  ASSERT_EQ(write(stop_[1], "x", 1), 1);
  const absl::Time before = absl::Now();
  EXPECT_TRUE(job_->TakeProgress(stop_[0], absl::Seconds(60)).ok());
  EXPECT_LT(absl::Now() - before, absl::Seconds(30));
}

}  // namespace
}  // namespace banyan
