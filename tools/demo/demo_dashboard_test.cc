#include "tools/demo/demo_dashboard.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
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
  return progress;
}

JobStatus::Link Link(const std::string& from, const std::string& to, uint64_t sent_bytes) {
  JobStatus::Link link;
  link.from = from;
  link.to = to;
  link.mbps = 48.7;
  link.traffic.sent_bytes = sent_bytes;
  return link;
}

JobStatus TwoLinks() {
  JobStatus status;
  status.policy = 3;
  JobStatus::Plan& plan = status.plan.emplace();
  plan.policy_reason = "links were measured anew";
  plan.planner = "packed";
  plan.auxiliary_rate_mbps = 96.1;
  plan.bound_mbps = 103.2;
  plan.bound_ratio = 0.931;
  status.trees = {{"n1", 0.5, {}, {}}, {"n1", 0.2, {}, {}}, {"n2", 0.3, {}, {}}};
  status.links = {Link("n1", "n2", 1500000), Link("n2", "n1", 3000000)};
  status.links[0].age_s = 1;
  return status;
}

DemoNetworkState Loopback() {
  DemoNetworkState network;
  network.Add(TwoLinks(), absl::Seconds(1));
  return network;
}

DemoNetworkState Wan() {
  DemoNetworkState network = Loopback();
  WanStatus wan;
  wan.links.resize(2);
  wan.links[0].from = wan.links[1].to = "n1";
  wan.links[0].to = wan.links[1].from = "n2";
  wan.links[0].mbps = 20;
  wan.links[1].mbps = 50;
  network.Add(wan, absl::Seconds(1));
  wan.links[0].mbps = 154.6;
  network.Add(wan, absl::Seconds(5));
  return network;
}

std::string Draw(const DemoProgress& progress, const DemoNetworkState& network, int width = 100) {
  return absl::StrJoin(DrawDashboard(progress, network, "waiting for n4, n7", absl::Seconds(9), width, 5), "\n");
}

DemoProgress Finished(const std::string& second_hash) {
  DemoProgress progress = OneRoundOfTwo();
  EXPECT_TRUE(progress.Add(TrainingResult{.rank = 0, .rounds = 1, .hash = "aa", .accuracy = 0.8861}).ok());
  EXPECT_TRUE(progress.Add(TrainingResult{.rank = 1, .rounds = 1, .hash = second_hash}).ok());
  return progress;
}

TEST(DemoDashboardTest, ShowsWhatItWaitsForBeforeTheFirstRound) {
  const std::string text = Draw(DemoProgress(9, 9, 400), DemoNetworkState());
  EXPECT_THAT(text, HasSubstr("waiting for n4, n7"));
  EXPECT_THAT(text, HasSubstr("round 0 of 400, 9 s"));
}

TEST(DemoDashboardTest, ShowsTheLastRoundThePolicyAndTheLinks) {
  const std::string text = Draw(OneRoundOfTwo(), Loopback());
  EXPECT_THAT(text, HasSubstr("[#######......................."));
  EXPECT_THAT(text, HasSubstr("loss 0.5000   synchronisation 20.5 ms, median 20.5 ms"));
  EXPECT_THAT(text, HasSubstr("policy 3, 8 s old: packed, 3 trees from 2 roots; 96.1 of at most 103.2 Mbit/s (0.93)"));
  EXPECT_THAT(text, HasSubstr("\nbecause of links were measured anew\n"));
  EXPECT_THAT(text, HasSubstr("MB sent, 4.5 in all"));
  EXPECT_THAT(text, HasSubstr("  n1>n2    49      2"));
  EXPECT_THAT(text, HasSubstr("  n2>n1   49?      3"));
  EXPECT_THAT(text, Not(HasSubstr("WAN")));
}

TEST(DemoDashboardTest, ShowsWhatTheEmulatedLinksReallyAre) {
  const std::string text = Draw(OneRoundOfTwo(), Wan());
  EXPECT_THAT(text, HasSubstr("the WAN's rates have changed 1 time, 4 s ago; 1 of 2 are known to a fifth"));
  EXPECT_THAT(text, HasSubstr("  link   WAN  seen     MB"));
  EXPECT_THAT(text, HasSubstr("  n1>n2  155    49      2"));
  EXPECT_THAT(text, HasSubstr("  n2>n1   50   49?      3"));
}

TEST(DemoDashboardTest, ShowsWhoHasDiedAndComeBack) {
  EXPECT_THAT(Draw(OneRoundOfTwo(), Loopback()), Not(HasSubstr("died")));
  DemoProgress progress = OneRoundOfTwo();
  progress.SetProcesses({{"node n1", 2, true, "signal 9 (Killed)"}, {"node n2", 1, false, "exit code 1"}});
  EXPECT_THAT(Draw(progress, Loopback()),
              HasSubstr("\ndied and started again: node n1 2 times, node n2 once (down)\n"));
  EXPECT_EQ(ProcessLine(progress.processes()[0], absl::Seconds(18)),
            "node n1 runs again after it has died 2 times, 18 s");
  EXPECT_EQ(ProcessLine(progress.processes()[1], absl::Seconds(19)), "node n2 ended with exit code 1, 19 s");
}

