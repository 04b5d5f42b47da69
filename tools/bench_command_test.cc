#include "tools/bench_command.h"

#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/loopback_benchmark.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class BenchCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return BenchCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(BenchCommandTest, HelpShowsAnExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("banyan bench"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(BenchCommandTest, RefusesAnUnknownFlag) {
  EXPECT_EQ(Run({"--no-such-flag"}), 2);
  EXPECT_NE(err_.str(), "");
}

TEST_F(BenchCommandTest, EachBenchmarkHasHelp) {
  for (const char* benchmark : {"accuracy", "aggregate", "codec", "plan", "loopback", "precision", "reducer", "wan"}) {
    EXPECT_EQ(Run({benchmark, "--help"}), 0) << benchmark;
    EXPECT_THAT(out_.str(), HasSubstr(std::string("banyan bench ") + benchmark));
  }
  EXPECT_EQ(Run({"loopback", "--nodes", "1"}), 2);
  EXPECT_EQ(Run({"loopbck"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'loopback'?"));
}

TEST(LoopbackBenchmarkTest, CountsWhatAllNodesSend) {
  // Two nodes send each other all values, on a core each.
  EXPECT_DOUBLE_EQ(GbpsPerCore(2, 64, 0.1, 2), 5.12);
  EXPECT_DOUBLE_EQ(GbpsPerCore(4, 64, 0.1, 2), 3 * 5.12);
}

}  // namespace
}  // namespace banyan
