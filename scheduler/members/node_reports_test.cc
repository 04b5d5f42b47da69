#include "scheduler/members/node_reports.h"

#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

TEST(NodeReportsTest, KeepsTheLastOne) {
  NodeReports reports;
  EXPECT_EQ(reports.Find(NodeId(1)), nullptr);
  NodeReport report;
  report.step = 4;
  EXPECT_TRUE(reports.Accept(NodeId(1), report, 2, 1).ok());
  report.step = 5;
  EXPECT_TRUE(reports.Accept(NodeId(1), report, 2, 1).ok());
  EXPECT_EQ(reports.Find(NodeId(1))->step, 5u);
}

TEST(NodeReportsTest, WhoContributesNothingIsIdleWhileOthersGoOn) {
  NodeReports reports;
  const auto report = [&](uint32_t node, uint64_t contributions, int seconds) {
    NodeReport said;
    said.contributions = contributions;
    EXPECT_TRUE(reports.Accept(NodeId(node), said, 2, 1, Timestamp() + absl::Seconds(seconds)).ok());
  };
  report(1, 5, 10);
  report(2, 5, 10);
  report(1, 6, 20);
  report(2, 6, 20);
  EXPECT_EQ(reports.IdleFor(NodeId(2)), absl::ZeroDuration());
  report(1, 9, 50);
  report(2, 6, 51);
  EXPECT_EQ(reports.IdleFor(NodeId(1)), absl::ZeroDuration());
  EXPECT_EQ(reports.IdleFor(NodeId(2)), absl::Seconds(30));
  // When all stand still nobody is idle for longer.
  report(1, 9, 90);
  report(2, 6, 90);
  EXPECT_EQ(reports.IdleFor(NodeId(2)), absl::Seconds(30));
  report(2, 7, 91);
  EXPECT_EQ(reports.IdleFor(NodeId(2)), absl::ZeroDuration());
  EXPECT_EQ(reports.IdleFor(NodeId(3)), absl::ZeroDuration());
}

TEST(NodeReportsTest, RefusesOutgrownReports) {
  NodeReports reports;
  NodeReport links;
  links.links.resize(3);
  EXPECT_FALSE(reports.Accept(NodeId(1), links, 2, 1).ok());
  NodeReport progress;
  progress.progress.resize(2);
  EXPECT_FALSE(reports.Accept(NodeId(1), progress, 2, 1).ok());
  NodeReport memory;
  memory.memory.resize(kMaxReportMemoryRows + 1);
  EXPECT_FALSE(reports.Accept(NodeId(1), memory, 2, 1).ok());
  NodeReport names;
  names.memory.push_back({"a\nb", 1});
  EXPECT_FALSE(reports.Accept(NodeId(1), names, 2, 1).ok());
  names.memory[0].what = std::string(kMaxReportNameBytes + 1, 'x');
  EXPECT_FALSE(reports.Accept(NodeId(1), names, 2, 1).ok());
  EXPECT_EQ(reports.Find(NodeId(1)), nullptr);
}

// Whoever asks for the status must be able to read it, whatever one member says.
TEST(NodeReportsTest, RefusesCountsThatNobodyCanHave) {
  constexpr uint64_t kAbsurd = kMaxReportCount + 1;
  NodeReport step, memory, link, progress, not_finite;
  step.step = kAbsurd;
  memory.memory.push_back({"results", kAbsurd});
  link.links.resize(1);
  link.links[0].resent_bytes = kAbsurd;
  progress.progress.resize(1);
  progress.progress[0].round = Round(kAbsurd);
  not_finite.not_finite.push_back({KeyId(1), kAbsurd, Round(1)});
  NodeReports reports;
  for (const NodeReport& report : {step, memory, link, progress, not_finite}) {
    EXPECT_EQ(reports.Accept(NodeId(1), report, 2, 1).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(reports.Find(NodeId(1)), nullptr);
  step.step = kMaxReportCount;
  EXPECT_TRUE(reports.Accept(NodeId(1), step, 2, 1).ok());
}

}  // namespace
}  // namespace banyan
