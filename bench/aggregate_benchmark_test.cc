#include "bench/aggregate_benchmark.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Speed is not judged here, where other tests run beside this one.
TEST(AggregateBenchmarkTest, AddsRightAndReports) {
  std::ostringstream text, json;
  EXPECT_EQ(RunAggregateBenchmark(text, false), 0);
  EXPECT_EQ(RunAggregateBenchmark(json, true), 0);
  EXPECT_THAT(text.str(), testing::HasSubstr("ratio"));
  EXPECT_THAT(json.str(), testing::HasSubstr("\"ratio\":"));
}

}  // namespace
}  // namespace banyan
