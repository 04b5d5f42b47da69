#include "posix/mapping_limit.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

// The least that Linux has ever come with.
TEST(MappingLimitTest, IsTheKernels) { EXPECT_GE(MappingLimit(), 65530); }

}  // namespace
}  // namespace banyan
