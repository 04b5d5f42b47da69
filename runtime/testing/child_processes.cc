#include "runtime/testing/child_processes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// Reads the line that Start writes; ends the process when none comes any more.
std::string ReadLine(const FileDescriptor& from) {
  std::string line;
  char letter = 0;
  while (read(from.get(), &letter, 1) == 1) {
    if (letter == '\n') return line;
    line.push_back(letter);
  }
  _exit(0);
}

}  // namespace

ChildProcesses::ChildProcesses(Life life) {
  const testing::TestSuite* suite = testing::UnitTest::GetInstance()->current_test_suite();
  for (int i = 0; i < suite->test_to_run_count(); ++i) Fork(life);
}

ChildProcesses::~ChildProcesses() {
  for (const Waiting& child : waiting_) {
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
  }
}

void ChildProcesses::Fork(Life life) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  const pid_t test = getpid();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child > 0) return waiting_.push_back({child, std::move(to)});
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != test) _exit(0);
  waiting_.clear();
  to.Close();
  life(ReadLine(from));
  _exit(0);
}

pid_t ChildProcesses::Start(const std::string& argument) {
  if (waiting_.empty()) {
    ADD_FAILURE() << "a test starts one child of its suite's at most";
    return -1;
  }
  const Waiting child = std::move(waiting_.back());
  waiting_.pop_back();
  const std::string line = argument + "\n";
  EXPECT_EQ(write(child.argument.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  return child.process;
}

}  // namespace banyan
