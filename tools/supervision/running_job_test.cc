#include "tools/supervision/running_job.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class RunningJobTest : public ::testing::Test {
 protected:
  RunningJob Job() const {
    return {.directory = directory_->path(),
            .pid = getpid(),
            .wan_directory = directory_->File("wan"),
            .progress_path = directory_->File("progress"),
            .lost_after = absl::Milliseconds(2500)};
  }

  bool IsFound() const {
    const std::vector<RunningJob> jobs = FindRunningJobs();
    return std::any_of(jobs.begin(), jobs.end(),
                       [this](const RunningJob& job) { return job.directory == directory_->path(); });
  }

  const std::unique_ptr<WorkDirectory> directory_ = *WorkDirectory::Make("banyan-demo");
};

TEST_F(RunningJobTest, IsFoundWhileItRuns) {
  EXPECT_FALSE(IsFound());
  ASSERT_TRUE(WriteRunningJob(Job()).ok());
  EXPECT_TRUE(IsFound());
  const absl::StatusOr<RunningJob> read = ReadRunningJob(directory_->path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->pid, getpid());
  EXPECT_EQ(read->wan_directory, directory_->File("wan"));
  EXPECT_EQ(read->progress_path, directory_->File("progress"));
  EXPECT_EQ(read->lost_after, absl::Milliseconds(2500));
  RemoveRunningJob(directory_->path());
  EXPECT_FALSE(IsFound());
}

TEST_F(RunningJobTest, IsOverWhenItsProcessIs) {
  RunningJob job = Job();
  // Beyond any number that the kernel gives out.
  job.pid = 1 << 30;
  ASSERT_TRUE(WriteRunningJob(job).ok());
  EXPECT_EQ(ReadRunningJob(directory_->path()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(IsFound());
}

TEST_F(RunningJobTest, ThatOfAnotherUserIsNotFound) {
  ASSERT_TRUE(WriteRunningJob(Job()).ok());
  ASSERT_TRUE(IsFound());
  if (chown(directory_->path().c_str(), 1002, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "no other users exist here";
  EXPECT_FALSE(IsFound());
  EXPECT_EQ(chown(directory_->path().c_str(), geteuid(), static_cast<gid_t>(-1)), 0);
}

TEST_F(RunningJobTest, AnythingElseIsNoJob) {
  EXPECT_EQ(ReadRunningJob(directory_->path()).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(directory_->File("job.json")) << "{}";
  const absl::Status status = ReadRunningJob(directory_->path()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("job.json"));
}

}  // namespace
}  // namespace banyan
