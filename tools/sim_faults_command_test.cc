#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <string>
#include <vector>

#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome SimFaults(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = SimFaultsCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

TEST(SimFaultsCommandTest, SaysHowManySeedsPassAndWhatHappened) {
  const Outcome faults = SimFaults({"--seeds", "6", "--from", "3", "--kind", "transient"});
  EXPECT_EQ(faults.code, 0) << faults.out;
  EXPECT_EQ(faults.err, "");
  EXPECT_THAT(faults.out, HasSubstr("6 seeds, 0 of them fail\n"));
  EXPECT_THAT(faults.out, HasSubstr(" x "));
}

// JSON is YAML.
TEST(SimFaultsCommandTest, JsonIsTheSameForTheSameSeeds) {
  const std::vector<std::string> arguments = {"--seeds", "4", "--kind", "transient", "--json"};
  const Outcome faults = SimFaults(arguments);
  EXPECT_EQ(faults.code, 0) << faults.out;
  const YAML::Node json = YAML::Load(faults.out);
  EXPECT_EQ(json["seeds"].as<int>(), 4);
  EXPECT_EQ(json["failed"].size(), 0u);
  EXPECT_GT(json["results"].as<int>(), 0);
  EXPECT_EQ(SimFaults(arguments).out, faults.out);
}

TEST(SimFaultsCommandTest, ATraceShowsWhatProcessesAreHandedAndTheFaults) {
  const Outcome faults = SimFaults({"--seeds", "1", "--from", "1", "--kind", "transient", "--verbose"});
  EXPECT_EQ(faults.code, 0) << faults.out;
  EXPECT_THAT(faults.err, HasSubstr("fault: "));
}

}  // namespace
}  // namespace banyan
