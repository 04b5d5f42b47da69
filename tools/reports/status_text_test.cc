#include "tools/reports/status_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRunning[] = R"({"job":"fashion","state":"running","term":1,"epoch":2,"policy":3,"rejected_messages":0,
  "waiting_for":[],"nodes":[{"name":"n1","id":1,"state":"joined","address":"tcp://127.0.0.1:7701","heard_s":0.2,"workers":1,
  "round":12,"step":12,"loss":0.5,"sync_seconds":0.0205,"rejected_messages":1,"memory":{"results":1000000,"queues":500000},
  "not_finite":[{"key":"a","values":1,"last_round":3},{"key":"b","values":9,"last_round":12},{"key":"c","values":2,"last_round":4},{"key":"d","values":2,"last_round":5}]},
  {"name":"n2","id":2,"state":"expected","address":"","heard_s":null}],
  "links":[{"from":"n1","to":"n2","mbps":38,"delay_ms":15,"age_s":null,"source":"believed","bytes":1500000,"resent_bytes":0}],
  "planner":"fapt","rate_mbps":58.8,"auxiliary_rate_mbps":66.3,"bound_mbps":110,"bound_ratio":0.6027,
  "trees":[{"root":"n1","share":0.75,"reduce":{"n2":"n1"},"broadcast":{"n2":"n1"}}],"keys":[]})";

constexpr char kWaiting[] =
    R"({"job":"fashion","state":"waiting","term":1,"epoch":0,"policy":0,"waiting_for":["n4","n7"],
  "nodes":[],"links":[],"trees":[],"keys":[]})";

JobStatus Parse(const char* json) {
  absl::StatusOr<JobStatus> status = ParseStatus(json);
  EXPECT_TRUE(status.ok()) << status.status();
  return *std::move(status);
}

TEST(StatusTextTest, ReadsWhatTheSchedulerSays) {
  const JobStatus status = Parse(kRunning);
  EXPECT_EQ(status.job, "fashion");
  EXPECT_EQ(status.epoch, 2u);
  EXPECT_EQ(status.policy, 3u);
  ASSERT_EQ(status.nodes.size(), 2u);
  ASSERT_TRUE(status.nodes[0].report.has_value());
  EXPECT_EQ(status.nodes[0].report->round, 12u);
  EXPECT_EQ(status.nodes[0].report->memory.size(), 2u);
  EXPECT_FALSE(status.nodes[1].report.has_value());
  EXPECT_FALSE(status.nodes[1].heard_s.has_value());
  ASSERT_EQ(status.links.size(), 1u);
  EXPECT_EQ(status.links[0].traffic.sent_bytes, 1500000u);
  EXPECT_EQ(status.trees[0].share, 0.75);
}

TEST(StatusTextTest, SaysWhoHasPushedWhatIsNotFinite) {
  EXPECT_THAT(FormatStatus(Parse(kRunning)),
              HasSubstr("n1 has pushed NaN or infinity: 9 of key 'b', last in round 12, 2 of key 'c', last in round 4, "
                        "2 of key 'd', last in round 5, and more keys\n"));
}

TEST(StatusTextTest, ShowsWhatBecameOfLowBitRounds) {
  constexpr char kCounts[] = R"("low_bit":30,"fallback":10,"plain":20,"mixed":0,"violations":0,"low_bit_share":0.5,)"
                             R"("veto_share":0.25,"traffic_ratio":0.75})";
  const std::string json = absl::StrCat(
      R"({"job":"a","epoch":1,"policy":1,"nodes":[],"links":[],"trees":[],"keys":[],"precision":{"profile":"p",)",
      R"("binding":"b","state":"decided","admitted":["encoder"],"veto":"none","vetoes":2,"vetoed_by_order":["head"],)",
      R"("step":7,"violations":1,"sent":{"bytes":1500000,"fp32_bytes":4000000},"sent_low_bit":{"bytes":0,)",
      R"("fp32_bytes":0},"audit":{"bits_per_element":1.5,"candidates":{)", kCounts, R"(,"all":{)", kCounts,
      R"(,"keys":[{"key":"w",)", kCounts, "]}}}");
  EXPECT_THAT(
      FormatStatus(Parse(json.c_str())),
      HasSubstr("low-bit rounds (p): decided, 50.0 % of the candidates' low-bit, 25.0 % of admitted ones vetoed, "
                "veto none (2 so far), vetoed by order: head\n"
                "  MGTR 0.750 at 1.5 bits per element; really sent 1.50 MB, 4.00 MB as FP32; 1 violations, 0 "
                "mixed rounds\n  rounds low-bit/fallback/plain: w 30/10/20\n"));
}

