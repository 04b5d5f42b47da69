#include "bench/reducer_benchmark.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Speed is not judged here, where other tests run beside this one.
TEST(ReducerBenchmarkTest, CountsRightAndReports) {
  std::ostringstream text, json;
  EXPECT_EQ(RunReducerBenchmark({.repetitions = 3}, text), 0);
  EXPECT_EQ(RunReducerBenchmark({.repetitions = 1, .json = true}, json), 0);
  EXPECT_THAT(text.str(), testing::HasSubstr("G-Ternary     524288"));
  EXPECT_THAT(json.str(), testing::HasSubstr("\"is_right\":true"));
}

}  // namespace
}  // namespace banyan
