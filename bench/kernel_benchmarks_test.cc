#include "bench/kernel_benchmarks.h"

#include <sstream>
#include <string>

#include "compression/codec_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Speed is not judged here, where other tests run beside this one.
TEST(AggregateBenchmarkTest, AddsRightAndReports) {
  std::ostringstream text, json;
  EXPECT_EQ(RunAggregateBenchmark(text, false), 0);
  EXPECT_EQ(RunAggregateBenchmark(json, true), 0);
  EXPECT_THAT(text.str(), testing::HasSubstr("ratio"));
  EXPECT_THAT(json.str(), testing::HasSubstr("\"ratio\":"));
}

TEST(CodecBenchmarkTest, ReportsEveryCodec) {
  std::ostringstream text, json;
  double done = 0;
  const auto progress = [&](double part) { done = part; };
  EXPECT_EQ(RunCodecBenchmark({.json = false, .repetitions = 1}, text, progress), 0);
  EXPECT_EQ(done, 1);
  const CodecRound round{.model_bytes = 46e6, .seconds = 2};
  EXPECT_EQ(RunCodecBenchmark({.json = true, .round = round, .repetitions = 1}, json, progress), 0);
  for (CodecId id : KnownCodecs()) {
    EXPECT_THAT(text.str(), HasSubstr(std::string(CodecName(id))));
    EXPECT_THAT(json.str(), HasSubstr("\"" + std::string(CodecName(id))));
  }
  EXPECT_THAT(json.str(), HasSubstr("\"encode_over_memcpy\":"));
  EXPECT_THAT(json.str(), HasSubstr("\"bytes_per_element\":"));
  EXPECT_THAT(json.str(), HasSubstr("\"round_seconds\":2,\"coding_seconds\":")) << "of floats as they are";
}

TEST(ReducerBenchmarkTest, CountsRightAndReports) {
  std::ostringstream text, json;
  EXPECT_EQ(RunReducerBenchmark({.repetitions = 3}, text), 0);
  EXPECT_EQ(RunReducerBenchmark({.repetitions = 1, .json = true}, json), 0);
  EXPECT_THAT(text.str(), HasSubstr("| G-Ternary |   524288 |"));
  EXPECT_THAT(json.str(), HasSubstr("\"is_right\":true"));
}

}  // namespace
}  // namespace banyan