TEST(StatusTextTest, ShowsALossThatIsNoNumberInFewCharacters) {
  JobStatus status = Parse(kRunning);
  status.nodes[0].report->loss = 1e308;
  EXPECT_THAT(FormatStatus(status), HasSubstr(" 1e+308 "));
}

TEST(StatusTextTest, SaysWhoIsReachedWithoutKeys) {
  JobStatus status = Parse(R"({"job":"j","state":"running","epoch":1,"policy":1,"insecure":true,"nodes":[
    {"name":"n1","insecure":true},{"name":"n2","insecure":false}]})");
  EXPECT_THAT(FormatStatus(status), HasSubstr("insecure, reached by other machines without keys: the scheduler, n1\n"));
  EXPECT_THAT(FormatStatus(Parse(kRunning)), Not(HasSubstr("insecure")));
}

TEST(StatusTextTest, SaysWhatWaitingForLateWorkersGains) {
  const JobStatus status = Parse(R"({"job":"j","state":"running","epoch":1,"policy":1,"nodes":[{"name":"n1"},
    {"name":"n2","late_rounds":4,"grace_seconds":0.152,"gained_gradients":120,"waited_ms":8300,"rejected_messages":0}
    ]})");
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("n2 waits 0.152 s for late workers: 120 gradients gained in 8.3 s, 4 rounds without\n"));
  EXPECT_THAT(text, Not(HasSubstr("n1 waits")));
}

TEST(StatusTextTest, CountsTheTreesThatAreNotListed) {
  JobStatus status = Parse(kRunning);
  status.trees = {{"n1", 0.5, {}, {}}};
  status.trees_left_out = 218;
  EXPECT_THAT(FormatStatus(status), HasSubstr("trees: n1 50.0 % and 218 more\n"));
}

TEST(StatusTextTest, NamesWhoContributesNothing) {
  JobStatus status = Parse(R"({"job":"j","state":"running","epoch":1,"policy":1,"nodes":[
    {"name":"n1"},{"name":"n2","idle_s":42.4}]})");
  EXPECT_THAT(FormatStatus(status), HasSubstr("contributed nothing while others did: n2 (42 s)\n"));
  EXPECT_THAT(FormatStatus(Parse(kRunning)), Not(HasSubstr("contributed nothing")));
}

TEST(StatusTextTest, ReadsAJobThatWaits) {
  EXPECT_THAT(Parse(kWaiting).waiting_for, ElementsAre("n4", "n7"));
  EXPECT_THAT(FormatStatus(Parse(kWaiting)), HasSubstr("waiting for n4, n7"));
}

TEST(StatusTextTest, ShowsTheSchedulersVersion) {
  const JobStatus status = Parse(
      R"({"job":"a","state":"running","version":"1.2.3","protocol":4,"term":1,"epoch":2,"policy":3,"nodes":[],"links":[],
      "trees":[],"keys":[]})");
  EXPECT_THAT(FormatStatus(status), ::testing::StartsWith("job a: running, epoch 2, policy 3, banyan 1.2.3\n"));
}

TEST(StatusTextTest, ShowsNodesOfOtherVersions) {
  const JobStatus status =
      Parse(R"({"job":"a","state":"running","version":"1.2.3","term":1,"epoch":2,"policy":3,"nodes":[)"
            R"({"name":"n1","version":"1.2.3"},{"name":"n2","version":"1.2.2"},{"name":"n3","version":""}],"links":[],)"
            R"("trees":[],"keys":[]})");
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("\nn2 runs banyan 1.2.2\n"));
  EXPECT_THAT(text, Not(HasSubstr("n1 runs")));
  EXPECT_THAT(text, Not(HasSubstr("n3 runs")));
}

