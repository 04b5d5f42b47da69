#include "tools/wan_benchmark/bench_wan_command.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class BenchWanCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return BenchWanCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(BenchWanCommandTest, HelpShowsAnExample) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("banyan bench wan deploy/topologies/internet2.yaml --mbytes 46"));
}

TEST_F(BenchWanCommandTest, RefusesUnknownPeersAndSizes) {
  EXPECT_EQ(Run({"x.yaml", "--peers", "gloo,open-mpi"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'openmpi'?"));
  EXPECT_EQ(Run({"x.yaml", "--mbytes", "0"}), 2);
  EXPECT_EQ(Run({}), 2);
}

TEST_F(BenchWanCommandTest, NamesTheContendersThatThereAre) {
  EXPECT_EQ(Run({"deploy/topologies/internet2.yaml", "--only", "pakced"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'packed'?"));
  EXPECT_EQ(Run({"no/such.yaml"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no/such.yaml"));
}

}  // namespace
}  // namespace banyan
