#include "tools/command_table.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommandTableTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return table_.Run(arguments, out_, err_); }

  std::vector<std::string> received_;
  std::ostringstream out_, err_;
  const CommandTable table_{
      "banyan",
      "Tests commands.",
      {{"plan", "shows a plan",
        [this](absl::Span<const std::string> arguments, std::ostream&, std::ostream&) {
          received_.assign(arguments.begin(), arguments.end());
          return 1;
        }},
       {"status", "shows a job", [](auto, std::ostream&, std::ostream&) { return 0; }},
       {"demo", "needs the repository", [](auto, std::ostream&, std::ostream&) { return 7; }, true}}};
};

TEST_F(CommandTableTest, RunsACommandWithItsArguments) {
  EXPECT_EQ(Run({"plan", "a", "--b"}), 1);
  EXPECT_THAT(received_, ElementsAre("a", "--b"));
}

TEST_F(CommandTableTest, HelpListsAll) {
  for (const char* help : {"--help", "-h", "help"}) {
    EXPECT_EQ(Run({help}), 0);
  }
  EXPECT_THAT(out_.str(), HasSubstr("  plan    shows a plan\n  status  shows a job\n"));
}

TEST_F(CommandTableTest, WhatIsHiddenRunsAllTheSame) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(out_.str(), ::testing::Not(HasSubstr("demo")));
  EXPECT_EQ(Run({"demo"}), 7);
}

TEST_F(CommandTableTest, HelpOnACommandAsksIt) {
  EXPECT_EQ(Run({"help", "plan"}), 1);
  EXPECT_THAT(received_, ElementsAre("--help"));
  EXPECT_EQ(Run({"help", "plan", "part"}), 1);
  EXPECT_THAT(received_, ElementsAre("part", "--help"));
  EXPECT_EQ(Run({"--help", "pln"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown command 'pln'; did you mean 'plan'?"));
}

TEST_F(CommandTableTest, TellsItsVersion) {
  for (const char* question : {"--version", "version"}) {
    out_.str("");
    EXPECT_EQ(Run({question}), 0);
    EXPECT_THAT(out_.str(), ::testing::MatchesRegex("banyan [0-9.]+ \\(protocol [0-9]+\\)\n"));
  }
}

TEST_F(CommandTableTest, NothingIsAUsageError) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("usage: banyan"));
}

TEST_F(CommandTableTest, SuggestsForAnUnknownCommand) {
  EXPECT_EQ(Run({"statsu"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown command 'statsu'; did you mean 'status'?"));
}

}  // namespace
}  // namespace banyan
