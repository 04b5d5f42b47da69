#include "tools/page/job_history.h"

#include <string>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

// Two nodes after this round.
JobStatus MakeStatus(uint64_t round, uint64_t policy) {
  JobStatus status;
  status.policy = policy;
  JobStatus::Plan& plan = status.plan.emplace();
  plan.planner = "packed";
  plan.rate_mbps = 90;
  plan.bound_mbps = 100;
  plan.policy_reason = "the start";
  plan.predicted_round_seconds = 0.5;
  status.trees.resize(3);
  status.nodes.resize(2);
  for (JobStatus::Node& node : status.nodes) node.report.emplace().step = 1;
  status.nodes[0].report->round = round;
  status.nodes[0].report->sync_seconds = 0.25;
  status.nodes[0].report->loss = 2;
  status.nodes[1].report->round = round - 1;
  status.nodes[1].report->sync_seconds = 0.75;
  status.nodes[1].report->loss = 1;
  status.links.resize(2);
  status.links[0].traffic.sent_bytes = 100;
  status.links[1].traffic.sent_bytes = 11;
  return status;
}

TEST(JobHistoryTest, TellsAllToWhoKnowsNothing) {
  JobHistory history;
  history.Add(MakeStatus(7, 1), At(20), 1);
  EXPECT_EQ(history.JsonSince(0),
            R"({"all":true,"rounds":[{"at_s":20,"round":7,"seconds":0.75,"predicted_seconds":0.5,"loss":1.5,)"
            R"("bytes":111,"policy":1}],"policies":[{"at_s":20,"policy":1,"planner":"packed","rate_mbps":90,)"
            R"("bound_mbps":100,"predicted_seconds":0.5,"trees":3,"reason":"the start"}]})");
}

TEST(JobHistoryTest, TellsOnlyWhatIsNew) {
  JobHistory history;
  history.Add(MakeStatus(7, 1), At(20), 1);
  EXPECT_EQ(history.JsonSince(1), "");
  // The same round again.
  history.Add(MakeStatus(7, 1), At(21), 2);
  EXPECT_EQ(history.JsonSince(1), "");
  history.Add(MakeStatus(9, 1), At(22), 3);
  EXPECT_THAT(history.JsonSince(1), HasSubstr(R"({"all":false,"rounds":[{"at_s":22,"round":9,)"));
  EXPECT_THAT(history.JsonSince(1), HasSubstr(R"("policies":[])"));
  EXPECT_EQ(history.JsonSince(3), "");
  history.Add(MakeStatus(9, 2), At(23), 4);
  EXPECT_THAT(history.JsonSince(3), HasSubstr(R"("rounds":[],"policies":[{"at_s":23,"policy":2,)"));
}

TEST(JobHistoryTest, ARoundIsBesideThePredictionOfItsOwnPolicy) {
  JobHistory history;
  history.Add(MakeStatus(7, 1), At(20), 1);
  JobStatus status = MakeStatus(7, 2);
  status.plan->predicted_round_seconds = 0.125;
  status.open_round.emplace();
  history.Add(status, At(21), 2);
  status.nodes[0].report->round = 8;
  history.Add(status, At(22), 3);
  EXPECT_THAT(history.JsonSince(2), HasSubstr(R"("round":8,"seconds":0.75,"predicted_seconds":0.5,)"))
      << "it was open when the policy changed";
  status.nodes[0].report->round = 9;
  history.Add(status, At(23), 4);
  EXPECT_THAT(history.JsonSince(3), HasSubstr(R"("round":9,"seconds":0.75,"predicted_seconds":0.125,)"));
}

TEST(JobHistoryTest, BeforeTheFirstRoundAndPlanThereIsNothing) {
  JobHistory history;
  JobStatus status;
  status.nodes.resize(1);
  history.Add(status, At(1), 1);
  EXPECT_EQ(history.JsonSince(0), R"({"all":true,"rounds":[],"policies":[]})");
  status.nodes[0].report.emplace().round = 3;
  history.Add(status, At(2), 2);
  EXPECT_EQ(history.JsonSince(1), "");
  status.nodes[0].report->sync_seconds = 1;
  history.Add(status, At(3), 3);
  EXPECT_THAT(history.JsonSince(1), HasSubstr(R"("round":3,"seconds":1,"predicted_seconds":null,"loss":null,)"));
}

TEST(JobHistoryTest, AnotherJobOfTheSameNameBeginsAnew) {
  JobHistory history;
  history.Add(MakeStatus(100, 5), At(1), 1);
  history.Add(MakeStatus(2, 1), At(2), 2);
  const std::string news = history.JsonSince(1);
  EXPECT_THAT(news, HasSubstr(R"({"all":true,"rounds":[{"at_s":2,"round":2,)"));
  EXPECT_THAT(news, Not(HasSubstr(R"("round":100)")));
}

TEST(JobHistoryTest, ANodeThatWasAheadMayFallOut) {
  JobHistory history;
  history.Add(MakeStatus(100, 5), At(1), 1);
  history.Add(MakeStatus(98, 5), At(2), 2);
  EXPECT_EQ(history.JsonSince(1), "");
  history.Add(MakeStatus(101, 5), At(3), 3);
  EXPECT_THAT(history.JsonSince(0), HasSubstr(R"("round":100,)"));
}

TEST(JobHistoryTest, ADayOfRoundsIsBounded) {
  JobHistory history;
  constexpr int kChanges = 20000;
  for (int i = 1; i <= kChanges; ++i) history.Add(MakeStatus(i, i), At(i), static_cast<uint64_t>(i));
  const std::string all = history.JsonSince(0);
  EXPECT_LT(all.size(), (JobHistory::kMostRounds + JobHistory::kMostPolicies) * 200);
  EXPECT_THAT(all, HasSubstr(R"("round":20000,)"));
  EXPECT_THAT(all, HasSubstr(R"("round":19401,)"));
  EXPECT_THAT(all, Not(HasSubstr(R"("round":19400,)")));
  EXPECT_THAT(all, Not(HasSubstr(R"("policy":19950,"planner")")));
}

}  // namespace
}  // namespace banyan
