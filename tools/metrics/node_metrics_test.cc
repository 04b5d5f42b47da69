#include "tools/metrics/node_metrics.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/testing_protocol.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using Sample = MetricFamily::Sample;

constexpr ConnectionId kScheduler = ConnectionId(1);
constexpr ConnectionId kPeer = ConnectionId(2);

PolicyPublished PolicyNaming(const std::string& name) {
  PolicyPublished published;
  published.slice.neighbours.resize(1);
  published.slice.neighbours[0].node = NodeId(2);
  published.slice.neighbours[0].name = name;
  return published;
}

// Connects to the scheduler and to a peer; reports whenever a connection is lost.
std::unique_ptr<TestingProtocol> MakeCore() {
  auto core = std::make_unique<TestingProtocol>();
  core->on_started = [](Timestamp, Actions& actions) {
    TestingProtocol::Add(actions, Connect{kScheduler, "tcp://h:1", Channel::kControl});
    TestingProtocol::Add(actions, Connect{kPeer, "tcp://h:2", Channel::kControl});
  };
  core->on_down = [](ConnectionId, Actions& actions) {
    NodeReport report;
    report.workers_attached = 3;
    report.last_sync = {4, 10, absl::Seconds(2)};
    TestingProtocol::Add(actions, Send{kScheduler, std::move(report), {}});
  };
  return core;
}

TEST(WatchedNodeTest, ReadsAlong) {
  LatestValue<NodeSnapshot> snapshot;
  WatchedNode node(MakeCore(), &snapshot);
  EXPECT_EQ(node.Step(Timestamp(), Started{}).size(), 2u);
  node.Step(Timestamp(), MessageReceived{kScheduler, PolicyNaming("n2"), {}});
  KeysAssigned keys;
  keys.keys.push_back({KeyId(1), "fc", 10});
  node.Step(Timestamp(), MessageReceived{kScheduler, keys, {}});
  // A peer cannot rename anybody.
  node.Step(Timestamp(), MessageReceived{kPeer, PolicyNaming("evil"), {}});
  EXPECT_EQ(snapshot.Get(), nullptr);
  EXPECT_EQ(node.Step(Timestamp(), ConnectionDown{kPeer}).size(), 1u);
  const std::shared_ptr<const NodeSnapshot> latest = snapshot.Get();
  ASSERT_NE(latest, nullptr);
  EXPECT_EQ(latest->report.workers_attached, 3u);
  EXPECT_EQ(latest->nodes.at(NodeId(2)), "n2");
  EXPECT_EQ(latest->keys.at(KeyId(1)), "fc");
  // Four rounds so far. The same report again brings none.
  EXPECT_EQ(node.Step(Timestamp(), ConnectionDown{kPeer}).size(), 1u);
  const MetricFamily times = MakeRoundTimesMetric("node", snapshot.Get()->round_times);
  EXPECT_EQ(times.name, "banyan_node_round_seconds");
  EXPECT_EQ(times.samples.back(), (Sample{{}, 4, "_count"}));
  EXPECT_EQ(times.samples[7], (Sample{{{"le", "1"}}, 0, "_bucket"}));
  EXPECT_EQ(times.samples[8], (Sample{{{"le", "2.5"}}, 4, "_bucket"}));
}

const MetricFamily& Find(const std::vector<MetricFamily>& families, const std::string& name) {
  for (const MetricFamily& family : families) {
    if (family.name == "banyan_node_" + name) return family;
  }
  ADD_FAILURE() << name;
  return families.front();
}

TEST(NodeMetricsTest, KeysBeyondTheMostAreOneSeries) {
  NodeSnapshot snapshot;
  for (uint32_t key = 1; key <= MetricFamily::kMostKeys + 3; ++key) {
    snapshot.keys[KeyId(key)] = std::to_string(key);
    snapshot.report.progress.push_back({KeyId(key), Round(5)});
  }
  const std::vector<MetricFamily> families = MakeNodeMetrics(snapshot);
  const std::vector<Sample>& samples = Find(families, "rounds_done_total").samples;
  ASSERT_EQ(samples.size(), MetricFamily::kMostKeys + 1);
  EXPECT_EQ(samples[MetricFamily::kMostKeys - 1], (Sample{{{"key", std::to_string(MetricFamily::kMostKeys)}}, 5}));
  EXPECT_EQ(samples.back(), (Sample{{{"key", "other keys"}}, 15}));
}

