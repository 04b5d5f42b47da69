#include <limits>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/demo/demo_progress.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Two workers that have ended: with these hashes, and this accuracy of the first.
DemoProgress Ended(const std::string& first, const std::string& second, std::optional<double> accuracy) {
  DemoProgress progress(/*nodes=*/2, /*workers=*/2, /*rounds=*/0);
  TrainingResult result;
  result.rank = 0;
  result.hash = first;
  result.accuracy = accuracy;
  EXPECT_TRUE(progress.Add(result).ok());
  result.rank = 1;
  result.hash = second;
  result.accuracy.reset();
  EXPECT_TRUE(progress.Add(result).ok());
  return progress;
}

TEST(DemoCheckTest, IdenticalReplicasOfEnoughAccuracyAreFine) {
  EXPECT_TRUE(CheckTraining(Ended("a", "a", 0.87), 0.8).ok());
  EXPECT_TRUE(CheckTraining(Ended("a", "a", 0.8), 0.8).ok());
  EXPECT_TRUE(CheckTraining(Ended("a", "a", 0), 0).ok());
}

TEST(DemoCheckTest, LowAccuracyIsRefusedWithBothNumbers) {
  const absl::Status status = CheckTraining(Ended("a", "a", 0.7912), 0.8);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(),
              HasSubstr("expected a test accuracy of at least 0.800 (--least-accuracy), reached 0.791"));
}

TEST(DemoCheckTest, AccuracyThatIsNoneIsRefused) {
  EXPECT_EQ(CheckTraining(Ended("a", "a", std::nullopt), 0).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckTraining(Ended("a", "a", std::numeric_limits<double>::quiet_NaN()), 0).code(),
            absl::StatusCode::kOutOfRange);
}

TEST(DemoCheckTest, DifferentReplicasAreRefusedWhateverTheAccuracy) {
  EXPECT_EQ(CheckTraining(Ended("a", "b", 0.87), 0).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace banyan
