#include "tools/chaos/chaos_command.h"

#include <unistd.h>

#include <memory>
#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
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

TEST_F(ChaosCommandTest, HelpShowsAnExampleAndAllKindsOfFaults) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("example: banyan chaos --kill-every 15s"), HasSubstr("--stop-every"),
                                HasSubstr("--cut-every"), HasSubstr("--scheduler-every"), HasSubstr("--worker-every")));
}

TEST_F(ChaosCommandTest, RefusesWhatCannotBe) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected at least one kind of fault"));
  for (const char* time : {"15", "0s", "-1s", "soon", "inf"}) {
    EXPECT_EQ(Run({"--kill-every", time}), 2) << time;
  }
  EXPECT_THAT(err_.str(), HasSubstr("--kill-every: expected a time above 0 with its unit, such as 15s, 1m30s or 500ms, "
                                    "got 'soon'"));
  EXPECT_EQ(Run({"--kill-every", "1s", "--cut", "all"}), 2);
  EXPECT_EQ(Run({"--kill-every", "1s", "--kill-every", "2s"}), 2);
}

TEST_F(ChaosCommandTest, WhereNoJobRunsItSaysSo) {
  EXPECT_EQ(Run({directory_->path(), "--kill-every", "1s"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no job of banyan runs in " + directory_->path()));
}

TEST_F(ChaosCommandTest, CutsNeedAnEmulatedWan) {
  EXPECT_EQ(Run({MakeJob(), "--cut-every", "1s"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("cuts need the links of the emulated WAN"));
}

TEST_F(ChaosCommandTest, WithoutProcessesItHasNothingToBreak) {
  EXPECT_EQ(Run({MakeJob(), "--kill-every", "100ms", "--for", "400ms", "--json"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("no process for kill_node"));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("end":"the time is over")"), HasSubstr(R"("faults":[])")));
}

}  // namespace
}  // namespace banyan