TEST(DemoDashboardTest, ShowsWhoIsMissingFromTheJob) {
  JobStatus status = TwoLinks();
  status.epoch = 4;
  status.nodes.resize(2);
  status.nodes[0].name = "n1";
  status.nodes[0].state = "joined";
  status.nodes[1].name = "n2";
  status.nodes[1].state = "silent";
  DemoNetworkState network;
  network.Add(status, absl::Seconds(1));
  EXPECT_THAT(Draw(OneRoundOfTwo(), network), HasSubstr("\nepoch 4, without n2 (silent)\n"));
  // Before the first round all are still coming.
  EXPECT_THAT(Draw(DemoProgress(2, 2, 4), network), Not(HasSubstr("without")));
}

TEST(DemoDashboardTest, ShowsCutLinks) {
  DemoNetworkState network = Wan();
  WanStatus wan;
  wan.links.resize(1);
  wan.links[0].from = "n1";
  wan.links[0].to = "n2";
  wan.links[0].is_cut = true;
  network.Add(wan, absl::Seconds(6));
  EXPECT_THAT(Draw(OneRoundOfTwo(), network), HasSubstr("  n1>n2  cut    49      2"));
}

TEST(DemoDashboardTest, BreaksThePolicyAtSpaces) {
  EXPECT_THAT(Draw(OneRoundOfTwo(), Loopback(), 60),
              HasSubstr("policy 3, 8 s old: packed, 3 trees from 2 roots; 96.1 of at\n  most 103.2 Mbit/s (0.93)\n"));
}

TEST(DemoDashboardTest, StaysWithinTheTerminal) {
  JobStatus status = TwoLinks();
  status.links.clear();
  for (uint64_t i = 0; i < 100; ++i) status.links.push_back(Link(absl::StrCat("n", i), "n100", i % 50 * 1000000));
  DemoNetworkState network;
  network.Add(status, absl::Seconds(1));
  const std::vector<std::string> lines = DrawDashboard(OneRoundOfTwo(), network, "", absl::Seconds(2), 40, 3);
  EXPECT_THAT(lines, SizeIs(11));
  EXPECT_THAT(lines, Each(SizeIs(::testing::Le(40u))));
  EXPECT_THAT(Draw(OneRoundOfTwo(), network, 200), HasSubstr("the 15 busiest of 100"));
  // The first of those that are equally busy, in the order of the overlay.
  const std::string text = Draw(OneRoundOfTwo(), network, 200);
  EXPECT_THAT(text, HasSubstr("n42>n100"));
  EXPECT_THAT(text, Not(HasSubstr("n92>n100")));
  EXPECT_LT(text.find("n49>n100"), text.find("n99>n100"));
}

TEST(DemoDashboardTest, ProgressIsOneLine) {
  EXPECT_EQ(ProgressLine(OneRoundOfTwo(), Loopback(), absl::Seconds(7)),
            "round 1/4  loss 0.500  sync 20.5 ms (median 20.5)  wire 4.5 MB  7 s");
  EXPECT_THAT(ProgressLine(OneRoundOfTwo(), Wan(), absl::Seconds(7)), HasSubstr("7 s  rates known 1/2"));
}

TEST(DemoDashboardTest, APolicyIsOneLine) {
  EXPECT_EQ(PolicyLine(Wan()),
            "policy 3: packed, 3 trees from 2 roots; 96.1 of at most 103.2 Mbit/s (0.93); because of links were "
            "measured anew");
}

TEST(DemoDashboardTest, TheSummaryIsOneLine) {
  EXPECT_EQ(SummaryLine(Finished("aa"), Loopback()),
            "demo: nodes=2 rounds=1 accuracy=0.8861 replicas=identical sync_ms_p50=20.5 wire_mb=4.5 network=loopback "
            "policies=3 replicas_finished=2 failures=0");
  EXPECT_THAT(SummaryLine(Finished("bb"), Wan()), AllOf(HasSubstr("replicas=different"), HasSubstr("network=wan")));
}

TEST(DemoDashboardTest, TheSummaryAsJson) {
  EXPECT_EQ(
      SummaryJson(Finished("aa"), Wan()),
      R"({"nodes":2,"rounds":1,"accuracy":0.8861,"replicas_identical":true,"sync_seconds_p50":0.020500,)"
      R"("wire_bytes":4500000,"network":"wan","policies":3,"rate_changes":1,"replicas_finished":2,"failures":0,"links":[)"
      R"({"from":"n1","to":"n2","bytes":1500000,"mbps":48.700,"wan_mbps":154.600},)"
      R"({"from":"n2","to":"n1","bytes":3000000,"mbps":48.700,"wan_mbps":50.000}]})");
}

}  // namespace
}  // namespace banyan
