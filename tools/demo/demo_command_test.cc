#include "tools/demo/demo_command.h"

#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class DemoCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return DemoCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(DemoCommandTest, HelpShowsAnExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("banyan demo"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(DemoCommandTest, RefusesAnUnknownFlag) {
  EXPECT_EQ(Run({"--no-such-flag"}), 2);
  EXPECT_NE(err_.str(), "");
}

TEST_F(DemoCommandTest, RefusesWhatCannotBe) {
  EXPECT_EQ(Run({"--rounds", "0"}), 2);
  EXPECT_EQ(Run({"--network", "lan"}), 2);
  EXPECT_EQ(Run({"--redraw-seconds", "-1"}), 2);
  EXPECT_EQ(Run({"--network", "loopback", "--redraw-seconds", "5s"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--redraw-seconds says nothing with --network loopback"));
  EXPECT_EQ(Run({"--least-accuracy", "87"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected a number from 0 to 1, got '87'"));
  EXPECT_EQ(Run({"--overlay", "/nonexistent/overlay.yaml"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent/overlay.yaml"));
  EXPECT_EQ(Run({"--compression", "{codec: tokp}"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'topk'?"));
}

}  // namespace
}  // namespace banyan
