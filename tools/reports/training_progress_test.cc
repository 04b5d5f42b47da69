#include "tools/reports/training_progress.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TrainingProgressTest, ARoundComesBackAsItWas) {
  const absl::StatusOr<TrainingProgress> progress =
      ParseProgress(FormatProgress(RoundProgress{.rank = 3,
                                                 .round = 12,
                                                 .loss = 0.53125,
                                                 .pushed_at = Timestamp::FromNanoseconds(81203120311),
                                                 .pulled_at = Timestamp::FromNanoseconds(81227412777)}));
  ASSERT_TRUE(progress.ok()) << progress.status();
  const auto& round = std::get<RoundProgress>(*progress);
  EXPECT_EQ(round.rank, 3);
  EXPECT_EQ(round.round, 12);
  EXPECT_DOUBLE_EQ(round.loss, 0.53125);
  EXPECT_EQ(round.pushed_at.nanoseconds(), 81203120311);
  EXPECT_EQ(round.pulled_at.nanoseconds(), 81227412777);
}

TEST(TrainingProgressTest, AResultComesBackAsItWas) {
  const TrainingResult sent = {
      .rank = 0, .rounds = 400, .parameters = 7, .hash = "0123456789012345", .accuracy = 0.875};
  const absl::StatusOr<TrainingProgress> progress = ParseProgress(FormatProgress(sent));
  ASSERT_TRUE(progress.ok()) << progress.status();
  const auto& result = std::get<TrainingResult>(*progress);
  EXPECT_EQ(result.rank, 0);
  EXPECT_EQ(result.rounds, 400);
  EXPECT_EQ(result.parameters, 7);
  EXPECT_EQ(result.hash, "0123456789012345");
  EXPECT_EQ(result.accuracy, 0.875);
}

TEST(TrainingProgressTest, OnlyOneWorkerMeasuresAccuracy) {
  const absl::StatusOr<TrainingProgress> progress = ParseProgress(FormatProgress(TrainingResult{.rank = 1}));
  ASSERT_TRUE(progress.ok()) << progress.status();
  EXPECT_FALSE(std::get<TrainingResult>(*progress).accuracy.has_value());
}

TEST(TrainingProgressTest, ALossThatIsNoNumberIsStillALine) {
  for (double loss : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const absl::StatusOr<TrainingProgress> progress = ParseProgress(FormatProgress(RoundProgress{.loss = loss}));
    ASSERT_TRUE(progress.ok()) << progress.status();
    EXPECT_TRUE(std::isnan(std::get<RoundProgress>(*progress).loss));
  }
}

TEST(TrainingProgressTest, RefusesOtherLines) {
  for (const char* line : {"", "hello", "[1, 2]", "{\"rank\":1}", "{\"rank\":\"x\",\"round\":1}",
                           "{\"rank\":1,\"round\":", "{\"rank\":1,\"rounds\":2}", "\x01\xff"}) {
    EXPECT_EQ(ParseProgress(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
}

}  // namespace
}  // namespace banyan
