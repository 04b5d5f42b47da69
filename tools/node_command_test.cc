#include "tools/node_command.h"

#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class NodeCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return NodeCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(NodeCommandTest, HelpShowsAnExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("banyan node"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(NodeCommandTest, RefusesAnUnknownFlag) {
  EXPECT_EQ(Run({"--no-such-flag"}), 2);
  EXPECT_NE(err_.str(), "");
}

TEST_F(NodeCommandTest, NeedsANameAndAScheduler) {
  EXPECT_EQ(Run({"--scheduler", "tcp://127.0.0.1:7700"}), 2);
  EXPECT_EQ(Run({"--name", "n1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected --name"));
  EXPECT_THAT(err_.str(), HasSubstr("expected --scheduler"));
}

TEST_F(NodeCommandTest, RefusesBadAddresses) {
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "127.0.0.1:7700"}), 2);
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1,tcp://h:1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--scheduler: expected different addresses"));
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1,tcp://i:1", "--listen", "tcp://h"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--listen: expected an address"));
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--advertise", "tcp://h:0"}), 2);
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--attach", "/run/n1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--attach: expected unix:/path, got '/run/n1'"));
}

TEST_F(NodeCommandTest, AnyInterfaceNeedsAnAddressForOthers) {
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--listen", "tcp://*:7701"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected --advertise"));
}

}  // namespace
}  // namespace banyan
