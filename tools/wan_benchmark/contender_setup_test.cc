#include "tools/wan_benchmark/contender_setup.h"

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BenchPlace Place() {
  BenchPlace place;
  place.banyan_program = "/bin/banyan";
  place.peer_program = "/bin/peer";
  place.directory = "/tmp/run";
  place.gate = "/tmp/run/gate";
  place.wan_directory = "/tmp/run/wan";
  place.nodes = {{"a", "10.99.0.1"}, {"b", "10.99.0.2"}};
  place.scheduler_node = "b";
  place.overlay =
      "nodes: [{name: a, workers: 3, listen: 'tcp://*:1'}, {name: b}]\nlinks: [{between: [a, b], mbps: 10}]\n"
      "topology: {planner: bkt, k: 3, update_seconds: 7}\naggregation: {op: mean}\n"
      "compression: {rules: [{keys: '*.weight', codec: topk, ratio: 0.25}]}\n";
  place.elements = 1000;
  return place;
}

std::string Line(const BenchProcess& process) { return absl::StrJoin(process.arguments, " "); }

TEST(ContenderSetupTest, TheJobIsAnOverlayWithTheContendersSections) {
  Contender contender;
  contender.planner = "fapt";
  contender.roots = 1;
  contender.multipath = true;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_EQ(overlay->topology.planner, "fapt");
  EXPECT_EQ(overlay->topology.roots, 1);
  EXPECT_EQ(overlay->topology.update_interval, absl::Seconds(7));
  EXPECT_FALSE(overlay->awareness.enabled);
  EXPECT_TRUE(overlay->multipath.enabled);
  EXPECT_EQ(overlay->aggregation.op, AggregationOp::kSum);
  ASSERT_EQ(overlay->compression.rules.size(), 1u);
  EXPECT_EQ(overlay->compression.rules[0].keys, "*.weight");
  EXPECT_EQ(overlay->scheduler.address, "tcp://10.99.0.2:7700");
  EXPECT_EQ(overlay->nodes[0].workers, 1);
  EXPECT_EQ(overlay->nodes[0].address, "tcp://10.99.0.1:7701");
}

TEST(ContenderSetupTest, ChunksInLevelsMayLackSomething) {
  const Contender contender = MakeBurstContenders().front();
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  ASSERT_EQ(overlay->compression.rules.size(), 1u);
  EXPECT_EQ(overlay->compression.rules[0].codec, CodecId::kTrimRht);
  EXPECT_EQ(overlay->trimming.policy, TrimPolicyKind::kDeadline);
  for (const BenchProcess& process : MakeSetup(contender, Place()).processes) {
    EXPECT_EQ(process.arguments.back() == "lossy", process.name.starts_with("worker-")) << process.name;
  }
}

TEST(ContenderSetupTest, VotesHaveAProfileAndABinding) {
  Contender contender;
  contender.planner = "packed";
  contender.votes = Contender::Votes::kMeans;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_EQ(overlay->precision.profile, "/tmp/run/votes_profile.yaml");
  const ContenderSetup setup = MakeSetup(contender, Place());
  ASSERT_EQ(setup.files.size(), 3u);
  const absl::StatusOr<OperatingProfile> profile = ReadProfile(setup.files[1].second, setup.files[1].first);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_FALSE(profile->controls.warmup);
  EXPECT_FALSE(profile->has_guard);
  const absl::StatusOr<PrecisionBinding> binding = ReadBinding(setup.files[2].second, setup.files[2].first);
  ASSERT_TRUE(binding.ok()) << binding.status();
  EXPECT_EQ(binding->candidate_elements(), Place().elements);
  EXPECT_EQ(setup.processes.back().arguments.back(), "means");
  EXPECT_EQ(profile->rules.aggregate, VoteAggregate::kMean);
  contender.votes = Contender::Votes::kMajorities;
  const ContenderSetup majorities = MakeSetup(contender, Place());
  const absl::StatusOr<OperatingProfile> other = ReadProfile(majorities.files[1].second, majorities.files[1].first);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->rules.aggregate, VoteAggregate::kMajority);
  EXPECT_EQ(majorities.processes.back().arguments.back(), "majorities");
}

