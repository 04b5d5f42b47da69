// What `banyan wan` says without an emulated WAN; tests/wan_test.cc starts one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Wan(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = WanCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

std::string NowhereFlag() { return std::string("--dir=") + std::getenv("TEST_TMPDIR") + "/none"; }

TEST(WanCommandTest, WhereNothingRunsItSaysSo) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"status", NowhereFlag()},
                                             {"exec", NowhereFlag(), "n1", "--", "true"},
                                             {"exec", NowhereFlag(), "n1", "--restart", "--", "true"},
                                             {"cut", NowhereFlag(), "n1", "n2"},
                                             {"heal", NowhereFlag(), "n1", "n2"},
                                             {"traffic", NowhereFlag(), "n1", "n2", "--rate", "3"},
                                             {"rate", NowhereFlag(), "n1", "n2", "--rate", "3"}}) {
    const Outcome outcome = Wan(command);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no emulated WAN runs"), HasSubstr("banyan wan up OVERLAY.yaml")));
  }
  EXPECT_EQ(Wan({"down", NowhereFlag()}).code, 0);
}

}  // namespace
}  // namespace banyan
