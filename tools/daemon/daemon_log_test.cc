#include "tools/daemon/daemon_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string Log(const DaemonLogOptions& options, LogLevel level, absl::string_view text) {
  ::testing::internal::CaptureStderr();
  MakeDaemonLog(options)(level, text);
  return ::testing::internal::GetCapturedStderr();
}

TEST(DaemonLogTest, WritesATextLine) {
  EXPECT_THAT(Log({.process = "n3"}, LogLevel::kInfo, "joined the job as node 3"),
              MatchesRegex("....-..-..T..:..:..\\..*:00 info n3: joined the job as node 3\n"));
}

TEST(DaemonLogTest, WritesAJsonLine) {
  const std::string line = Log({.process = "n3", .json = true}, LogLevel::kWarning, "peer \"n4\" is {silent}");
  EXPECT_THAT(line, ::testing::StartsWith("{\"time\":\""));
  EXPECT_THAT(line, ::testing::EndsWith(R"(,"level":"warning","process":"n3","text":"peer \"n4\" is {silent}"})"
                                        "\n"));
}

TEST(DaemonLogTest, TheJournalGetsPriorities) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  struct stat file = {};
  ASSERT_EQ(fstat(ends[1], &file), 0);
  const std::string stream = absl::StrCat(file.st_dev, ":", file.st_ino);
  MakeDaemonLog({.process = "n3", .fd = ends[1], .journal = stream})(LogLevel::kError, "gone");
  MakeDaemonLog({.process = "n3", .json = true, .fd = ends[1], .journal = stream})(LogLevel::kInfo, "here");
  MakeDaemonLog({.process = "n3", .fd = ends[1], .journal = stream + "0"})(LogLevel::kError, "elsewhere");
  close(ends[1]);
  std::string lines(1000, ' ');
  lines.resize(read(ends[0], lines.data(), lines.size()));
  close(ends[0]);
  EXPECT_THAT(lines, MatchesRegex("<3>2.* error n3: gone\n<6>[{]\"time\".*\"here\"[}]\n2.* n3: elsewhere\n"));
}

TEST(DaemonLogTest, LeavesOutWhatIsBelowItsLevel) {
  EXPECT_EQ(Log({.process = "n3", .level = "warning"}, LogLevel::kInfo, "text"), "");
  EXPECT_THAT(Log({.process = "n3", .level = "debug"}, LogLevel::kDebug, "text"), HasSubstr("debug n3: text"));
  for (const std::string& level : LogLevelNames()) {
    EXPECT_THAT(Log({.process = "n3", .level = level}, LogLevel::kError, "text"), HasSubstr("error")) << level;
  }
}

TEST(DaemonLogTest, AJsonLineIsUtf8WhateverAPeerSays) {
  EXPECT_EQ(JsonString("K\xc3\xb6ln \xff\xc3"), "\"K\xc3\xb6ln \\\\xff\\\\xc3\"");
  EXPECT_EQ(JsonString("\xe2\x80\xae"), "\"\\\\xe2\\\\x80\\\\xae\"") << "right to left from here on";
}

TEST(DaemonLogTest, APeerCannotForgeALine) {
  EXPECT_THAT(Log({.process = "n3"}, LogLevel::kInfo, "a\nb\x1b[2J{}%s"), HasSubstr("n3: a\\x0ab\\x1b[2J{}%s\n"));
  EXPECT_EQ(JsonString("a\n\"\\\x01"), R"("a\u000a\"\\\u0001")");
  EXPECT_THAT(Log({.process = "n3"}, LogLevel::kInfo, "{} {0} %v"), HasSubstr("n3: {} {0} %v\n"));
}

}  // namespace
}  // namespace banyan
