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

TEST_F(NodeCommandTest, RefusesNamesThatNoOverlayHas) {
  EXPECT_EQ(Run({"--name", "a b", "--scheduler", "tcp://h:1"}), 2);
  EXPECT_THAT(
      err_.str(),
      HasSubstr(
          "--name: expected a name of 1 to 64 letters, digits, '-', '_' or '.', not with '-' or '.' first, got 'a b'"));
  EXPECT_EQ(Run({"--name", "n1", "--job", std::string(65, 'j'), "--scheduler", "tcp://h:1"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--job: expected a name"));
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
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--attach", "unix:/run/" + std::string(120, 'n')}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--attach: a socket's path has 1 to 107 bytes"));
}

TEST_F(NodeCommandTest, NeedsAFolderForItsSocket) {
  EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--attach", "unix:/proc/banyan/n1"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("--attach: cannot make the folder /proc/banyan"));
}

TEST_F(NodeCommandTest, AnyInterfaceNeedsAnAddressForOthers) {
  for (const char* listen : {"tcp://*:7701", "tcp://0.0.0.0:7701", "tcp://[::]:7701", "tcp://[0::0]:7701"}) {
    err_.str("");
    EXPECT_EQ(Run({"--name", "n1", "--scheduler", "tcp://h:1", "--listen", listen}), 2) << listen;
    EXPECT_THAT(err_.str(), HasSubstr("expected --advertise"));
  }
}

}  // namespace
}  // namespace banyan
