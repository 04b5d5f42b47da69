#include "proto/status.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/field_json.h"
#include "proto/field_json_reader.h"
#include "proto/testing/wire_samples.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Other programs rest on names and order.
constexpr char kSample[] =
    R"({"job":"fashion","state":"failed","error":"n2 is \"lost\"","version":"1.2.3","protocol":4,"term":2,"epoch":3,)"
    R"("policy":5,"rejected_messages":6,"waiting_for":["n2"],"insecure":true,"change":"a plan is being made",)"
    R"("transfer":"n1 takes the state","disorder":"n1 and n2 push in other orders",)"
    R"("storage":"the state has not been written for 4s","epochs":{"count":1,"reason":"n2 has gone",)"
    R"("total_seconds":1.5,"longest_seconds":1.25,"last":[{"epoch":3,"reason":"n2 has gone","members":1,)"
    R"("seconds":1.5}]},"open_round":{"key":"w","round":7,"not_pushed":["n2"],"not_held":["n1"],)"
    R"("waits_for":"n2 to push it","since_s":12},"barrier_waits_for":["n2"],"links_out":[{"between":["n1","n2"],)"
    R"("seconds_left":60,"why":"silent"}],"precision":{"profile":"small","binding":"model","state":"decided",)"
    R"("admitted":["encoder"],"veto":"cooldown","vetoes":2,"vetoed_by_order":["head"],"step":7,"violations":1,)"
    R"("sent":{"bytes":1500000,"fp32_bytes":4000000},"sent_low_bit":{"bytes":500000,"fp32_bytes":3000000},)"
    R"("guard":"endpoint","predicted":[{"elements":100000,"element_bytes":2,"low_bit_seconds":0.25,)"
    R"("fp32_seconds":0.5,"low_bit_busy_seconds":0.125,"fp32_busy_seconds":0.375}],"audit":{"bits_per_element":1.5,)"
    R"("candidates":{"low_bit":30,"fallback":10,"plain":20,"mixed":4,"violations":5,"low_bit_share":0.5,)"
    R"("veto_share":0.25,"traffic_ratio":0.75,"sent_bytes":800},"all":{"low_bit":30,"fallback":10,"plain":60,)"
    R"("mixed":4,"violations":5,"low_bit_share":0.3,"veto_share":0.25,"traffic_ratio":0.875,"sent_bytes":900},)"
    R"("keys":[{"key":"w","low_bit":30,"fallback":10,"plain":20,"mixed":4,"violations":5,"low_bit_share":0.5,)"
    R"("veto_share":0.25,"traffic_ratio":0.75,"sent_bytes":800,"slices":[{"first":5,"elements":20,"low_bit":3,)"
    R"("fallback":2,"plain":1}]}]}},"nodes":[{"name":"n1","id":1,"state":"joined","address":"tcp://10.0.0.1:7701",)"
    R"("heard_s":0.25,"version":"1.2.2","insecure":true,"member":true,"incarnation":"18446744073709551615",)"
    R"("joined_in":3,"up_mbps":50,"down_mbps":20,"place":[52.5,-13.4],"workers":1,"round":12,"step":11,"loss":0.5,)"
    R"("sync_seconds":0.0205,NODE_COUNTERS,"rejected_messages":3,"memory":{"queues":500000,"results":1000000},)"
    R"("not_finite":[{"key":"w","values":9,"last_round":12}],"idle_s":12.5}],"links":[{"from":"n1","to":"n2","mbps":38,)"
    R"("delay_ms":15,"loss_percent":0.5,"age_s":3.25,"source":"auxiliary","old":true,LINK_COUNTERS,)"
    R"("one_way_delay_mbps":18,"clock_offset_ms":-3,"clock_uncertainty_ms":1}],"links_left_out":7,)"
    R"("auxiliary_share":0.25,"inferred":[{"node":"n1","what":"sends","mbps":50}],"ways":[{"from":"n1","to":"n2",)"
    R"("mbps":40,"links":[["n1","n3"]]}],"planner":"fapt","rate_mbps":58.8,"auxiliary_rate_mbps":66.3,)"
    R"("bound_mbps":110,"bound_ratio":0.6,"predicted_round_seconds":2.5,"policy_reason":"the start",)"
    R"("live_policies":2,"policies_taken_back":3,"slowest_link":{"from":"n1","to":"n2","mbps":38,)"
    R"("busy_share":0.875},"trees":[{"root":"n1","share":0.75,"reduce":{"n2":"n1"},"broadcast":{"n2":"n1"}}],)"
    R"("keys":[{"key":"w","elements":10,"closed_rounds":6}],"trees_left_out":3})";

// Further counters stand behind these.
constexpr char kNodeCounters[] = R"("late_rounds":2,"route_violations":8)";
constexpr char kLinkCounters[] =
    R"("bytes":4000000,"resent_bytes":10,"auxiliary_bytes":1000000,"busy_share":0.875,"renewals":3,"blocked":true,)"
    R"("cut_chunks":4,"cut_bytes":555,"overtakings":6)";

