#include <gtest/gtest.h>
#include <sys/resource.h>

#include "posix/process_limits.h"

namespace banyan {
namespace {

TEST(DescriptorLimitTest, TheSoftLimitBecomesTheHardOne) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max / 2;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), static_cast<int64_t>(limit.rlim_max));
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
}

TEST(DescriptorLimitTest, KnowsWhenNoneIsLeft) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(HasDescriptorLeft());
  const rlimit none = {.rlim_cur = 3, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_FALSE(HasDescriptorLeft());
  EXPECT_EQ(DescriptorLimit(), 3);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(HasDescriptorLeft());
}

}  // namespace
}  // namespace banyan
