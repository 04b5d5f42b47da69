#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
#include "tools/chaos/chaos_job.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ProgressTailTest, TakesEachWholeLineOnce) {
  const std::unique_ptr<WorkDirectory> directory = *WorkDirectory::Make("banyan-test");
  ProgressTail tail(directory->File("progress"));
  EXPECT_THAT(tail.Take(), IsEmpty());
  std::ofstream file(directory->File("progress"));
  const std::string line = FormatProgress(RoundProgress{.rank = 3, .round = 7});
  file << line << "\nwhat?\n" << line.substr(0, 10) << std::flush;
  ASSERT_THAT(tail.Take(), SizeIs(1));
  EXPECT_THAT(tail.Take(), IsEmpty());
  file << line.substr(10) << std::flush;
  EXPECT_THAT(tail.Take(), IsEmpty());
  file << "\n" << FormatProgress(TrainingResult{.rank = 1, .hash = "aa"}) << "\n" << std::flush;
  const std::vector<TrainingProgress> rest = tail.Take();
  ASSERT_THAT(rest, SizeIs(2));
  EXPECT_EQ(std::get<RoundProgress>(rest[0]).round, 7);
  EXPECT_EQ(std::get<TrainingResult>(rest[1]).hash, "aa");
}

TEST(ProgressTailTest, BeginsWithTheLastLinesOfALongFile) {
  const std::unique_ptr<WorkDirectory> directory = *WorkDirectory::Make("banyan-test");
  constexpr int64_t kRounds = 10000;
  std::ofstream file(directory->File("progress"));
  for (int64_t round = 1; round <= kRounds; ++round) file << FormatProgress(RoundProgress{.round = round}) << "\n";
  file.close();
  const std::vector<TrainingProgress> taken = ProgressTail(directory->File("progress")).Take();
  EXPECT_GT(taken.size(), 100u);
  EXPECT_LT(taken.size(), 2000u);
  EXPECT_EQ(std::get<RoundProgress>(taken.back()).round, kRounds);
}

}  // namespace
}  // namespace banyan
