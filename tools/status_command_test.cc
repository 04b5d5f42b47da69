#include "tools/status_command.h"

#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class StatusCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return StatusCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(StatusCommandTest, HelpShowsAnExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("banyan status"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(StatusCommandTest, RefusesAnUnknownFlag) {
  EXPECT_EQ(Run({"--no-such-flag"}), 2);
  EXPECT_NE(err_.str(), "");
}

TEST_F(StatusCommandTest, NeedsAScheduler) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"--scheduler", "tcp://127.0.0.1"}), 2);
}

TEST_F(StatusCommandTest, SaysThatNobodyAnswers) {
  absl::StatusOr<PortReservation> port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(Run({"--scheduler", port->Address(0), "--timeout", "0.2"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("within 200ms"));
}

}  // namespace
}  // namespace banyan