TEST(NodeMetricsTest, SaysWhatTheReportSays) {
  NodeSnapshot snapshot;
  snapshot.nodes[NodeId(2)] = "n2";
  snapshot.keys[KeyId(1)] = "fc";
  NodeReport& report = snapshot.report;
  report.workers_attached = 2;
  report.rejected_messages = 5;
  report.late_rounds = 4;
  report.grace_seconds = 0.25;
  report.waited_ms = 900;
  report.last_sync = {3, 1000, absl::Milliseconds(250)};
  report.links = {{{1000, 100, 10, 0.5}, NodeId(2), LinkMeasurement{}}, {{2000, 200, 20}, NodeId(3), {}}};
  report.links[0].renewals = 6;
  report.links[1].overtakings = 9;
  report.links[0].is_blocked = true;
  report.links[0].measurement->rate_bps = 38e6;
  report.links[0].measurement->delay = absl::Milliseconds(15);
  report.links[0].measurement->clock_offset = absl::Milliseconds(-50);
  report.memory = {{"results", 8}, {"queues", 1}, {"results", 2}};
  report.progress = {{KeyId(1), Round(12)}};
  report.not_finite = {{KeyId(), 7, Round(3)}, {KeyId(1), 2, Round(4)}};
  const std::vector<MetricFamily> families = MakeNodeMetrics(snapshot);
  EXPECT_THAT(Find(families, "workers").samples, ElementsAre(Sample{{}, 2}));
  EXPECT_THAT(Find(families, "rejected_messages_total").samples, ElementsAre(Sample{{}, 5}));
  EXPECT_THAT(Find(families, "late_rounds_total").samples, ElementsAre(Sample{{}, 4}));
  EXPECT_THAT(Find(families, "grace_seconds").samples, ElementsAre(Sample{{}, 0.25}));
  EXPECT_THAT(Find(families, "waited_milliseconds_total").samples, ElementsAre(Sample{{}, 900}));
  EXPECT_THAT(Find(families, "last_sync_seconds").samples, ElementsAre(Sample{{}, 0.25}));
  EXPECT_THAT(Find(families, "rounds_done_total").samples, ElementsAre(Sample{{{"key", "fc"}}, 12}));
  EXPECT_THAT(Find(families, "not_finite_total").samples,
              ElementsAre(Sample{{{"key", "other keys"}}, 7}, Sample{{{"key", "fc"}}, 2}));
  EXPECT_THAT(Find(families, "memory_bytes").samples,
              ElementsAre(Sample{{{"what", "queues"}}, 1}, Sample{{{"what", "results"}}, 10}));
  // Without a name there is a number.
  EXPECT_THAT(Find(families, "link_sent_bytes_total").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 1000}, Sample{{{"to", "3"}}, 2000}));
  EXPECT_THAT(Find(families, "link_resent_bytes_total").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 100}, Sample{{{"to", "3"}}, 200}));
  EXPECT_THAT(Find(families, "link_auxiliary_bytes_total").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 10}, Sample{{{"to", "3"}}, 20}));
  EXPECT_THAT(Find(families, "link_busy_share").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 0.5}, Sample{{{"to", "3"}}, 0}));
  EXPECT_THAT(Find(families, "link_renewals_total").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 6}, Sample{{{"to", "3"}}, 0}));
  EXPECT_THAT(Find(families, "link_overtakings_total").samples,
              ElementsAre(Sample{{{"to", "n2"}}, 0}, Sample{{{"to", "3"}}, 9}));
  EXPECT_THAT(Find(families, "link_blocked").samples, ElementsAre(Sample{{{"to", "n2"}}, 1}, Sample{{{"to", "3"}}, 0}));
  EXPECT_THAT(Find(families, "link_rate_bits_per_second").samples,
              ElementsAre(Sample{{{"to", "n2"}, {"source", "primary"}}, 38e6}));
  EXPECT_THAT(Find(families, "link_delay_seconds").samples,
              ElementsAre(Sample{{{"to", "n2"}, {"source", "primary"}}, 0.015}));
  EXPECT_THAT(Find(families, "clock_offset_seconds").samples, ElementsAre(Sample{{{"to", "n2"}}, -0.05}));
  for (const MetricFamily& family : families) {
    EXPECT_EQ(family.kind == MetricFamily::Kind::kCounter, family.name.ends_with("_total")) << family.name;
  }
}

}  // namespace
}  // namespace banyan
