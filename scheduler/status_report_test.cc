#include "scheduler/status_report.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/field_json.h"
#include "proto/peer_messages.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr NodeId kA(1), kB(2);

class StatusReportTest : public ::testing::Test {
 protected:
  StatusReportTest() : membership_(Options()), keys_(65536), rounds_(&keys_, {"a", "b"}, absl::ZeroDuration(), 1) {
    std::vector<NetworkNode> nodes(2);
    nodes[0].id = kA;
    nodes[0].name = "a";
    nodes[1].id = kB;
    nodes[1].name = "b";
    std::vector<NetworkLink> links(2);
    links[0].from = kA;
    links[0].to = kB;
    links[0].throughput_bps = 38e6;
    links[0].delay = absl::Milliseconds(15);
    links[1] = links[0];
    std::swap(links[1].from, links[1].to);
    links[1].throughput_bps = 76e6;
    links[1] = links[0];
    std::swap(links[1].from, links[1].to);
    links[1].throughput_bps = 76e6;
    links_ = LinkTable(*NetworkView::Create(nodes, links));
  }

  static Membership::Options Options() {
    Membership::Options options;
    options.names = {"a", "b"};
    options.start_with = 2;
    options.lost_after = absl::Seconds(5);
    return options;
  }

  void JoinA() {
    Join join;
    join.name = "a";
    join.address = "tcp://a:1";
    join.version = "7.8.9";
    membership_.Join(Timestamp(), ConnectionId(1), join);
  }

  std::string Status() {
    return StatusJson(MakeStatus({"job",
                                  "running",
                                  "",
                                  Term(2),
                                  Epoch(3),
                                  5,
                                  Timestamp() + absl::Seconds(4),
                                  absl::Seconds(2.5),
                                  membership_,
                                  reports_,
                                  links_,
                                  keys_,
                                  rounds_,
                                  policies_,
                                  3,
                                  reason_,
                                  waits_for_,
                                  &history_,
                                  outages_,
                                  barrier_waits_for_,
                                  Timestamp() + absl::Seconds(1),
                                  transfer_,
                                  FindOpenRound(keys_, rounds_, membership_, reports_),
                                  "a to hold its result",
                                  "",
                                  inferred_,
                                  nullptr,
                                  ways_,
                                  keyless_address_}));
  }

  Membership membership_;
  NodeReports reports_;
  LinkTable links_{NetworkView()};
  KeyTable keys_;
  JobRounds rounds_;
  PublishedPolicies policies_;
  std::string reason_;
  std::string waits_for_;
  EpochHistory history_;
  std::vector<LinkOutages::Outage> outages_;
  std::vector<NodeId> barrier_waits_for_;
  std::string transfer_;
  std::vector<SharedGroup> inferred_;
  std::vector<SharedWay> ways_;
  std::string keyless_address_;
};

TEST_F(StatusReportTest, TellsWhatIsKnownBeforeTheStart) {
  JoinA();
  std::string counters = JsonOf(LinkCounters());
  counters = counters.substr(1, counters.size() - 2);
  EXPECT_EQ(
      Status(),
      absl::StrCat(
          R"({"job":"job","state":"running","version":")", kVersion, R"(","protocol":)", kProtocolVersion,
          R"(,"term":2,"epoch":3,"policy":0,"rejected_messages":5,"waiting_for":["b"],"insecure":false,)"
          R"("change":null,"transfer":null,"disorder":null,"storage":null,"epochs":{"count":0,"reason":"","total_seconds":0,"longest_seconds":0,"last":[]},)"
          R"("open_round":null,"barrier_waits_for":[],"links_out":[],)"
          R"("nodes":[{"name":"a","id":1,"state":"joined","address":"tcp://a:1","heard_s":4,"version":"7.8.9","insecure":false,"member":false},)"
          R"({"name":"b","id":2,"state":"absent","address":"","heard_s":null,"version":"","insecure":false,"member":false}],)"
          R"("links":[{"from":"a","to":"b","mbps":38,"delay_ms":15,"loss_percent":0,"age_s":null,"source":"believed","old":false,)",
          counters,
          R"(},)"
          R"({"from":"b","to":"a","mbps":76,"delay_ms":15,"loss_percent":0,"age_s":null,"source":"believed","old":false,)",
          counters, R"(}],"links_left_out":0,"auxiliary_share":0,"inferred":[],"ways":[],"trees":[],"keys":[]})"));
}

