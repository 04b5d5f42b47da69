#include "tools/completion.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Completed(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"complete"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::ostringstream out, err;
  EXPECT_EQ(CommandTable("banyan", "", WithCompletion(ProgramCommands(""))).Run(arguments, out, err), 0);
  EXPECT_EQ(err.str(), "");
  return out.str();
}

TEST(CompletionTest, CommandsAreOfferedWithTheirDescription) {
  EXPECT_THAT(Completed({"st"}), "status\tshows what a running job is doing\nstop\tends a job for all its nodes\n");
  EXPECT_THAT(Completed({""}), AllOf(HasSubstr("plan\t"), HasSubstr("local\t"), Not(HasSubstr("--"))));
  EXPECT_THAT(Completed({"help", "sta"}), HasSubstr("status\t"));
  EXPECT_THAT(Completed({"wan", "u"}), "up\tstarts the nodes and links of an overlay\n");
  EXPECT_EQ(Completed({"nothing", "a"}), "");
}

TEST(CompletionTest, FlagsAndChoicesAreOffered) {
  EXPECT_THAT(Completed({"plan", "a.yaml", "--pl"}), AllOf(HasSubstr("--planner\t"), HasSubstr("--plot\t")));
  EXPECT_THAT(Completed({"plan", "--planner", "f"}), AllOf(HasSubstr("fapt\t"), Not(HasSubstr("star"))));
  EXPECT_THAT(Completed({"bench", "plan", "--"}), HasSubstr("--json\tprint JSON\n"));
}

TEST(CompletionTest, WhereAFileMayStandTheShellKnowsBetter) {
  EXPECT_EQ(Completed({"plan", ""}), "");
  EXPECT_EQ(Completed({"node", "--key", ""}), "");
}

TEST(CompletionTest, EveryShellHasItsScript) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    std::ostringstream out, err;
    EXPECT_EQ(CommandTable("banyan", "", WithCompletion(ProgramCommands(""))).Run({"completion", shell}, out, err), 0);
    EXPECT_THAT(out.str(), AllOf(HasSubstr("complete"), HasSubstr(shell)));
  }
}

}  // namespace
}  // namespace banyan
