#include "scheduler/policy/overlay_change.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRunning[] = R"(
job: j
scheduler: {address: 'tcp://10.0.0.9:1'}
nodes:
  - {name: a, address: 'tcp://10.0.0.1:1'}
  - {name: b, address: 'tcp://10.0.0.2:1'}
links:
  - {between: [a, b], mbps: 10, delay_ms: 5}
topology: {planner: fapt}
aggregation: {op: mean}
chunks: {max_elements: 1000}
transport: {connections: 2}
policy: {lease_seconds: 1}
)";

OverlayConfig Parse(const std::string& yaml) {
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(yaml, "o.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return *std::move(overlay);
}

// What becomes of the running overlay when `from` in it becomes `to`.
absl::StatusOr<std::vector<std::string>> Change(const std::string& from, const std::string& to) {
  EXPECT_THAT(kRunning, HasSubstr(from));
  return CompareOverlays(Parse(kRunning), Parse(absl::StrReplaceAll(kRunning, {{from, to}})));
}

TEST(OverlayChangeTest, SameFileChangesNothing) { EXPECT_THAT(*Change("job: j", "job: 'j'"), IsEmpty()); }

TEST(OverlayChangeTest, TellsWhatChanges) {
  EXPECT_THAT(*Change("planner: fapt", "planner: star, root: b"),
              ElementsAre("topology.planner: fapt -> star", "topology.root: (default) -> b"));
  EXPECT_THAT(*Change("planner: fapt", "planner: fapt, shares: balanced"),
              ElementsAre("topology.shares: quality -> balanced"));
  EXPECT_THAT(*Change("planner: fapt", "planner: fapt, update_rate: 0.25, update_seconds: 2"),
              ElementsAre("topology.update_seconds: 5s -> 2s", "topology.update_rate: 0 -> 0.25"));
  EXPECT_THAT(*Change("topology:", "awareness: {enabled: false}\nmultipath: {enabled: false}\ntopology:"),
              ElementsAre("awareness.enabled: true -> false", "multipath.enabled: true -> false"));
  EXPECT_THAT(*Change("topology:", "awareness: {estimator: one_way_delay}\ntopology:"),
              ElementsAre("awareness.estimator: delivery -> one_way_delay"));
  EXPECT_THAT(*Change("max_elements: 1000", "max_elements: 500"), ElementsAre("chunks.max_elements: 1000 -> 500"));
  EXPECT_THAT(*Change("mbps: 10", "mbps: [20, 10]"), ElementsAre("links[a to b].mbps: 10 -> 20"));
  EXPECT_THAT(*Change("mbps: 10", "mbps: 10, price_per_gb: [0.5, 0]"),
              ElementsAre("links[a to b].price_per_gb: 0 -> 0.5"));
  EXPECT_THAT(*Change("planner: fapt", "planner: packed, budget_per_round: 3"),
              ElementsAre("topology.planner: fapt -> packed", "topology.budget_per_round: (default) -> 3"));
  EXPECT_THAT(*Change("planner: fapt", "planner: custom, trees: [{root: a, reduce: {b: a}}]"), SizeIs(2));
}

TEST(OverlayChangeTest, RefusesWhatMustStayAndNamesIt) {
  const std::pair<const char*, const char*> changes[] = {
      {"job: j", "job: k"},
      {"10.0.0.9", "10.0.0.8"},
      {"name: b", "name: c"},
      {"10.0.0.2", "10.0.0.3"},
      {"op: mean", "op: sum"},
      {"chunks:", "compression: {codec: fp16}\nchunks:"},
      {"connections: 2", "connections: 3"},
      {"lease_seconds: 1", "lease_seconds: 2"},
      {"chunks:", "membership: {heartbeat_seconds: 1.5}\nchunks:"},
  };
  const char* const fields[] = {"job ",
                                "scheduler.address",
                                "nodes[1] (b).name",
                                "nodes[1] (b).address",
                                "aggregation.op cannot change while the job runs (from mean to sum)",
                                "compression.rules cannot",
                                "transport.conne",
                                "policy.lease_seconds ",
                                "membership.heartbeat_seconds"};
  for (size_t i = 0; i < std::size(changes); ++i) {
    std::string yaml = absl::StrReplaceAll(kRunning, {{changes[i].first, changes[i].second}});
    if (i == 2) yaml = absl::StrReplaceAll(yaml, {{"[a, b]", "[a, c]"}});
    const absl::Status refusal = CompareOverlays(Parse(kRunning), Parse(yaml)).status();
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refusal.message()), ::testing::StartsWith(fields[i]));
    EXPECT_THAT(std::string(refusal.message()), HasSubstr("stop the job and start it with the new file"));
  }
}