TEST_F(StatusReportTest, TellsWhoIsReachedWithoutKeys) {
  JoinA();
  keyless_address_ = "tcp://127.0.0.1:7700";
  EXPECT_THAT(Status(), HasSubstr(R"("waiting_for":["b"],"insecure":false,)"));
  EXPECT_THAT(Status(), HasSubstr(R"("version":"7.8.9","insecure":true,)"));
  EXPECT_THAT(Status(), HasSubstr(R"("version":"","insecure":false,)"));
  keyless_address_ = "tcp://10.0.0.1:7700";
  EXPECT_THAT(Status(), HasSubstr(R"("waiting_for":["b"],"insecure":true,)"));
}

TEST_F(StatusReportTest, TellsCapsAndPlacesThatTheOverlayHas) {
  std::vector<NetworkNode> nodes(2);
  nodes[0] = {kA, "a", 50e6, std::nullopt, EarthPosition{52.5, -13.4}};
  nodes[1] = {kB, "b", std::nullopt, 20e6};
  links_ = LinkTable(*NetworkView::Create(nodes, {}));
  EXPECT_THAT(Status(), HasSubstr(R"("member":false,"up_mbps":50,"place":[52.5,-13.4]},{"name":"b")"));
  EXPECT_THAT(Status(), HasSubstr(R"("member":false,"down_mbps":20}])"));
}

TEST_F(StatusReportTest, TellsProgressAndTrees) {
  JoinA();
  ASSERT_TRUE(keys_.Register({"w", 10}).ok());
  NodeReport report;
  report.workers_attached = 1;
  report.links.emplace_back();
  report.links[0].to = kB;
  report.links[0].sent_bytes = 1000;
  report.links[0].resent_bytes = 10;
  report.links[0].auxiliary_bytes = 250;
  report.links[0].busy_share = 0.875;
  report.links[0].renewals = 4;
  report.links[0].is_blocked = true;
  report.links[0].overtakings = 12;
  report.memory = {{"results", 64}};
  report.not_finite = {{KeyId(9), 3, Round(12)}};
  report.progress = {{KeyId(1), Round(9)}, {KeyId(2), Round(0)}};
  report.step = 9;
  report.late_rounds = 3;
  report.loss = 0.5;
  report.last_sync = {3, 1000, absl::Milliseconds(250)};
  ASSERT_TRUE(reports_.Accept(kA, report, 2, 2).ok());
  Policy policy;
  policy.version = PolicyVersion(6);
  policy.planner = "star";
  policy.rate_bps = 9e6;
  policy.auxiliary_rate_bps = 9.5e6;
  policy.bound_bps = 19e6;
  policy.trees = {Tree{kA, 1, {{kB, kA}}, {{kB, kA}}}};
  policy.members = {kA, kB};
  policies_.Add(std::move(policy), "the start", links_.View(), {},
                {{kA, {"tcp://a:1", Incarnation(1)}}, {kB, {"tcp://b:1", Incarnation(1)}}});
  const std::string json = Status();
  EXPECT_THAT(json, HasSubstr(R"("policy":6)"));
  EXPECT_THAT(json, HasSubstr(R"("workers":1,"round":9,"step":9,"loss":0.5,"sync_seconds":0.25,)"
                              R"("late_rounds":3,"route_violations":0)"));
  EXPECT_THAT(json, HasSubstr(R"("rejected_messages":0,"memory":{"results":64},)"
                              R"("not_finite":[{"key":"other keys","values":3,"last_round":12}])"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("bytes":1000,"resent_bytes":10,"auxiliary_bytes":250,"busy_share":0.875,"renewals":4,"blocked":true,"cut_chunks":0,"cut_bytes":0,"overtakings":12)"));
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("planner":"star","rate_mbps":9,"auxiliary_rate_mbps":9.5,"bound_mbps":19,"bound_ratio":0.5,"predicted_round_seconds":2.5,)"
          R"("policy_reason":"the start",)"
          R"("live_policies":1,"policies_taken_back":3,"slowest_link":{"from":"a","to":"b","mbps":38,"busy_share":0.875},)"
          R"("trees":[{"root":"a","share":1,"reduce":{"b":"a"},"broadcast":{"b":"a"}}])"));
  EXPECT_THAT(json, HasSubstr(R"("keys":[{"key":"w","elements":10,"closed_rounds":0}])"));
  EXPECT_THAT(json, HasSubstr(R"("auxiliary_share":0.25)"));
  EXPECT_THAT(json, Not(HasSubstr("error")));
}

