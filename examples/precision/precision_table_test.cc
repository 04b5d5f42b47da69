#include "examples/precision/precision_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace banyan {
namespace {

using ::testing::HasSubstr;

GuidedResult Result(double accuracy) {
  GuidedResult result;
  result.quality.accuracy = accuracy;
  result.candidates.low_bit = 30;
  result.candidates.fallback = 60;
  result.candidates.plain = 10;
  result.all.modelled_bits = 70;
  result.all.full_bits = 100;
  result.all.sent_bytes = 65;
  result.full_bytes = 100;
  result.triggers = 2;
  return result;
}

TEST(PrecisionTableTest, ShowsMeansAndTheLowest) {
  const std::string text = PrecisionText({{"calibrated", {Result(0.8), Result(0.9)}}});
  EXPECT_THAT(text,
              HasSubstr("| calibrated |      85.00 |    80.00 | -    |     30.00 | L60/F120/P20 | 0.700 | 0.650 |"));
}

TEST(PrecisionTableTest, AModelOfTextHasNats) {
  GuidedResult first = Result(0.5), second = Result(0.5);
  first.quality.nats = 1.5;
  second.quality.nats = 1.6;
  EXPECT_THAT(PrecisionText({{"fp32", {first, second}}}), HasSubstr("|      50.00 |    50.00 | 1.550 |     30.00 |"));
  EXPECT_THAT(PrecisionJson({{"fp32", {first}}}), HasSubstr("\"nats\":1.5,"));
}

TEST(PrecisionTableTest, ShowsWhetherDamageWasNoticed) {
  GuidedResult noticed = Result(0.8);
  noticed.damaged_round = 600;
  noticed.noticed_round = 603;
  GuidedResult unnoticed = Result(0.8);
  unnoticed.damaged_round = 600;
  EXPECT_THAT(PrecisionText({{"calibrated", {noticed, unnoticed}}}), HasSubstr("1 of 2 in 4 to 4 rounds"));
  EXPECT_THAT(PrecisionText({{"calibrated", {unnoticed}}}), HasSubstr("0 of 1"));
  EXPECT_THAT(PrecisionJson({{"calibrated", {noticed, unnoticed}}}), HasSubstr("\"rounds_to_notice\":4}"));
  EXPECT_THAT(PrecisionJson({{"calibrated", {unnoticed}}}), HasSubstr("\"rounds_to_notice\":null}"));
}

TEST(PrecisionTableTest, NamesViolations) {
  GuidedResult result = Result(0.8);
  result.all.violations = 3;
  EXPECT_THAT(PrecisionText({{"x", {result}}}), HasSubstr("3 route violations"));
}

}  // namespace
}  // namespace banyan