TEST(OverlayChangeTest, EachSettingThatResultsRestOnIsNamedWithBothValues) {
  const JobSettings running = FixedSettings(Parse(kRunning));
  const std::pair<const char*, const char*> changes[] = {
      {"op: mean", "op: sum"},
      {"op: mean", "op: mean, not_finite: skip"},
      {"op: mean", "op: mean, quorum: 0.5, not_finite: skip"},
      {"op: mean", "op: sgd, learning_rate: 0.01000001"},
      {"chunks:", "compression: {codec: topk, ratio: 0.1}\nchunks:"},
      {"chunks:", "compression: {codec: fp16, least_elements: 7}\nchunks:"},
      {"chunks:", "trimming: {policy: off}\nchunks:"},
      {"address: 'tcp://10.0.0.2:1'", "address: 'tcp://10.0.0.2:1', workers: 2"},
      {"connections: 2", "connections: auto"},
      {"connections: 2", "connections: 2, relay_bytes: 1000000"},
      {"chunks:", "membership: {lost_after_seconds: 7}\nchunks:"},
      {"lease_seconds: 1", "lease_seconds: 1, rounds_in_flight: 4"},
  };
  const char* const differences[] = {"aggregation.op is mean in the running job, and sum in new.yaml: it cannot change",
                                     "aggregation.not_finite is keep in the running job, and skip in",
                                     "aggregation.not_finite is keep",
                                     "aggregation.learning_rate is 0.01 in the running job, and 0.01000001 in",
                                     "compression.rules is (none) in the running job, and *: topk, fixed",
                                     "compression.least_elements is 1024 in the running job, and 7 in",
                                     "trimming.policy is deadline in the running job, and off in",
                                     "nodes (b).workers is 1 in the running job, and 2 in",
                                     "transport.connections is 2 in the running job, and (default) in",
                                     "transport.relay_bytes is 64000000 in the running job, and 1000000 in",
                                     "membership.lost_after_seconds is 5s in the running job, and 7s in",
                                     "policy.rounds_in_flight is 1 in the running job, and 4 in"};
  for (size_t i = 0; i < std::size(changes); ++i) {
    const OverlayConfig now = Parse(absl::StrReplaceAll(kRunning, {{changes[i].first, changes[i].second}}));
    const absl::Status refusal = CompareSettings(running, FixedSettings(now), "new.yaml");
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(refusal.message()), ::testing::StartsWith(differences[i]));
    EXPECT_FALSE(CompareOverlays(Parse(kRunning), now).ok()) << "a reconfiguration refuses the same";
  }
  EXPECT_TRUE(CompareSettings(running, FixedSettings(Parse(absl::StrReplaceAll(kRunning, {{"mbps: 10", "mbps: 20"}}))),
                              "new.yaml")
                  .ok());
  EXPECT_TRUE(CompareSettings({{"of an earlier release", "1"}}, running, "new.yaml").ok());
}

TEST(OverlayChangeTest, TakesNewNodesAndRefusesOtherLinksAndFewerNodes) {
  const std::string three = absl::StrReplaceAll(
      kRunning, {{"links:\n", "  - {name: c, address: 'tcp://10.0.0.3:1'}\nlinks:\n  - {between: [b, c], mbps: 1}\n"}});
  EXPECT_THAT(*CompareOverlays(Parse(kRunning), Parse(three)), ElementsAre("nodes: c is new"));
  EXPECT_THAT(std::string(CompareOverlays(Parse(three), Parse(kRunning)).status().message()),
              HasSubstr("nodes cannot change while the job runs (from 3 to 2 nodes): leave all nodes in the file"));
  const std::string more = absl::StrReplaceAll(three, {{"links:\n", "links:\n  - {between: [a, c], mbps: 1}\n"}});
  EXPECT_THAT(std::string(CompareOverlays(Parse(three), Parse(more)).status().message()),
              HasSubstr("links[a to c] cannot change while the job runs (it is new)"));
  EXPECT_THAT(std::string(CompareOverlays(Parse(more), Parse(three)).status().message()),
              HasSubstr("links[a to c] cannot change while the job runs (it is missing)"));
}

// No optimizer keeps state at the roots, so that they may move under any.
TEST(OverlayChangeTest, RootsSharesAndChunksMayChangeUnderAnOptimizer) {
  const std::string adam = absl::StrReplaceAll(kRunning, {{"op: mean", "op: adam"}});
  const std::string changed =
      absl::StrReplaceAll(adam, {{"planner: fapt", "planner: fapt, roots: 1, root: b, shares: balanced"},
                                 {"max_elements: 1000", "max_elements: 500"}});
  EXPECT_THAT(*CompareOverlays(Parse(adam), Parse(changed)),
              ElementsAre("topology.roots: (default) -> 1", "topology.root: (default) -> b",
                          "topology.shares: quality -> balanced", "chunks.max_elements: 1000 -> 500"));
}

TEST(OverlayChangeTest, RefusesChunksThatNoRoomHolds) {
  EXPECT_TRUE(Change("max_elements: 1000", "max_elements: 16000000").ok());
  const absl::Status refusal =
      CompareOverlays(Parse(absl::StrReplaceAll(kRunning, {{"connections: 2", "relay_bytes: 1000000"}})),
                      Parse(absl::StrReplaceAll(kRunning, {{"connections: 2", "relay_bytes: 1000000"},
                                                           {"max_elements: 1000", "max_elements: 1000000"}})))
          .status();
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("make it smaller"));
  const auto with = [](const std::string& elements) {
    return Parse(absl::StrReplaceAll(
        kRunning, {{"connections: 2", "relay_bytes: 1000000"}, {"max_elements: 1000", "max_elements: " + elements}}));
  };
  EXPECT_TRUE(CompareOverlays(with("1000"), with("200000"), 4).ok());
  EXPECT_THAT(std::string(CompareOverlays(with("1000"), with("200000"), 8).status().message()),
              HasSubstr("a chunk of 1600000 bytes does not fit into the 1000000"));
  EXPECT_TRUE(CompareOverlays(with("1000"), with("400000"), 2).ok());
}

}  // namespace
}  // namespace banyan