TEST_F(StatusReportTest, TellsHowMembershipChanges) {
  JoinA();
  membership_.Start(Epoch(3));
  reason_ = "b has gone";
  waits_for_ = "a plan is being made";
  history_.Add({Epoch(3), reason_, 1, absl::Seconds(1.5)});
  outages_ = {{kA, kB, Timestamp() + absl::Seconds(64), "a has lost b"}};
  barrier_waits_for_ = {kB};
  transfer_ = "a takes the state";
  const std::string json = Status();
  EXPECT_THAT(json, HasSubstr(R"("change":"a plan is being made","transfer":"a takes the state","disorder":null,)"));
  EXPECT_THAT(json, HasSubstr(R"("epochs":{"count":1,"reason":"b has gone","total_seconds":1.5,"longest_seconds":1.5,)"
                              R"("last":[{"epoch":3,"reason":"b has gone","members":1,"seconds":1.5}]},)"));
  EXPECT_THAT(json, HasSubstr(R"("barrier_waits_for":["b"],)"));
  EXPECT_THAT(json, HasSubstr(R"("links_out":[{"between":["a","b"],"seconds_left":60,"why":"a has lost b"}])"));
  EXPECT_THAT(json, HasSubstr(R"("member":true,"incarnation":"0","joined_in":3)"));
}

TEST_F(StatusReportTest, TellsForWhomTheOpenRoundWaits) {
  JoinA();
  membership_.Start(Epoch(1));
  ASSERT_TRUE(keys_.Register({"w", 10}).ok());
  NodeReport report;
  report.progress = {{KeyId(1), Round(0), Round(1)}};
  ASSERT_TRUE(reports_.Accept(kA, report, 2, 1).ok());
  EXPECT_THAT(Status(), HasSubstr(R"("open_round":{"key":"w","round":0,"not_pushed":[],"not_held":["a"],)"
                                  R"("waits_for":"a to hold its result","since_s":3},)"));
}

TEST_F(StatusReportTest, TellsWhatWasMeasured) {
  NodeReport::Link link;
  link.to = kB;
  link.measurement.emplace();
  link.measurement->source = LinkMeasurement::Source::kAuxiliary;
  link.measurement->rate_bps = 20e6;
  link.measurement->is_backlogged = true;
  link.measurement->one_way_delay_rate_bps = 18e6;
  link.measurement->clock_offset = absl::Milliseconds(-3);
  link.measurement->clock_uncertainty = absl::Milliseconds(1);
  ASSERT_TRUE(links_.Accept(Timestamp() + absl::Seconds(1), kA, {link}).ok());
  EXPECT_THAT(Status(),
              HasSubstr(R"("mbps":20,"delay_ms":15,"loss_percent":0,"age_s":3,"source":"auxiliary","old":false,)"));
  EXPECT_THAT(Status(), HasSubstr(R"("one_way_delay_mbps":18,"clock_offset_ms":-3,"clock_uncertainty_ms":1)"));
}

