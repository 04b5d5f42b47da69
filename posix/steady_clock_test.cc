#include "posix/steady_clock.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

int64_t Nanoseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(SteadyClockTest, GoesOnWhileTheMachineIsSuspended) {
  const pid_t child = fork();
  if (child == 0) {
    // Children of this process live on a machine that has been suspended for a million seconds.
    if (unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0) _exit(2);
    const std::string offset = "boottime 1000000 0\n";
    const FileDescriptor file(open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC));
    if (write(file.get(), offset.data(), offset.size()) != static_cast<ssize_t>(offset.size())) _exit(2);
    const pid_t suspended = fork();
    if (suspended == 0) {
      _exit(SteadyNow().nanoseconds() - Nanoseconds(CLOCK_MONOTONIC) < int64_t{900'000} * 1'000'000'000 ? 3 : 0);
    }
    int ended = -1;
    waitpid(suspended, &ended, 0);
    _exit(WEXITSTATUS(ended));
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  if (WEXITSTATUS(ended) == 2) GTEST_SKIP() << "this kernel lets nobody have a clock of their own";
  EXPECT_EQ(WEXITSTATUS(ended), 0);
}

TEST(SteadyClockTest, NeverGoesBack) {
  const int64_t before = Nanoseconds(CLOCK_BOOTTIME);
  const Timestamp first = SteadyNow();
  const Timestamp second = SteadyNow();
  EXPECT_LE(before, first.nanoseconds());
  EXPECT_LE(first, second);
}

}  // namespace
}  // namespace banyan
