#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/flags/shared_flags.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const std::string& addresses) {
  return std::string(ReadSchedulerFlag(addresses).status().message());
}

TEST(SchedulerFlagTest, ReadsAddresses) {
  EXPECT_THAT(*ReadSchedulerFlag("tcp://a:1,tcp://b:2"), ElementsAre("tcp://a:1", "tcp://b:2"));
}

TEST(SchedulerFlagTest, NamesTheFlagAndTheVariable) {
  EXPECT_THAT(Refusal(""), HasSubstr("expected --scheduler or the variable BANYAN_SCHEDULER"));
  EXPECT_THAT(Refusal("10.0.0.1:7700"), HasSubstr("--scheduler: expected an address of the form tcp://"));
  EXPECT_THAT(Refusal("tcp://10.0.0.256:7700"), HasSubstr("is no IPv4 address"));
  EXPECT_THAT(Refusal("tcp://a:1,"), HasSubstr("--scheduler: expected an address"));
}

TEST(SchedulerFlagTest, TheEnvironmentNamesAScheduler) {
  std::string variable = "tcp://a:1";
  CommandLine::SetEnvironment(
      [&variable](const std::string& name) { return name == "BANYAN_SCHEDULER" ? variable : ""; });
  std::string addresses;
  CommandLine line("banyan trace", "Asks.", "banyan trace");
  AddSchedulerFlag(line, "", &addresses);
  std::ostringstream out, err;
  EXPECT_EQ(line.Parse({}, out, err), std::nullopt);
  EXPECT_EQ(addresses, "tcp://a:1");
  EXPECT_EQ(line.Parse({"--scheduler=tcp://b:1"}, out, err), std::nullopt);
  EXPECT_EQ(addresses, "tcp://b:1");
  variable = "10.0.0.1";
  EXPECT_EQ(line.Parse({"--scheduler=tcp://b:1"}, out, err), std::nullopt);
  EXPECT_EQ(line.Parse({}, out, err), kExitUsage);
  EXPECT_THAT(err.str(), HasSubstr("BANYAN_SCHEDULER: expected an address"));
  CommandLine::SetEnvironment(nullptr);
}

TEST(SchedulerFlagTest, HelpTellsWhatCountsWithoutIt) {
  std::string addresses;
  CommandLine line("banyan status", "Asks.", "banyan status");
  AddSchedulerFlag(line, ", or the overlay's", &addresses);
  EXPECT_THAT(line.Help(), ::testing::ContainsRegex("[$]BANYAN_SCHEDULER,[ \n]+or the overlay's"));
}

}  // namespace
}  // namespace banyan