TEST(ContenderSetupTest, AContenderIsToldWhatItIsToKnow) {
  Contender contender;
  contender.planner = "packed";
  contender.told = {ToldLinks::Kind::kNone};
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  ASSERT_EQ(overlay->links->size(), 1u);
  EXPECT_FALSE(overlay->links->front().has_rates);
  contender.told = {ToldLinks::Kind::kNodes};
  overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_FALSE(overlay->links.has_value());
  contender.told = {ToldLinks::Kind::kWrong, 5};
  overlay = ParseOverlay(MakeJobOverlay(contender, Place()), "job.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  const OverlayConfig expected = AsTold(*ParseOverlay(Place().overlay, "overlay.yaml"), contender.told);
  EXPECT_NEAR(overlay->links->front().a_to_b_bps, expected.links->front().a_to_b_bps, 1);
  EXPECT_NEAR(overlay->links->front().b_to_a_bps, expected.links->front().b_to_a_bps, 1);
  EXPECT_NE(expected.links->front().a_to_b_bps, 10e6);
}

TEST(ContenderSetupTest, BanyanHasASchedulerAndTwoProcessesPerNode) {
  Contender contender;
  contender.planner = "star";
  const ContenderSetup setup = MakeSetup(contender, Place());
  ASSERT_EQ(setup.processes.size(), 5u);
  EXPECT_EQ(setup.processes[0].node, "b");
  EXPECT_EQ(Line(setup.processes[0]), "/bin/banyan scheduler /tmp/run/overlay.yaml --forgetful --stay --insecure");
  EXPECT_EQ(Line(setup.processes[3]),
            "/bin/banyan node --name b --scheduler tcp://10.99.0.2:7700 --listen tcp://10.99.0.2:7701 "
            "--worker-socket unix:/tmp/run/b.sock --stay --insecure");
  EXPECT_EQ(Line(setup.processes[4]), "/bin/peer /tmp/run/gate 1 2 1000 unix:/tmp/run/b.sock");
}

TEST(ContenderSetupTest, SecuredProcessesHaveTheirKeys) {
  BenchPlace place = Place();
  place.secured = true;
  Contender contender;
  contender.planner = "star";
  const ContenderSetup setup = MakeSetup(contender, place);
  EXPECT_EQ(Line(setup.processes[0]),
            "/bin/banyan scheduler /tmp/run/overlay.yaml --forgetful --stay --key /tmp/run/scheduler.key");
  EXPECT_EQ(Line(setup.processes[3]),
            "/bin/banyan node --name b --scheduler tcp://10.99.0.2:7700 --listen tcp://10.99.0.2:7701 "
            "--worker-socket unix:/tmp/run/b.sock --stay --key /tmp/run/b.key");
}

TEST(ContenderSetupTest, GlooHasAProcessPerNode) {
  Contender contender;
  contender.system = ContenderSystem::kGloo;
  contender.algorithm = "direct";
  const ContenderSetup setup = MakeSetup(contender, Place());
  ASSERT_EQ(setup.processes.size(), 2u);
  EXPECT_EQ(Line(setup.processes[0]), "/bin/peer /tmp/run/gate 0 2 1000 /tmp/run/rendezvous 10.99.0.1 direct");
  contender.ranks = {"b", "a"};
  EXPECT_EQ(MakeSetup(contender, Place()).processes[0].node, "b");
  EXPECT_EQ(Line(MakeSetup(contender, Place()).processes[0]),
            "/bin/peer /tmp/run/gate 0 2 1000 /tmp/run/rendezvous 10.99.0.2 direct");
  EXPECT_THAT(InNode(Place(), {"x", "b", {"/bin/true"}}),
              ElementsAre("/bin/banyan", "wan", "exec", "b", "--dir", "/tmp/run/wan", "--", "/bin/true"));
}

TEST(ContenderSetupTest, OpenMpiStartsFromTheFirstNode) {
  Contender contender;
  contender.system = ContenderSystem::kOpenMpi;
  contender.algorithm = "default";
  ContenderSetup setup = MakeSetup(contender, Place());
  ASSERT_EQ(setup.processes.size(), 1u);
  EXPECT_EQ(setup.processes[0].node, "a");
  EXPECT_THAT(Line(setup.processes[0]), HasSubstr("--mca btl tcp,self"));
  EXPECT_THAT(Line(setup.processes[0]), Not(HasSubstr("coll_tuned")));
  EXPECT_EQ(setup.files[1].second, "a slots=1\nb slots=1\n");
  contender.algorithm = "ring";
  contender.ranks = {"b", "a"};
  setup = MakeSetup(contender, Place());
  EXPECT_EQ(setup.processes[0].node, "b");
  EXPECT_EQ(setup.files[1].second, "b slots=1\na slots=1\n");
  EXPECT_THAT(Line(setup.processes[0]), HasSubstr("--mca coll_tuned_allreduce_algorithm 4"));
}

}  // namespace
}  // namespace banyan
