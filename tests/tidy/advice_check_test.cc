#include "tests/tidy/advice_check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A repository with three commands, a program in Python and one key, and with this text.
std::vector<std::string> Check(const std::string& path, const std::string& text) {
  return CheckAdvice(
      {{"tools/all_commands.cc", R"(table({{"node", "runs", F}, {"status", "shows", G}});)"},
       {"tools/node_command.cc", R"(CommandLine line("banyan node", "x"); line.Text("name", "N", "h", &f.name);)"},
       {"tools/status_command.cc", R"(CommandLine line("banyan status", "x"); line.Switch("watch", "h", &f.w);)"},
       {"tools/demo_command.cc", R"(CommandLine line("banyan demo", "x");)"},
       {"examples/train.py", R"(parser.add_argument("--rate", type=float))"},
       {"docs/configuration.md", "\n| `nodes.workers` | count |\n"},
       {path, text}});
}

TEST(AdviceCheckTest, WhatExistsMayBeNamed) {
  EXPECT_THAT(Check("node/a.cc", R"(Error("expected --name; see banyan node --help, or nodes.workers");)"), IsEmpty());
  EXPECT_THAT(Check("docs/a.md", "Run `./banyan status --watch`, and `git log --oneline`, `nodes.yaml`."), IsEmpty());
}

TEST(AdviceCheckTest, FindsFlagsThatNobodyDeclares) {
  EXPECT_THAT(Check("node/a.cc", "\nError(\"start it with --workers\");"),
              ElementsAre(HasSubstr("node/a.cc:2: names the flag --workers, which no command declares")));
  EXPECT_THAT(Check("docs/a.md", "`banyan node --watch`"),
              ElementsAre(HasSubstr("--watch, which not banyan node declares")));
}

TEST(AdviceCheckTest, KnowsTheFlagsOfProgramsInPythonAndOfTheScript) {
  EXPECT_THAT(Check("docs/a.md", "`python3 examples/train.py --rate 3`, `./banyan demo --torch`"), IsEmpty());
  EXPECT_THAT(Check("docs/a.md", "`./banyan node --rate 3`, `./banyan node --torch`"),
              ElementsAre(HasSubstr("--rate, which not banyan node"), HasSubstr("--torch, which not banyan node")));
}

TEST(AdviceCheckTest, FindsCommandsAndKeysThatAreNot) {
  EXPECT_THAT(Check("node/a.cc", R"(Error("try `banyan repair`, or set nodes.threads");)"),
              ElementsAre(HasSubstr("banyan repair, which is no command"), HasSubstr("names nodes.threads")));
}

TEST(AdviceCheckTest, LooksAtNoTestsAndNoComments) {
  EXPECT_THAT(Check("node/a_test.cc", R"(Error("--workers");)"), IsEmpty());
  EXPECT_THAT(Check("node/a.cc", "// --workers\nint x = a --workers;"), IsEmpty());
}

}  // namespace
}  // namespace banyan
