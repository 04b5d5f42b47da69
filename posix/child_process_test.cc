#include "posix/child_process.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<ChildProcess> Shell(const std::string& script, bool capture = false) {
  absl::StatusOr<std::unique_ptr<ChildProcess>> child =
      ChildProcess::Start({.name = "shell",
                           .arguments = {"/bin/sh", "-c", script},
                           .log_path = ::testing::TempDir() + "/child.log",
                           .capture_output = capture});
  EXPECT_TRUE(child.ok()) << child.status();
  return *std::move(child);
}

bool Exists(pid_t pid) { return kill(pid, 0) == 0; }

TEST(ChildProcessTest, TellsSuccess) {
  const std::unique_ptr<ChildProcess> child = Shell("exit 0");
  EXPECT_TRUE(child->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_EQ(child->failure(), "");
}

TEST(ChildProcessTest, TellsItsExitCodeAndTheTailOfItsLog) {
  const std::unique_ptr<ChildProcess> child = Shell("echo one; echo two >&2; echo three >&2; exit 3");
  EXPECT_TRUE(child->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_EQ(child->failure(), "exit code 3");
  EXPECT_EQ(child->LogTail(2), "    two\n    three\n");
}

TEST(ChildProcessTest, TellsTheSignalThatEndedIt) {
  const std::unique_ptr<ChildProcess> child = Shell("kill -SEGV $$");
  EXPECT_TRUE(child->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_THAT(child->failure(), HasSubstr("signal 11"));
}

TEST(ChildProcessTest, GivesItsOutputByTheLine) {
  const std::unique_ptr<ChildProcess> child = Shell("echo one; echo log >&2; printf 'two\\nthree'", true);
  EXPECT_TRUE(child->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_THAT(child->TakeLines(), ElementsAre("one", "two", "three"));
  EXPECT_EQ(child->output_fd(), -1);
  EXPECT_EQ(child->LogTail(5), "    log\n");
}

TEST(ChildProcessTest, AProgramThatIsNotThereFailsWithAReason) {
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
      {.name = "nothing", .arguments = {"/nonexistent/program"}, .log_path = ::testing::TempDir() + "/none.log"});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE((*child)->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_EQ((*child)->failure(), "exit code 127");
  EXPECT_THAT((*child)->LogTail(5), HasSubstr("/nonexistent/program: No such file"));
}

TEST(ChildProcessTest, WritesALogAnewOrGoesOnWithIt) {
  const std::string log = ::testing::TempDir() + "/appended.log";
  const auto tail_after = [&log](const std::string& word, bool append) {
    const absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
        {.name = "shell", .arguments = {"/bin/sh", "-c", "echo " + word}, .log_path = log, .append_log = append});
    EXPECT_TRUE(child.ok()) << child.status();
    EXPECT_TRUE((*child)->WaitUntilEnded(absl::Seconds(30)));
    return (*child)->LogTail(10);
  };
  EXPECT_EQ(tail_after("one", false), "    one\n");
  EXPECT_EQ(tail_after("two", true), "    one\n    two\n");
  EXPECT_EQ(tail_after("three", false), "    three\n");
}

TEST(ChildProcessTest, WithoutALogItsOutputGoesWhereTheParentsGoes) {
  const absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
      {.name = "shell",
       .arguments = {"/bin/sh", "-c",
                     "[ /proc/$$/fd/1 -ef /proc/$PPID/fd/1 ] && [ /proc/$$/fd/2 -ef /proc/$PPID/fd/2 ]"},
       .log_path = ""});
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE((*child)->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_EQ((*child)->failure(), "");
  EXPECT_EQ((*child)->LogTail(10), "");
}

TEST(ChildProcessTest, RefusesALogThatCannotBeWritten) {
  EXPECT_FALSE(ChildProcess::Start({.name = "x", .arguments = {"/bin/true"}, .log_path = "/nonexistent/log"}).ok());
}

TEST(ChildProcessTest, EndsWhenAsked) {
  const std::unique_ptr<ChildProcess> child = Shell("sleep 600");
  EXPECT_TRUE(child->running());
  child->Signal(SIGTERM);
  EXPECT_TRUE(child->WaitUntilEnded(absl::Seconds(30)));
  EXPECT_THAT(child->failure(), HasSubstr("signal 15"));
}

TEST(ChildProcessTest, DoesNotOutliveItsObject) {
  pid_t pid = 0;
  {
    const std::unique_ptr<ChildProcess> child = Shell("trap '' TERM; sleep 600");
    pid = child->pid();
    EXPECT_TRUE(Exists(pid));
  }
  EXPECT_FALSE(Exists(pid));
}

TEST(ChildProcessTest, DoesNotOutliveItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(
        {.name = "orphan", .arguments = {"/bin/sleep", "600"}, .log_path = ::testing::TempDir() + "/orphan.log"});
    const pid_t pid = (*child)->pid();
    if (write(ends[1], &pid, sizeof pid) < 0) _exit(1);
    kill(getpid(), SIGKILL);
  }
  pid_t orphan = 0;
  ASSERT_EQ(read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  // Whoever inherits the orphan reaps it some time; a zombie has no command line.
  const auto runs = [orphan] {
    std::ifstream command("/proc/" + std::to_string(orphan) + "/cmdline");
    std::string text;
    std::getline(command, text);
    return text.find("600") != std::string::npos;
  };
  for (int i = 0; i < 3000 && runs(); ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_FALSE(runs());
}

}  // namespace
}  // namespace banyan
