#include "tools/metrics/scheduler_metrics.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

const MetricFamily& Find(const std::vector<MetricFamily>& families, const std::string& name) {
  for (const MetricFamily& family : families) {
    if (family.name == "banyan_scheduler_" + name) return family;
  }
  ADD_FAILURE() << name;
  return families.front();
}

JobStatus::Link MakeLink(const char* from, const char* to, double mbps, double delay_ms, const char* source) {
  JobStatus::Link link;
  link.from = from;
  link.to = to;
  link.mbps = mbps;
  link.delay_ms = delay_ms;
  link.source = source;
  return link;
}

TEST(SchedulerMetricsTest, SaysWhatTheStatusSays) {
  JobStatus status;
  status.term = 2;
  status.epoch = 3;
  status.policy = 5;
  status.rejected_messages = 7;
  status.plan.emplace().planner = "fapt";
  status.plan->rate_mbps = 58.8;
  status.epochs.count = 4;
  status.epochs.total_seconds = 6;
  status.nodes.resize(3);
  status.nodes[0].state = status.nodes[1].state = "joined";
  status.nodes[2].state = "expected";
  status.links = {MakeLink("a", "b", 38, 15, "primary"), MakeLink("b", "a", 40, 16, "believed")};
  status.links[0].age_s = 0.5;
  status.trees = {{"a", 0.25, {}, {}}, {"b", 0.5, {}, {}}, {"a", 0.25, {}, {}}};
  status.keys = {{"fc", 10, 12}};
  const std::vector<MetricFamily> families = MakeSchedulerMetrics(status);
  using Sample = MetricFamily::Sample;
  EXPECT_THAT(
      Find(families, "members").samples,
      ElementsAre(Sample{{{"state", "absent"}}, 0}, Sample{{{"state", "expected"}}, 1},
                  Sample{{{"state", "joined"}}, 2}, Sample{{{"state", "left"}}, 0}, Sample{{{"state", "out"}}, 0},
                  Sample{{{"state", "removed"}}, 0}, Sample{{{"state", "silent"}}, 0}));
  EXPECT_THAT(Find(families, "term").samples, ElementsAre(Sample{{}, 2}));
  EXPECT_THAT(Find(families, "epoch").samples, ElementsAre(Sample{{}, 3}));
  EXPECT_THAT(Find(families, "recoveries_total").samples, ElementsAre(Sample{{}, 4}));
  EXPECT_THAT(Find(families, "recovery_seconds_total").samples, ElementsAre(Sample{{}, 6}));
  EXPECT_THAT(Find(families, "changing").samples, ElementsAre(Sample{{}, 0}));
  EXPECT_THAT(Find(families, "policy_version").samples, ElementsAre(Sample{{}, 5}));
  EXPECT_THAT(Find(families, "policy_changes_total").samples, ElementsAre(Sample{{}, 4}));
  EXPECT_THAT(Find(families, "rejected_messages_total").samples, ElementsAre(Sample{{}, 7}));
  EXPECT_THAT(Find(families, "closed_rounds_total").samples, ElementsAre(Sample{{{"key", "fc"}}, 12}));
  const MetricFamily::Labels a_to_b = {{"from", "a"}, {"to", "b"}, {"source", "primary"}};
  const MetricFamily::Labels b_to_a = {{"from", "b"}, {"to", "a"}, {"source", "believed"}};
  EXPECT_THAT(Find(families, "link_rate_bits_per_second").samples,
              ElementsAre(Sample{a_to_b, 38e6}, Sample{b_to_a, 40e6}));
  EXPECT_THAT(Find(families, "link_delay_seconds").samples, ElementsAre(Sample{a_to_b, 0.015}, Sample{b_to_a, 0.016}));
  EXPECT_THAT(Find(families, "link_age_seconds").samples, ElementsAre(Sample{a_to_b, 0.5}));
  EXPECT_THAT(Find(families, "plan_rate_bits_per_second").samples, ElementsAre(Sample{{}, 58.8e6}));
  EXPECT_THAT(Find(families, "tree_share_ratio").samples,
              ElementsAre(Sample{{{"root", "a"}}, 0.5}, Sample{{{"root", "b"}}, 0.5}));
}

TEST(SchedulerMetricsTest, AJobThatWaitsHasNoPlan) {
  for (const MetricFamily& family : MakeSchedulerMetrics(JobStatus())) {
    EXPECT_EQ(family.name.find("_plan_"), std::string::npos);
    EXPECT_EQ(family.kind == MetricFamily::Kind::kCounter, family.name.ends_with("_total")) << family.name;
  }
}

}  // namespace
}  // namespace banyan
