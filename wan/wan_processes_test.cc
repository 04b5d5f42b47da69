#include "wan/wan_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace banyan {
namespace {

// Starts a program with this environment, and returns when it runs.
pid_t StartProgram(const std::string& script, std::string variable) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::string text = script;
    char shell[] = "/bin/sh";
    char flag[] = "-c";
    char* arguments[] = {shell, flag, text.data(), nullptr};
    char* environment[] = {variable.data(), nullptr};
    execve(shell, arguments, environment);
    _exit(127);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  return pid;
}

int WaitStatus(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(WanProcessesTest, EndsThoseOfItsIdAndNoOthers) {
  const pid_t own = StartProgram("echo; exec sleep 100", "BANYAN_WAN_ID=test-1234");
  const pid_t other = StartProgram("echo; exec sleep 100", "BANYAN_WAN_ID=test-12345");
  EXPECT_EQ(FindWanProcesses("test-1234"), std::vector<pid_t>({own}));
  EXPECT_EQ(EndWanProcesses("test-1234", absl::Seconds(10)), 0);
  EXPECT_EQ(WTERMSIG(WaitStatus(own)), SIGTERM);
  EXPECT_EQ(FindWanProcesses("test-12345"), std::vector<pid_t>({other}));
  kill(other, SIGKILL);
  WaitStatus(other);
}

TEST(WanProcessesTest, KillsWhatDoesNotListen) {
  const pid_t deaf = StartProgram("trap '' TERM; echo; while :; do sleep 1; done", "BANYAN_WAN_ID=test-99");
  EXPECT_EQ(EndWanProcesses("test-99", absl::Milliseconds(200)), 0);
  EXPECT_EQ(WTERMSIG(WaitStatus(deaf)), SIGKILL);
}

TEST(WanProcessesTest, NoIdNamesNobody) { EXPECT_EQ(EndWanProcesses("", absl::Seconds(1)), 0); }

}  // namespace
}  // namespace banyan