TEST(StatusTextTest, ShowsNodesAndLinks) {
  const std::string text = FormatStatus(Parse(kRunning));
  EXPECT_THAT(text, HasSubstr("job fashion: running, epoch 2, policy 3\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "plan: fapt, 58.8 Mbit/s (66.3 with auxiliary paths) of at most 110.0, ratio 0.603\ntrees: n1 75.0 %\n"));
  EXPECT_THAT(
      text, HasSubstr("n1           joined          1       12    0.5000      20.5        1.5  tcp://127.0.0.1:7701"));
  EXPECT_THAT(text, HasSubstr("n1 > n2                   38.0      15.0       - believed          1.50        0.00"
                              "      0.0         -\n"));
  for (const char* absent : {"error", "because", "made anew", "slowest", "\nauxiliary_paths", "!"})
    EXPECT_THAT(text, Not(HasSubstr(absent)));
}

TEST(StatusTextTest, ShowsWherePacketsOvertakeEachOtherOften) {
  JobStatus status;
  status.links.resize(2);
  status.links[0].from = status.links[1].to = "n1";
  status.links[0].to = status.links[1].from = "n2";
  for (JobStatus::Link& link : status.links) link.traffic.sent_bytes = 10'000'000;
  status.links[0].traffic.overtakings = 11;
  status.links[1].traffic.overtakings = 10;  // one in a megabyte is nothing
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text,
              HasSubstr("\nn1 > n2: packets overtook each other 11 times, as over a bundle of links, which may "));
  EXPECT_THAT(text, Not(HasSubstr("n2 > n1: packets")));
}

constexpr char kMeasured[] = R"({"job":"fashion","state":"running","term":1,"epoch":1,"policy":4,"nodes":[],
  "links":[{"from":"n1","to":"n2","mbps":20,"delay_ms":15,"age_s":3.25,"source":"auxiliary","old":true,"bytes":4000000,
  "resent_bytes":0,"auxiliary_bytes":1000000,"renewals":3,"blocked":true,"overtakings":2,"one_way_delay_mbps":18,"clock_offset_ms":-3,"clock_uncertainty_ms":1}],
  "auxiliary_share":0.25,"planner":"fapt","rate_mbps":9,"bound_mbps":19,"predicted_round_seconds":2.5,"policy_reason":"a change of n1 > n2",
  "live_policies":2,"policies_taken_back":3,"slowest_link":{"from":"n1","to":"n2","mbps":20,"busy_share":0.96},"trees":[],
  "keys":[{"key":"fc","elements":10,"closed_rounds":7}],"of_a_later_release":{"a":[1]}})";

TEST(StatusTextTest, ShowsWhatIsMeasuredAndWhyThePolicyChanged) {
  const JobStatus status = Parse(kMeasured);
  ASSERT_EQ(status.keys.size(), 1u);
  EXPECT_EQ(status.keys[0].closed_rounds, 7u);
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("policy 4: because of a change of n1 > n2; 2 versions still govern rounds; "
                              "3 taken back so far\n"
                              "plan: fapt, 9.0 Mbit/s of at most 19.0, 2.5 s a round\n"
                              "slowest link: n1 > n2, 20.0 Mbit/s, busy for 96 % of the last round\n"
                              "auxiliary paths: 25.0 % of all bytes\n"));
  EXPECT_THAT(text, HasSubstr("n1 > n2                   20.0      15.0     3.2 auxiliary!        4.00        0.00"
                              "     25.0      -3.0\n! measured too long ago"));
  EXPECT_THAT(text, HasSubstr("\nn1 > n2: 3 connections were made anew because nothing passed; it connects, but large "
                              "messages do not pass (path MTU?)\n"));
}

TEST(StatusTextTest, WithoutTwoRoundsNoLinkIsTheSlowest) {
  const JobStatus status = Parse(R"({"job":"j","epoch":1,"policy":1,"planner":"fapt","slowest_link":null})");
  ASSERT_TRUE(status.plan.has_value());
  EXPECT_FALSE(status.plan->slowest_link.has_value());
  EXPECT_FALSE(Parse(kWaiting).plan.has_value());
}

