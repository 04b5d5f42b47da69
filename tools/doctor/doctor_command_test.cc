#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Matcher;
using ::testing::Not;

constexpr char kSynchronised[] =
    "0A000001,10.0.0.1,3,1700000000.123456789,-0.000120000,0.000030000,0.000040000,-12.345,0.001,0.123,0.060000000,"
    "0.000900000,16.2,Normal";

class DoctorCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return DoctorCommand(arguments, out_, err_); }

  // A chronyc that says this and ends so. The doctor is asked with these flags.
  int RunWith(const std::string& output, int code = 0, std::vector<std::string> flags = {}) {
    const std::string path = ::testing::TempDir() + "/chronyc";
    {
      std::ofstream script(path);
      script << "#!/bin/sh\n[ \"$*\" = '-c tracking' ] || exit 9\ncat <<'END'\n"
             << output << "\nEND\nexit " << code << "\n";
    }
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    flags.insert(flags.end(), {"--chronyc", path});
    return Run(flags);
  }

  std::ostringstream out_, err_;
};

// Where timestamps and offsets come from, and what chrony is for.
// Lines are cut to the width of a terminal.
std::string OneLine(const std::string& text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

Matcher<std::string> SaysWhatClocksAreFor() {
  return AllOf(HasSubstr("timestamps come from a monotonic clock, which chrony does not set"),
               HasSubstr("offsets between these clocks from the echoes of heartbeats between neighbours"),
               HasSubstr("chrony only keeps the times in the logs of different sites comparable"));
}

TEST_F(DoctorCommandTest, HelpSaysWhatClocksAreFor) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(OneLine(out_.str()), SaysWhatClocksAreFor());
}

TEST_F(DoctorCommandTest, SaysWhatClocksAreForWhereSomethingIsToFix) {
  EXPECT_EQ(RunWith(kSynchronised), 0);
  EXPECT_THAT(out_.str(), Not(HasSubstr("monotonic")));
  EXPECT_EQ(RunWith(kSynchronised, 0, {"--max-offset", "0.1ms"}), kExitFaultFound);
  EXPECT_THAT(OneLine(out_.str()), SaysWhatClocksAreFor());
}

TEST_F(DoctorCommandTest, ASynchronisedClockIsFine) {
  EXPECT_EQ(RunWith(kSynchronised), 0);
  EXPECT_THAT(out_.str(), HasSubstr("ok: chrony: found "));
  EXPECT_THAT(out_.str(), HasSubstr("ok: daemon: chronyd runs\n"));
  EXPECT_THAT(out_.str(), HasSubstr("ok: synchronised: follows 10.0.0.1 at stratum 3, leap status Normal\n"));
  EXPECT_THAT(out_.str(), HasSubstr("ok: offset: the clock is off by 0.120 ms\n"));
  EXPECT_THAT(out_.str(), HasSubstr("ok: dispersion: which chrony knows to 0.900 ms"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("fix:")));
}

TEST_F(DoctorCommandTest, SaysWhatToDoAboutAnOffset) {
  EXPECT_EQ(RunWith(kSynchronised, 0, {"--max-offset", "0.1ms"}), kExitFaultFound);
  EXPECT_THAT(out_.str(), HasSubstr("fix: offset: the clock is off by 0.120 ms; expected 0.100 ms at most"));
  EXPECT_THAT(out_.str(), HasSubstr("fix: dispersion: "));
}

TEST_F(DoctorCommandTest, SaysWhatToDoWithoutChrony) {
  EXPECT_THAT(Run({"--chronyc", "/nonexistent/chronyc", "--json"}), ::testing::AnyOf(kExitSuccess, kExitFaultFound))
      << "of this machine";
  EXPECT_THAT(out_.str(), HasSubstr("{\"name\":\"chrony\",\"ok\":true,\"text\":\"there is no /nonexistent/chronyc, and "
                                    "Banyan needs none; to compare"));
  EXPECT_THAT(out_.str(), HasSubstr("deploy/chrony/node.conf"));
}

TEST_F(DoctorCommandTest, SaysThatTheDaemonDoesNotRun) {
  EXPECT_EQ(RunWith("506 Cannot talk to daemon", 1), kExitFaultFound);
  EXPECT_THAT(out_.str(), HasSubstr("fix: daemon: chronyd does not answer: 506 Cannot talk to daemon; start it: "));
}

TEST_F(DoctorCommandTest, SaysThatTheClockFollowsNobody) {
  EXPECT_EQ(RunWith("7F7F0101,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised"), kExitFaultFound);
  EXPECT_THAT(out_.str(), HasSubstr("fix: synchronised: the clock has no reference yet; wait"));
  EXPECT_THAT(out_.str(), HasSubstr("UDP port 123"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("offset:")));
}

TEST_F(DoctorCommandTest, ALocalReferenceHasNoName) {
  EXPECT_EQ(RunWith("7F7F0101,,10,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,Normal"), 0);
  EXPECT_THAT(out_.str(), HasSubstr("follows this machine's own clock at stratum 10"));
}

TEST_F(DoctorCommandTest, RefusesGarbage) {
  for (const char* garbage :
       {"", "hello", "a,b,c,d,e,f,g,h,i,j,k,l,m,n", "1,2,3,4,nan,6,7,8,9,10,11,12,13,Normal", "\x1b[2J\n\n,,,"}) {
    out_.str("");
    EXPECT_EQ(RunWith(garbage), kExitFaultFound) << garbage;
    EXPECT_THAT(out_.str(), HasSubstr("fix: tracking: expected the 14 fields of `chronyc -c tracking`, got '"));
    EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
  }
}

TEST_F(DoctorCommandTest, PrintsJson) {
  EXPECT_EQ(RunWith("506 Cannot talk to daemon", 1, {"--json"}), kExitFaultFound);
  EXPECT_THAT(out_.str(), ::testing::StartsWith("{\"ok\":false,\"checks\":[{\"name\":\"chrony\",\"ok\":true,"));
  EXPECT_THAT(out_.str(), HasSubstr("{\"name\":\"daemon\",\"ok\":false,"));
}

}  // namespace
}  // namespace banyan
