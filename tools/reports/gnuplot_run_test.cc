#include "tools/reports/gnuplot_run.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(GnuplotRunTest, RunsAScriptOrTellsWhyNot) {
  if (absl::IsNotFound(RunGnuplot("print 1\n"))) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_TRUE(RunGnuplot("print 1\n").ok());
  const absl::Status status = RunGnuplot("no such command\n");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("gnuplot: exit code"));
}

}  // namespace
}  // namespace banyan
