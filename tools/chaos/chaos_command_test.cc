#include <unistd.h>

#include <memory>
#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
#include "tools/commands.h"
#include "tools/supervision/running_job.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ChaosCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return ChaosCommand(arguments, out_, err_); }

  // A job without processes, whose end is that of this test.
  std::string MakeJob() {
    EXPECT_TRUE(
        WriteRunningJob({.directory = directory_->path(), .pid = getpid(), .lost_after = absl::Seconds(2)}).ok());
    return directory_->path();
  }

  const std::unique_ptr<WorkDirectory> directory_ = *WorkDirectory::Make("banyan-test");
  std::ostringstream out_, err_;
};

TEST_F(ChaosCommandTest, WhereNoJobRunsItSaysSo) {
  EXPECT_EQ(Run({directory_->path(), "--kill-every", "1s"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no job of banyan runs in " + directory_->path()));
}

TEST_F(ChaosCommandTest, CutsNeedAnEmulatedWan) {
  EXPECT_EQ(Run({MakeJob(), "--cut-every", "1s"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("faults of links need the emulated WAN"));
}

TEST_F(ChaosCommandTest, WithoutProcessesItHasNothingToBreak) {
  EXPECT_EQ(Run({MakeJob(), "--kill-every", "100ms", "--for", "400ms", "--json"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("no process for kill_node"));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("end":"the time is over")"), HasSubstr(R"("faults":[])")));
}

}  // namespace
}  // namespace banyan
