#include "scheduler/members/job_config_maker.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(JobConfigMakerTest, MapsEveryField) {
  OverlayConfig overlay;
  overlay.job = "train";
  overlay.nodes.resize(2);
  overlay.nodes[1].workers = 3;
  overlay.aggregation.op = AggregationOp::kAdam;
  overlay.aggregation.learning_rate = 0.25;
  overlay.chunks.max_elements = 1000;
  overlay.policy.rounds_in_flight = 2;
  overlay.transport.connections = 5;
  overlay.transport.window_bytes = 12345;
  overlay.transport.early_bytes = 111;
  overlay.transport.relay_bytes = 222;
  overlay.membership.heartbeat = absl::Milliseconds(300);
  overlay.membership.lost_after = absl::Seconds(2);
  overlay.compression = {.rules = {{.keys = "fc*", .codec = CodecId::kTopK, .numbers = {{"ratio", 0.01}}}},
                         .least_elements = 7};

  JobConfig expected;
  expected.job = "train";
  expected.aggregation = overlay.aggregation;
  expected.chunk_max_elements = 1000;
  expected.workers = 3;
  expected.rounds_in_flight = 2;
  expected.connections_per_link = 5;
  expected.bytes_per_connection = 0;
  expected.window_bytes = 12345;
  expected.early_bytes = 111;
  expected.relay_bytes = 222;
  expected.heartbeat = absl::Milliseconds(300);
  expected.lost_after = absl::Seconds(2);
  expected.compression = overlay.compression;
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(2)), expected);

  // Nodes are told of several schedulers, and not of a single one, which they have found.
  overlay.scheduler.addresses = {"tcp://a:1"};
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(2)), expected);
  overlay.scheduler.addresses = {"tcp://a:1", "tcp://b:1"};
  expected.schedulers = overlay.scheduler.addresses;
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(2)), expected);
  overlay.scheduler.addresses.resize(2 * kMaxSchedulers, "tcp://c:1");
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(2)).schedulers.size(), kMaxSchedulers);
}

TEST(JobConfigMakerTest, AutoLeavesTheDefaults) {
  OverlayConfig overlay;
  overlay.nodes.resize(1);
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(1)).window_bytes, 0);
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(1)).connections_per_link, JobConfig().connections_per_link);
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(1)).bytes_per_connection, JobConfig().bytes_per_connection);
  overlay.transport.bytes_per_connection = 99;
  EXPECT_EQ(MakeJobConfig(overlay, NodeId(1)).bytes_per_connection, 99);
}

TEST(JobConfigMakerTest, MapsWhatMayChange) {
  OverlayConfig overlay;
  EXPECT_EQ(MakeTransmissionSettings(overlay), TransmissionSettings());
  overlay.awareness = AwarenessConfig{false, 1234, 9, RateEstimator::kOneWayDelay};
  overlay.multipath = MultipathConfig{false, 3, 7};
  EXPECT_EQ(MakeTransmissionSettings(overlay),
            (TransmissionSettings{false, 1234, 9, false, 3, 7, RateEstimator::kOneWayDelay}));
}

}  // namespace
}  // namespace banyan
