#include "tools/metrics/scheduler_metrics.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/testing/testing_protocol.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ConnectionId kStranger = ConnectionId(kInboundConnection.value() + 1);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Answers every question with how many there were so far, and logs it.
std::unique_ptr<TestingProtocol> MakeCore() {
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [asked = 0](MessageReceived& received, Actions& actions) mutable {
    EXPECT_TRUE(std::holds_alternative<StatusRequest>(received.message));
    TestingProtocol::Add(actions, LogLine{LogLevel::kInfo, "asked"});
    TestingProtocol::Add(actions, Send{received.connection, StatusReply{std::to_string(++asked)}, {}});
  };
  return core;
}

std::function<void(std::string)> Into(LatestValue<std::string>* status) {
  return [status](std::string json) { status->Set(std::move(json)); };
}

TEST(WatchedSchedulerTest, AsksEverySecond) {
  LatestValue<std::string> status;
  WatchedScheduler scheduler(MakeCore(), Into(&status));
  EXPECT_EQ(scheduler.NextDeadline(), kNever);
  // What the core does beside answering goes on.
  const Actions started = scheduler.Step(At(10), Started{});
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<LogLine>(started[0]));
  EXPECT_EQ(*status.Get(), "1");
  EXPECT_EQ(scheduler.NextDeadline(), At(11));
  EXPECT_THAT(scheduler.Step(At(10.5), ConnectionDown{kStranger}), IsEmpty());
  EXPECT_EQ(*status.Get(), "1");
  scheduler.Step(At(11), DeadlineReached{});
  EXPECT_EQ(*status.Get(), "2");
}

TEST(WatchedSchedulerTest, TakesAnAnswerThatComesLater) {
  LatestValue<std::string> status;
  auto core = std::make_unique<TestingProtocol>();
  ConnectionId asker = kStranger;
  core->on_message = [&asker](MessageReceived& received, Actions&) { asker = received.connection; };
  core->on_persisted = [&asker](RecordId, Actions& actions) {
    TestingProtocol::Add(actions, Send{asker, StatusReply{"late"}, {}});
  };
  WatchedScheduler scheduler(std::move(core), Into(&status));
  scheduler.Step(At(0), Started{});
  EXPECT_THAT(scheduler.Step(At(0.1), RecordPersisted{}), IsEmpty());
  EXPECT_EQ(*status.Get(), "late");
}

TEST(WatchedSchedulerTest, AnswersOfOthersPassThrough) {
  LatestValue<std::string> status;
  int sent = 0;
  WatchedScheduler scheduler(MakeCore(), Into(&status), [&sent](const Message& message) {
    EXPECT_TRUE(std::holds_alternative<StatusReply>(message));
    ++sent;
  });
  scheduler.Step(At(0), Started{});
  const Actions actions = scheduler.Step(At(0.5), MessageReceived{kStranger, StatusRequest{}, {}});
  EXPECT_EQ(sent, 1);
  ASSERT_THAT(actions, SizeIs(2));
  EXPECT_EQ(std::get<Send>(actions[1]).connection, kStranger);
  EXPECT_EQ(*status.Get(), "1");
}

TEST(WatchedSchedulerTest, TheCoreSeesOnlyItsOwnDeadlines) {
  LatestValue<std::string> status;
  auto core = MakeCore();
  std::vector<Timestamp> seen;
  core->deadline = At(1.5);
  core->on_deadline = [&seen, core = core.get()](Timestamp now, Actions&) {
    seen.push_back(now);
    core->deadline = At(9);
  };
  WatchedScheduler scheduler(std::move(core), Into(&status));
  scheduler.Step(At(0), Started{});
  scheduler.Step(At(1), DeadlineReached{});
  EXPECT_EQ(scheduler.NextDeadline(), At(1.5));
  scheduler.Step(At(1.5), DeadlineReached{});
  EXPECT_THAT(seen, ElementsAre(At(1.5)));
}

TEST(WatchedSchedulerTest, AStoppedCoreIsNotAsked) {
  LatestValue<std::string> status;
  WatchedScheduler scheduler(MakeCore(), Into(&status));
  scheduler.Step(At(0), Started{});
  const Actions actions = scheduler.Step(At(5), StopRequested{});
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<Stop>(actions[0]));
  EXPECT_EQ(*status.Get(), "1");
}

const MetricFamily& Find(const std::vector<MetricFamily>& families, const std::string& name) {
  for (const MetricFamily& family : families) {
    if (family.name == "banyan_scheduler_" + name) return family;
  }
  ADD_FAILURE() << name;
  return families.front();
}

StatusView::Link MakeLink(const char* from, const char* to, double mbps, double delay_ms, const char* source) {
  StatusView::Link link;
  link.from = from;
  link.to = to;
  link.mbps = mbps;
  link.delay_ms = delay_ms;
  link.source = source;
  return link;
}

TEST(SchedulerMetricsTest, SaysWhatTheStatusSays) {
  StatusView status;
  status.term = 2;
  status.epoch = 3;
  status.policy = 5;
  status.rejected_messages = 7;
  status.planner = "fapt";
  status.rate_mbps = 58.8;
  status.changes = 4;
  status.changes_s = 6;
  status.nodes.resize(3);
  status.nodes[0].state = status.nodes[1].state = "joined";
  status.nodes[2].state = "expected";
  status.links = {MakeLink("a", "b", 38, 15, "primary"), MakeLink("b", "a", 40, 16, "believed")};
  status.links[0].age_s = 0.5;
  status.trees = {{"a", 0.25}, {"b", 0.5}, {"a", 0.25}};
  status.keys = {{"fc", 12}};
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
  for (const MetricFamily& family : MakeSchedulerMetrics(StatusView())) {
    EXPECT_EQ(family.name.find("_plan_"), std::string::npos);
    EXPECT_EQ(family.kind == MetricFamily::Kind::kCounter, family.name.ends_with("_total")) << family.name;
  }
}

}  // namespace
}  // namespace banyan