TEST_F(StatusReportTest, TellsWhatIsInferred) {
  ways_ = {{.link = 0, .over = {1}, .surely_over = {}, .rate_bps = 25e6}};
  EXPECT_THAT(Status(), HasSubstr(R"("ways":[{"from":"a","to":"b","mbps":25,"links":[["b","a"]]}])"));
  inferred_ = {{SharedGroup::Kind::kSent, kA, {0}, 30e6}, {SharedGroup::Kind::kReceived, kB, {0}, 20e6}};
  EXPECT_THAT(Status(), HasSubstr(R"("inferred":[{"node":"a","what":"sends","mbps":30},)"
                                  R"({"node":"b","what":"receives","mbps":20}])"));
}

TEST_F(StatusReportTest, OfManyTreesThoseWithTheLargestSharesAreListed) {
  constexpr size_t kTrees = 3000;
  constexpr size_t kListed = kMostEdgesListed / 4;
  Policy policy;
  policy.version = PolicyVersion(6);
  policy.planner = "packed";
  policy.members = {kA, kB};
  for (size_t i = 0; i < kTrees; ++i) policy.trees.push_back(Tree{kA, 1e-4 * (i % 7), {{kB, kA}}, {{kB, kA}}});
  policies_.Add(std::move(policy), "the start", links_.View(), {},
                {{kA, {"tcp://a:1", Incarnation(1)}}, {kB, {"tcp://b:1", Incarnation(1)}}});
  const std::string json = Status();
  EXPECT_THAT(json, HasSubstr(absl::StrCat("\"trees_left_out\":", kTrees - kListed)));
  EXPECT_THAT(json, HasSubstr("\"share\":0.0006"));
  EXPECT_THAT(json, Not(HasSubstr("\"share\":0.0001")));
}

TEST_F(StatusReportTest, OfManyLinksThoseAreListedThatDoSomething) {
  constexpr uint32_t kNodes = 120;
  std::vector<NetworkNode> nodes(kNodes);
  std::vector<NetworkLink> links;
  for (uint32_t from = 1; from <= kNodes; ++from) {
    nodes[from - 1].id = NodeId(from);
    nodes[from - 1].name = absl::StrCat("n", from);
    for (uint32_t to = 1; to <= kNodes; ++to) {
      if (to == from) continue;
      NetworkLink& link = links.emplace_back();
      link.from = NodeId(from);
      link.to = NodeId(to);
      link.throughput_bps = 1e6;
    }
  }
  links_ = LinkTable(*NetworkView::Create(nodes, links));
  NodeReport report;
  report.links.resize(3);
  report.links[0].to = NodeId(kNodes);
  report.links[0].busy_share = 0.5;
  report.links[1].to = NodeId(kNodes - 1);
  report.links[1].renewals = 1;
  report.links[2].to = NodeId(kNodes - 2);
  report.links[2].sent_bytes = 7;
  ASSERT_TRUE(reports_.Accept(NodeId(1), report, kNodes, 0).ok());
  const std::string json = Status();
  EXPECT_THAT(json, HasSubstr(absl::StrCat("\"links_left_out\":", links.size() - kMostLinksListed)));
  size_t listed = 0;
  for (size_t at = 0; (at = json.find("\"delay_ms\":", at)) != std::string::npos; ++at) ++listed;
  EXPECT_EQ(listed, kMostLinksListed);
  for (uint32_t to = kNodes - 2; to <= kNodes; ++to) {
    EXPECT_THAT(json, HasSubstr(absl::StrCat("{\"from\":\"n1\",\"to\":\"n", to, "\"")));
  }
}

}  // namespace
}  // namespace banyan
