#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "posix/process_limits.h"

namespace banyan {
namespace {

TEST(SecretMemoryTest, NobodyGetsToSeeIt) {
  const pid_t child = fork();
  if (child == 0) {
    KeepMemorySecret();
    rlimit limit = {1, 1};
    _exit(prctl(PR_GET_DUMPABLE) == 0 && getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 ? 0 : 1);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace banyan
