#include "tools/loopback_benchmark.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(LoopbackBenchmarkTest, CountsWhatAllNodesSend) {
  // Two nodes send each other all values, on a core each.
  EXPECT_DOUBLE_EQ(GbpsPerCore(2, 64, 0.1, 2), 5.12);
  EXPECT_DOUBLE_EQ(GbpsPerCore(4, 64, 0.1, 2), 3 * 5.12);
}

}  // namespace
}  // namespace banyan