// Returns the members alone.
template <typename Counters>
std::string CountersJson(const Counters& counters) {
  const std::string json = JsonOf(counters);
  return json.substr(1, json.size() - 2);
}

std::string SampleJson() {
  const JobStatus sample = SampleStatus();
  return absl::StrReplaceAll(kSample, {{"NODE_COUNTERS", CountersJson(sample.nodes[0].report->counters)},
                                       {"LINK_COUNTERS", CountersJson(sample.links[0].traffic)}});
}

absl::Status Read(absl::string_view json, JobStatus& status) {
  const nlohmann::json value = nlohmann::json::parse(json);
  return ReadJsonFields(value, status);
}

std::string Refusal(const char* json) {
  JobStatus status;
  return std::string(Read(json, status).message());
}

TEST(StatusJsonTest, HasAllMembersInTheirOrder) {
  const JobStatus sample = SampleStatus();
  EXPECT_EQ(StatusJson(sample), SampleJson());
  EXPECT_THAT(CountersJson(sample.nodes[0].report->counters), StartsWith(kNodeCounters));
  EXPECT_THAT(CountersJson(sample.links[0].traffic), StartsWith(kLinkCounters));
}

TEST(StatusJsonTest, LeavesOutWhatIsNotThere) {
  JobStatus status;
  status.nodes.resize(1);
  EXPECT_EQ(StatusJson(status),
            R"({"job":"","state":"","version":"","protocol":0,"term":0,"epoch":0,"policy":0,"rejected_messages":0,)"
            R"("waiting_for":[],"insecure":false,"change":null,"transfer":null,"disorder":null,"storage":null,)"
            R"("epochs":{"count":0,"reason":"","total_seconds":0,"longest_seconds":0,"last":[]},"open_round":null,)"
            R"("barrier_waits_for":[],"links_out":[],"nodes":[{"name":"","id":0,"state":"","address":"",)"
            R"("heard_s":null,"version":"","insecure":false,"member":false}],"links":[],"links_left_out":0,)"
            R"("auxiliary_share":0,"inferred":[],"ways":[],"trees":[],"keys":[]})");
}

TEST(StatusJsonTest, IsReadAsItWasWritten) {
  JobStatus status;
  EXPECT_EQ(Read(SampleJson(), status), absl::OkStatus());
  EXPECT_TRUE(status == SampleStatus());
  JobStatus counting = SampleStatus();
  counting.nodes[0].report->counters = SampleCounters<NodeCounters>();
  counting.nodes[0].report->counters.grace_seconds = 0.25;  // JSON has ten digits
  counting.links[0].traffic = SampleCounters<LinkCounters>();
  counting.links[0].traffic.busy_share = 0.25;
  EXPECT_EQ(Read(StatusJson(counting), status = {}), absl::OkStatus());
  EXPECT_TRUE(status == counting);
  JobStatus sparse;
  sparse.job = "j";
  sparse.nodes.resize(1);
  sparse.nodes[0].name = "n1";
  sparse.nodes[0].report.emplace();
  EXPECT_EQ(Read(StatusJson(sparse), status = {}), absl::OkStatus());
  EXPECT_TRUE(status == sparse);
}

TEST(StatusJsonTest, PassesOverWhatItDoesNotKnow) {
  JobStatus status;
  EXPECT_EQ(Read(R"({"job":"j","later":{"a":[1]},"nodes":[{"name":"n1","round":null,"later":2}]})", status),
            absl::OkStatus());
  EXPECT_EQ(status.job, "j");
  ASSERT_EQ(status.nodes.size(), 1u);
  EXPECT_TRUE(status.nodes[0].report.has_value());
  EXPECT_FALSE(status.nodes[0].report->round.has_value());
  EXPECT_FALSE(status.nodes[0].membership.has_value());
}

TEST(StatusJsonTest, SaysWhichMemberIsWrong) {
  EXPECT_EQ(Refusal(R"({"epoch":"x"})"), R"(expected a whole number from 0 on as epoch, got \"x\")");
  EXPECT_EQ(Refusal(R"({"term":-1})"), "expected a whole number from 0 on as term, got -1");
  EXPECT_EQ(Refusal(R"({"nodes":[{"name":"a"},1]})"), "expected an object as nodes[1], got 1");
  EXPECT_EQ(Refusal(R"({"nodes":[{"name":"a","memory":{"m":0.5}}]})"),
            "expected a whole number from 0 on as nodes[0].memory.m, got 0.5");
  EXPECT_EQ(Refusal(R"({"links_out":[{"between":["a"]}]})"),
            R"(expected an array of two as links_out[0].between, got [\"a\"])");
  EXPECT_THAT(Refusal(R"({"nodes":[{"name":""}]})"), HasSubstr("nodes[0].name: a name expected, no character came"));
  EXPECT_THAT(Refusal(R"({"links":[{"from":"a","to":"b","busy_share":2}]})"),
              HasSubstr("links[0].traffic.busy_share: 0 to 1"));
}

}  // namespace
}  // namespace banyan
