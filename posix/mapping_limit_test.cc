#include "gtest/gtest.h"
#include "posix/process_limits.h"

namespace banyan {
namespace {

// The least that Linux has ever come with.
TEST(MappingLimitTest, IsTheKernels) { EXPECT_GE(MappingLimit(), 65530); }

}  // namespace
}  // namespace banyan
