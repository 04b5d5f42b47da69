#include "posix/home_process.h"

#include <sys/wait.h>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(HomeProcessTest, AForkedChildIsElsewhere) {
  const HomeProcess home;
  EXPECT_TRUE(home.IsHere());
  EXPECT_TRUE(home.Check("session").ok());
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = home.Check("session");
    const bool is_right = !home.IsHere() && absl::IsFailedPrecondition(status) && HomeProcess().IsHere();
    _exit(is_right ? 0 : 1);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace banyan
