#include "tools/demo_dashboard.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

DemoProgress OneRoundOfTwo() {
  DemoProgress progress(2, 2, 4);
  for (int rank : {0, 1}) {
    EXPECT_TRUE(progress
                    .Add(RoundProgress{.rank = rank,
                                       .round = 1,
                                       .loss = 0.5,
                                       .pushed_at = Timestamp::FromNanoseconds(1000000),
                                       .pulled_at = Timestamp::FromNanoseconds(21500000)})
                    .ok());
  }
  progress.SetLinks({{"n1", "n2", 1500000}, {"n2", "n1", 3000000}});
  return progress;
}

DemoProgress Finished(const std::string& second_hash) {
  DemoProgress progress = OneRoundOfTwo();
  EXPECT_TRUE(progress.Add(TrainingResult{.rank = 0, .rounds = 1, .hash = "aa", .accuracy = 0.8861}).ok());
  EXPECT_TRUE(progress.Add(TrainingResult{.rank = 1, .rounds = 1, .hash = second_hash}).ok());
  return progress;
}

TEST(DemoDashboardTest, ShowsWhatItWaitsForBeforeTheFirstRound) {
  const DemoProgress progress(9, 9, 400);
  const std::string text = absl::StrJoin(DrawDashboard(progress, "waiting for n4, n7", absl::Seconds(2), 100, 5), "\n");
  EXPECT_THAT(text, HasSubstr("waiting for n4, n7"));
  EXPECT_THAT(text, HasSubstr("round 0 of 400, 2 s"));
}

TEST(DemoDashboardTest, ShowsTheLastRoundAndTheLinks) {
  const std::string text = absl::StrJoin(DrawDashboard(OneRoundOfTwo(), "", absl::Seconds(2), 100, 5), "\n");
  EXPECT_THAT(text, HasSubstr("[#######......................."));
  EXPECT_THAT(text, HasSubstr("loss 0.5000   synchronisation 20.5 ms, median 20.5 ms"));
  EXPECT_THAT(text, HasSubstr("4.5 MB in all"));
  EXPECT_LT(text.find("n2>n1"), text.find("n1>n2"));
}

TEST(DemoDashboardTest, StaysWithinTheTerminal) {
  DemoProgress progress = OneRoundOfTwo();
  std::vector<LinkBytes> links;
  for (int i = 0; i < 100; ++i) links.push_back({absl::StrCat("n", i), "n100", static_cast<uint64_t>(i) * 1000000});
  progress.SetLinks(links);
  const std::vector<std::string> lines = DrawDashboard(progress, "", absl::Seconds(2), 40, 3);
  EXPECT_THAT(lines, SizeIs(6));
  EXPECT_THAT(lines, Each(SizeIs(::testing::Le(40u))));
}

TEST(DemoDashboardTest, ProgressIsOneLine) {
  EXPECT_EQ(ProgressLine(OneRoundOfTwo(), absl::Seconds(7)),
            "round 1/4  loss 0.500  sync 20.5 ms (median 20.5)  wire 4.5 MB  7 s");
}

TEST(DemoDashboardTest, TheSummaryIsOneLine) {
  EXPECT_EQ(SummaryLine(Finished("aa")),
            "demo: nodes=2 rounds=1 accuracy=0.8861 replicas=identical sync_ms_p50=20.5 wire_mb=4.5");
  EXPECT_THAT(SummaryLine(Finished("bb")), HasSubstr("replicas=different"));
}

TEST(DemoDashboardTest, TheSummaryAsJson) {
  EXPECT_EQ(
      SummaryJson(Finished("aa")),
      R"({"nodes":2,"rounds":1,"accuracy":0.8861,"replicas_identical":true,"sync_seconds_p50":0.020500,)"
      R"("wire_bytes":4500000,"links":[{"from":"n1","to":"n2","bytes":1500000},{"from":"n2","to":"n1","bytes":3000000}]})");
}

}  // namespace
}  // namespace banyan
