#include "topology/overlay/overlay_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_network.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// A file of the test's own.
std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

constexpr char kWholeSchema[] = R"(
job: fashion-mnist
scheduler: {address: tcp://10.0.0.1:7700, http: 0.0.0.0:7780}
nodes:
  - {name: n1, address: tcp://10.0.1.1:7701, workers: 2, up_mbps: 500, down_mbps: 400, place: [52.5, -13.4]}
  - {name: n2, address: tcp://10.0.2.1:7701, listen: tcp://*:7701}
  - name: n3
    address: tcp://10.0.3.1:7701
    workers: 3
links:
  - {between: [n1, n2], mbps: [38, 54], delay_ms: 15, loss_percent: 0.02}
  - {between: [n3, n2], mbps: 10.5}
  - {between: [n1, n3]}
topology:
  planner: custom
  trees:
    - {root: n1, share: 0.33, reduce: {n2: n1, n3: n2}}
    - {root: n2, share: 0.66, reduce: {n1: n2, n3: n2}, broadcast: {n1: n2, n3: n1}}
  update_seconds: 7
  update_rate: 0.1
awareness: {enabled: false, probe_chunk_bytes: 1000, probe_chunks: 8, estimator: one_way_delay}
multipath: {enabled: false, primary_busy_bound: 3, auxiliary_queue_length: 6}
chunks: {max_elements: 1000000}
aggregation: {op: adam, learning_rate: 0.1, beta1: 0.8, beta2: 0.9, epsilon: 1e-6, weight_decay: 0.01, not_finite: skip,
              quorum: 0.75, grace_seconds: 1.5, order: fixed}
transport: {connections: 4, bytes_per_connection: 7, window_bytes: 1000000, early_bytes: 5, relay_bytes: 6}
membership: {start_with: 2, heartbeat_seconds: 0.5, lost_after_seconds: 2.5, scheduler_lost_after_seconds: 900, least: 2}
policy: {lease_seconds: 10, rounds_in_flight: 2}
)";

OverlayConfig Parsed(absl::string_view text) {
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "o.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return overlay.ok() ? *std::move(overlay) : OverlayConfig();
}

TEST(OverlayYamlTest, ReadsNodesAndLinks) {
  const OverlayConfig overlay = Parsed(kWholeSchema);
  EXPECT_EQ(overlay.job, "fashion-mnist");
  EXPECT_EQ(overlay.scheduler.address, "tcp://10.0.0.1:7700");
  EXPECT_EQ(overlay.scheduler.http, "0.0.0.0:7780");
  ASSERT_EQ(overlay.nodes.size(), 3u);
  EXPECT_EQ(overlay.nodes[0].workers, 2);
  EXPECT_EQ(overlay.nodes[0].up_cap_bps, 500e6);
  EXPECT_EQ(overlay.nodes[0].down_cap_bps, 400e6);
  EXPECT_EQ(overlay.nodes[0].position, (EarthPosition{52.5, -13.4}));
  EXPECT_EQ(overlay.nodes[1].position, std::nullopt);
  EXPECT_EQ(overlay.nodes[0].place.line, 5);
  EXPECT_EQ(overlay.nodes[1].listen, "tcp://*:7701");
  EXPECT_EQ(overlay.nodes[2].workers, 3);
  ASSERT_TRUE(overlay.links.has_value());
  const LinkConfig& link = (*overlay.links)[0];
  EXPECT_EQ(link.a, "n1");
  EXPECT_EQ(link.b_to_a_bps, 54e6);
  EXPECT_EQ(link.delay, absl::Milliseconds(15));
  EXPECT_DOUBLE_EQ(link.loss_fraction, 0.0002);
  EXPECT_EQ((*overlay.links)[1].a_to_b_bps, 10.5e6);
  EXPECT_EQ((*overlay.links)[2].a_to_b_bps, kDefaultLinkBps);
}

TEST(OverlayYamlTest, ReadsTopology) {
  const TopologyConfig topology = Parsed(kWholeSchema).topology;
  EXPECT_EQ(topology.planner, "custom");
  ASSERT_EQ(topology.trees.size(), 2u);
  EXPECT_DOUBLE_EQ(*topology.trees[0].share + *topology.trees[1].share, 1);
  EXPECT_EQ(topology.trees[0].reduce.at("n3"), "n2");
  EXPECT_EQ(topology.trees[1].broadcast.at("n3"), "n1");
  EXPECT_EQ(topology.update_interval, absl::Seconds(7));
  EXPECT_DOUBLE_EQ(topology.update_rate, 0.1);
}

TEST(OverlayYamlTest, ReadsTheKeysOfOtherPlanners) {
  const auto topology = [](absl::string_view keys) {
    return Parsed(absl::StrCat("nodes: [{name: n1}, {name: n2}]\ntopology: {planner: ", keys, "}\n")).topology;
  };
  EXPECT_EQ(topology("packed, roots: 2, root: n2").roots, 2);
  EXPECT_EQ(topology("packed, roots: 2, root: n2").root, "n2");
  EXPECT_EQ(topology("bkt, k: 3").arity, 3);
  EXPECT_EQ(topology("fapt, shares: balanced").shares, ShareRule::kBalanced);
}

TEST(OverlayYamlTest, ReadsTheOtherSections) {
  const OverlayConfig overlay = Parsed(kWholeSchema);
  EXPECT_FALSE(overlay.awareness.enabled);
  EXPECT_EQ(overlay.awareness.probe_chunk_bytes, 1000);
  EXPECT_EQ(overlay.awareness.probe_chunks, 8);
  EXPECT_EQ(overlay.awareness.estimator, RateEstimator::kOneWayDelay);
  EXPECT_FALSE(overlay.multipath.enabled);
  EXPECT_EQ(overlay.multipath.primary_busy_bound, 3);
  EXPECT_EQ(overlay.multipath.auxiliary_queue_length, 6);
  EXPECT_EQ(overlay.chunks.max_elements, 1000000);
  EXPECT_EQ(overlay.aggregation.op, AggregationOp::kAdam);
  EXPECT_EQ(overlay.aggregation.not_finite, NotFiniteRule::kSkip);
  EXPECT_DOUBLE_EQ(overlay.aggregation.quorum, 0.75);
  EXPECT_EQ(overlay.aggregation.grace, absl::Milliseconds(1500));
  EXPECT_TRUE(overlay.aggregation.fixed_order);
  EXPECT_DOUBLE_EQ(overlay.aggregation.learning_rate, 0.1);
  EXPECT_DOUBLE_EQ(overlay.aggregation.beta1, 0.8);
  EXPECT_DOUBLE_EQ(overlay.aggregation.beta2, 0.9);
  EXPECT_DOUBLE_EQ(overlay.aggregation.epsilon, 1e-6);
  EXPECT_DOUBLE_EQ(overlay.aggregation.weight_decay, 0.01);
  EXPECT_EQ(overlay.transport.connections, 4);
  EXPECT_EQ(overlay.transport.bytes_per_connection, 7);
  EXPECT_EQ(overlay.transport.window_bytes, 1000000);
  EXPECT_EQ(overlay.transport.early_bytes, 5);
  EXPECT_EQ(overlay.transport.relay_bytes, 6);
  EXPECT_EQ(overlay.membership.start_with, 2);
  EXPECT_EQ(overlay.membership.heartbeat, absl::Milliseconds(500));
  EXPECT_EQ(overlay.membership.lost_after, absl::Milliseconds(2500));
  EXPECT_EQ(overlay.membership.scheduler_lost_after, absl::Minutes(15));
  EXPECT_EQ(overlay.membership.least, 2);
  EXPECT_EQ(overlay.policy.lease, absl::Seconds(10));
  EXPECT_EQ(overlay.policy.rounds_in_flight, 2);
}

TEST(OverlayYamlTest, NodesAloneGiveDefaultsAndEveryPair) {
  const OverlayConfig overlay = Parsed("nodes: [{name: a}, {name: b}, {name: c}]\n");
  EXPECT_FALSE(overlay.links.has_value());
  EXPECT_FALSE(overlay.topology.roots.has_value());
  EXPECT_FALSE(overlay.transport.window_bytes.has_value());
  EXPECT_FALSE(overlay.membership.start_with.has_value());
  const NetworkView view = MakeNetworkView(overlay);
  EXPECT_EQ(view.links().size(), 6u);
  EXPECT_EQ(view.links()[0].throughput_bps, kDefaultLinkBps);
}

TEST(OverlayYamlTest, AdamHasItsOwnLearningRate) {
  const std::string nodes = "nodes: [{name: a}, {name: b}]\n";
  EXPECT_DOUBLE_EQ(Parsed(nodes + "aggregation: {op: adam}").aggregation.learning_rate, 0.001);
  EXPECT_DOUBLE_EQ(Parsed(nodes + "aggregation: {op: sgd}").aggregation.learning_rate, 0.01);
}

TEST(OverlayYamlTest, ViewNumbersNodesInFileOrderAndKeepsDirections) {
  const NetworkView view = MakeNetworkView(Parsed(kWholeSchema));
  EXPECT_EQ(view.FindNodeByName("n1")->id, NodeId(1));
  EXPECT_EQ(view.FindNodeByName("n3")->id, NodeId(3));
  EXPECT_EQ(view.FindNode(NodeId(1))->up_cap_bps, 500e6);
  EXPECT_EQ(view.FindNode(NodeId(1))->position, (EarthPosition{52.5, -13.4}));
  EXPECT_EQ(view.FindLink(NodeId(1), NodeId(2))->throughput_bps, 38e6);
  EXPECT_EQ(view.FindLink(NodeId(2), NodeId(1))->throughput_bps, 54e6);
  EXPECT_EQ(view.FindLink(NodeId(2), NodeId(1))->source, LinkSource::kBelieved);
}

TEST(OverlayYamlTest, ALinkCostsWhatItsSenderPaysToo) {
  const OverlayConfig overlay = Parsed(
      "nodes: [{name: n1, price_per_gb: 0.09}, {name: n2}, {name: n3, price_per_gb: 1e-3}]\n"
      "links: [{between: [n1, n2], price_per_gb: [0.01, 0.02]}, {between: [n2, n3], price_per_gb: 0.5}]\n"
      "topology: {budget_per_round: 2.5}\n");
  const NetworkView view = MakeNetworkView(overlay);
  const auto price = [&view](uint32_t from, uint32_t to) {
    return view.FindLink(NodeId(from), NodeId(to))->price_per_gb;
  };
  EXPECT_DOUBLE_EQ(price(1, 2), 0.1);
  EXPECT_DOUBLE_EQ(price(2, 1), 0.02);
  EXPECT_DOUBLE_EQ(price(2, 3), 0.5);
  EXPECT_DOUBLE_EQ(price(3, 2), 0.501);
  EXPECT_EQ(overlay.topology.budget_per_round, 2.5);
}

TEST(OverlayYamlTest, AliasesMayShareValues) {
  const OverlayConfig overlay = Parsed(
      "nodes: [{name: a}, {name: b}, {name: c}]\n"
      "links: [{between: [a, b], mbps: &fast [10, 20]}, {between: [b, c], mbps: *fast}]\n");
  EXPECT_EQ((*overlay.links)[1].b_to_a_bps, 20e6);
}

TEST(OverlayYamlTest, AJobNeedsAddresses) {
  EXPECT_TRUE(ValidateForJob(Parsed(kWholeSchema)).ok());
  const std::string nodes = "nodes:\n  - {name: a, address: tcp://h:1}\n  - {name: b}\n";
  EXPECT_THAT(std::string(ValidateForJob(Parsed(nodes)).message()), HasSubstr("scheduler.address is missing"));
  EXPECT_THAT(std::string(ValidateForJob(Parsed(nodes + "scheduler: {address: tcp://h:2}")).message()),
              HasSubstr("o.yaml:3:5: node 'b' has no address"));
}

TEST(OverlayYamlTest, AnEmulatedWanNeedsRates) {
  const std::string nodes = "nodes: [{name: a}, {name: b}]\n";
  EXPECT_THAT(std::string(ValidateForEmulation(Parsed(nodes)).message()), HasSubstr("o.yaml:1:1: links is missing"));
  EXPECT_THAT(std::string(ValidateForEmulation(Parsed(nodes + "links:\n  - {between: [a, b]}\n")).message()),
              HasSubstr("o.yaml:3:5: the link between 'a' and 'b' has no rate"));
  EXPECT_TRUE(ValidateForEmulation(Parsed(nodes + "links: [{between: [a, b], mbps: 3}]")).ok());
}

TEST(OverlayYamlTest, LoadsTheSamples) {
  const std::string folder = "deploy/topologies/";
  for (const char* name : {"internet2.yaml", "cloud9.yaml"}) {
    const absl::StatusOr<OverlayConfig> overlay = LoadOverlay(folder + name);
    ASSERT_TRUE(overlay.ok()) << overlay.status();
    EXPECT_EQ(overlay->nodes.size(), 9u);
  }
}

TEST(OverlayYamlTest, LoadRefusesWhatIsNoFile) {
  const absl::Status missing = LoadOverlay("/no/such/overlay.yaml").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/no/such/overlay.yaml: there is no such file"));
  const absl::Status directory = LoadOverlay(::testing::TempDir()).status();
  EXPECT_THAT(std::string(directory.message()), HasSubstr("is a directory"));
  EXPECT_FALSE(LoadOverlay("").ok());
}

TEST(OverlayYamlTest, LoadRefusesAnOversizedFile) {
  const std::string path = TemporaryFile("big.yaml", std::string(static_cast<size_t>(kMaxOverlayBytes) + 1, '#'));
  EXPECT_THAT(std::string(LoadOverlay(path).status().message()), HasSubstr("too large"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace banyan
