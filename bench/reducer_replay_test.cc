#include "bench/reducer_replay.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(ReducerReplayTest, ReportsEveryStudy) {
  double told = 0;
  ReducerReplayOptions options;
  options.quick = true;
  options.progress = [&told](double part) {
    EXPECT_GE(part, told);
    told = part;
  };
  const absl::StatusOr<ReducerReplayReport> report = ReplayReducers(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(told, 1);
  EXPECT_LE(report->worst_guarded, 1.02);
  std::ostringstream text, json;
  EXPECT_EQ(PrintReducerReplay(*report, /*json=*/false, text), 0);
  EXPECT_EQ(PrintReducerReplay(*report, /*json=*/true, json), 0);
  for (const char* title : {"Table 8:", "Figure 4 A, by", "Figure 4 B:", "Figure 4 C:", "Table 9:"}) {
    EXPECT_THAT(text.str(), HasSubstr(title));
  }
  EXPECT_THAT(text.str(), HasSubstr("0 differ"));
  EXPECT_THAT(json.str(), HasSubstr("\"forced/FP32\":"));
}

TEST(ReducerReplayTest, MakesTheStudyThatIsAskedFor) {
  ReducerReplayOptions options;
  options.quick = true;
  options.studies = {ReducerStudy::kCorner};
  const absl::StatusOr<ReducerReplayReport> report = ReplayReducers(options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->tables.size(), 2);
  EXPECT_EQ(report->tables[0].name, "corner");
  EXPECT_EQ(report->tables[0].rows.size(), 2) << "a format each";
  EXPECT_EQ(report->tables[1].name, "evidence");
}

TEST(ReducerReplayTest, SaysWhenTheGuardHasFailed) {
  std::ostringstream out;
  EXPECT_EQ(PrintReducerReplay({{}, 1.02}, /*json=*/false, out), 0);
  EXPECT_EQ(PrintReducerReplay({{}, 1.03}, /*json=*/false, out), 1);
}

}  // namespace
}  // namespace banyan
