#include "tools/daemon/log_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spdlog/spdlog.h"

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

  static spdlog::logger LoggerOn(int fd, bool json = false) {
    spdlog::logger logger("n1", std::make_shared<LogSink>(fd, json));
    logger.set_pattern(json ? R"({"level":"%l","text":%v})" : "%l %n: %v");
    return logger;
  }
  // All that is in the pipe.
  std::string Read() const {
    std::string text(1 << 20, '\0');
    const ssize_t got = read(pipe_[0], text.data(), text.size());
    text.resize(std::max<ssize_t>(got, 0));
    return text;
  }

  int pipe_[2];
};

TEST_F(LogSinkTest, WritesLines) {
  spdlog::logger logger = LoggerOn(pipe_[1]);
  logger.info("one");
  logger.warn("two");
  EXPECT_EQ(Read(), "info n1: one\nwarning n1: two\n");
}

TEST_F(LogSinkTest, NeverWaitsForAReaderThatHasStopped) {
  spdlog::logger logger = LoggerOn(pipe_[1]);
  constexpr int kLines = 1000;
  for (int line = 0; line < kLines; ++line) logger.info("a line that nobody reads");
  const std::string read = Read();
  EXPECT_THAT(read, StartsWith("info n1: a line that nobody reads\n"));
  const auto lines = std::count(read.begin(), read.end(), '\n');
  ASSERT_LT(lines, kLines);
  logger.info("read again");
  const std::string after = Read();
  EXPECT_THAT(after, HasSubstr("warning n1: " + std::to_string(kLines - lines) + " lines before this one could"));
  EXPECT_THAT(after, EndsWith("info n1: read again\n"));
}

TEST_F(LogSinkTest, OutlivesAFullDiskAndABrokenPipe) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  spdlog::logger on_full = LoggerOn(full);
  on_full.info("lost");
  close(full);
  close(std::exchange(pipe_[0], open("/dev/null", O_RDONLY | O_CLOEXEC)));
  spdlog::logger on_broken = LoggerOn(pipe_[1]);
  on_broken.info("lost too");
}

TEST_F(LogSinkTest, SaysInJsonToo) {
  spdlog::logger logger = LoggerOn(pipe_[1], /*json=*/true);
  for (int line = 0; line < 1000; ++line) logger.info("\"a line that nobody reads\"");
  Read();
  logger.info("\"again\"");
  EXPECT_THAT(Read(),
              HasSubstr("lines before this one could not be written\"}\n{\"level\":\"info\",\"text\":\"again\"}"));
}

}  // namespace
}  // namespace banyan
