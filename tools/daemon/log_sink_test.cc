#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/daemon_log.h"

namespace banyan {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LogSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    ASSERT_EQ(pipe2(pipe_, O_CLOEXEC), 0);
    ASSERT_GT(fcntl(pipe_[1], F_SETPIPE_SZ, 4 * 4096), 0);
  }
  void TearDown() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }

  static LogFunction LogTo(int fd, bool json = false) {
    return MakeDaemonLog({.process = "n1", .json = json, .fd = fd});
  }
  // All that is in the pipe, without times.
  std::string Read() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = read(pipe_[0], text.data(), text.size());
    text.resize(std::max<ssize_t>(got, 0));
    return std::regex_replace(text, std::regex("[0-9]{4}-[0-9-]*T[0-9:.]*[+-][0-9:]* ?"), "");
  }

  int pipe_[2];
};

TEST_F(LogSinkTest, WritesLines) {
  const LogFunction log = LogTo(pipe_[1]);
  log(LogLevel::kInfo, "one");
  log(LogLevel::kWarning, "two");
  EXPECT_EQ(Read(), "info n1: one\nwarning n1: two\n");
}

TEST_F(LogSinkTest, NeverWaitsForAReaderThatHasStopped) {
  const LogFunction log = LogTo(pipe_[1]);
  constexpr int kLines = 1000;
  for (int line = 0; line < kLines; ++line) log(LogLevel::kInfo, "a line that nobody reads");
  const std::string read = Read();
  EXPECT_THAT(read, StartsWith("info n1: a line that nobody reads\n"));
  const auto lines = std::count(read.begin(), read.end(), '\n');
  ASSERT_LT(lines, kLines);
  log(LogLevel::kInfo, "read again");
  const std::string after = Read();
  EXPECT_THAT(after, HasSubstr("warning n1: " + std::to_string(kLines - lines) + " lines before this one could"));
  EXPECT_THAT(after, EndsWith("info n1: read again\n"));
}

TEST_F(LogSinkTest, OutlivesAFullDiskAndABrokenPipe) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const LogFunction on_full = LogTo(full);
  on_full(LogLevel::kInfo, "lost");
  close(full);
  close(std::exchange(pipe_[0], open("/dev/null", O_RDONLY | O_CLOEXEC)));
  const LogFunction on_broken = LogTo(pipe_[1]);
  on_broken(LogLevel::kInfo, "lost too");
}

TEST_F(LogSinkTest, SaysInJsonToo) {
  const LogFunction log = LogTo(pipe_[1], /*json=*/true);
  for (int line = 0; line < 1000; ++line) log(LogLevel::kInfo, "a line that nobody reads");
  Read();
  log(LogLevel::kInfo, "again");
  EXPECT_THAT(Read(),
              HasSubstr("lines before this one could not be "
                        "written\"}\n{\"time\":\"\",\"level\":\"info\",\"process\":\"n1\",\"text\":\"again\"}"));
}

}  // namespace
}  // namespace banyan