TEST(StatusTextTest, RefusesOtherText) {
  for (const char* text : {"", "hello", "{}", "[]", "{\"job\":\"j\",\"epoch\":\"x\"}", "{\"job\":\"j\",\"nodes\":[1]}",
                           "{\"job\":\"j\",\"nodes\":[{\"name\":\"\"}]}", "{\"job\":\"j\""}) {
    EXPECT_EQ(ParseStatus(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(StatusTextTest, SaysForWhomTheJobWaits) {
  const JobStatus status = Parse(
      R"({"job":"j","state":"running","term":1,"epoch":4,"policy":2,"waiting_for":[],"change":null,)"
      R"("epochs":{"count":2,"reason":"n3 has gone","total_seconds":3,"longest_seconds":2,"last":[]},)"
      R"("open_round":{"key":"w","round":7,"not_pushed":["n2"],"not_held":[],"waits_for":"worker 0 of n2 to push it",)"
      R"("since_s":12},"barrier_waits_for":[],)"
      R"("links_out":[{"between":["n1","n2"],"seconds_left":60,"why":"silent"}],"nodes":[],"links":[],"trees":[],)"
      R"("keys":[]})");
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("2 changes of membership, 1.5 s on average; the last because n3 has gone\n"));
  EXPECT_THAT(text, HasSubstr("round 7 of w waits for worker 0 of n2 to push it; nothing was closed for 12.0 s\n"));
  EXPECT_THAT(text, HasSubstr("link out: n1 - n2: silent\n"));
}

TEST(StatusTextTest, SaysWhyTheMembershipWaits) {
  JobStatus status;
  status.epochs.reason = "n3 joins";
  status.change = "the scheduler hears none of its 3 members";
  EXPECT_THAT(FormatStatus(status), HasSubstr("membership waits (last change because n3 joins): the scheduler hears "
                                              "none of its 3 members\n"));
}

TEST(StatusTextTest, SaysWhatIsInferredOfHosts) {
  const JobStatus status = Parse(
      R"({"job":"j","state":"running","term":1,"epoch":4,"policy":2,"waiting_for":[],"nodes":[],"links":[],"inferred":[)"
      R"({"node":"n1","what":"sends","mbps":50},{"node":"n3","what":"receives","mbps":60}],"ways":[{"from":"n1","to":"n2","mbps":40,"links":[["n1","n3"],["n1","n4"]]}],)"
      R"("trees":[],"keys":[]})");
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("inferred: n1 sends at most 50.0 Mbit/s\n"));
  EXPECT_THAT(text, HasSubstr("inferred: n1 > n2 carries 40.0 Mbit/s with n1 > n3, n1 > n4\n"));
  EXPECT_THAT(text, HasSubstr("inferred: n3 receives at most 60.0 Mbit/s\n"));
}

TEST(StatusTextTest, ShowsTheSlowestOfManyLinks) {
  JobStatus status;
  for (int i = 0; i < 100; ++i) {
    JobStatus::Link link;
    link.from = "a";
    link.to = absl::StrCat("n", i);
    link.mbps = i == 70 ? 1 : 10;
    link.traffic.busy_share = i == 50 ? 0.5 : 0;
    status.links.push_back(link);
  }
  status.links_left_out = 7;
  const std::string text = FormatStatus(status);
  EXPECT_THAT(text, HasSubstr("a > n50 "));
  EXPECT_THAT(text, HasSubstr("a > n70 "));
  EXPECT_THAT(text, Not(HasSubstr("a > n99 ")));
  EXPECT_THAT(text, HasSubstr("these are the slowest; --links shows 60 more\n"));
  EXPECT_THAT(text, HasSubstr("the scheduler leaves out 7 others, which do less\n"));
  EXPECT_THAT(FormatStatus(status, true), AllOf(HasSubstr("a > n99 "), Not(HasSubstr("--links"))));
}

TEST(StatusTextTest, SaysThatTheStorageStands) {
  const JobStatus status =
      Parse(R"({"job":"j","epoch":1,"policy":1,"storage":"the state has not been written for 4s"})");
  EXPECT_THAT(FormatStatus(status), HasSubstr("\nthe state has not been written for 4s\n"));
}

}  // namespace
}  // namespace banyan
