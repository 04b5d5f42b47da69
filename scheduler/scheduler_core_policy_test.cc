// Policies that change while a job runs: because links did, and because somebody reconfigured the job.
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ConnectionId kOperator(kInboundConnection.value() + 99);
constexpr char kAdam[] = "aggregation: {op: adam}\n";

PolicyRequest Ask(KeyId key, uint64_t round) { return PolicyRequest{{{key, Round(round)}}}; }

void Measure(SchedulerHarness& harness, int from, uint32_t to, double mbps) {
  NodeReport report;
  NodeReport::Link& link = report.links.emplace_back();
  link.to = NodeId(to);
  link.measurement.emplace();
  link.measurement->rate_bps = mbps * 1e6;
  link.measurement->is_backlogged = true;
  harness.Receive(from, report);
}

// The link from n1 to n2 falls from the believed 100 Mbit/s to 10, and update_seconds pass.
void DropLink(SchedulerHarness& harness, int count) {
  Measure(harness, 1, 2, 10);
  std::vector<int> alive;
  for (int node = 1; node <= count; ++node) alive.push_back(node);
  harness.Advance(absl::Seconds(6), alive);
}

std::vector<PolicySlice> SlicesSentTo(const SchedulerHarness& harness, int node) {
  std::vector<PolicySlice> slices;
  for (const PolicyPublished& published : harness.Sent<PolicyPublished>(node)) slices.push_back(published.slice);
  return slices;
}

PolicyVersion PolicyOf(SchedulerHarness& harness, KeyId key, uint64_t round) {
  harness.Receive(1, Ask(key, round));
  const std::vector<PolicyAnswer> answers = harness.Sent<PolicyAnswer>(1);
  return answers.empty() ? PolicyVersion(0) : answers.back().bindings.back().policy;
}

OperatorReply Change(SchedulerHarness& harness, const std::string& yaml) {
  harness.Receive(kOperator, Reconfigure{yaml, "new.yaml"});
  const std::vector<OperatorReply> replies = harness.Sent<OperatorReply>(kOperator);
  return replies.empty() ? OperatorReply{} : replies.back();
}

std::string Status(SchedulerHarness& harness) {
  harness.Receive(kOperator, StatusRequest{});
  return StatusJson(*harness.Sent<StatusReply>(kOperator).back().status);
}

TEST(SchedulerPolicyTest, AvoidsALinkThatBecameSlowAndLeavesBegunRoundsAlone) {
  SchedulerHarness harness(MeshOverlay(3, "topology: {planner: fapt}\npolicy: {lease_seconds: 60}\n"));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  EXPECT_EQ(PolicyOf(harness, key, 0), PolicyVersion(1));
  EXPECT_EQ(PolicyOf(harness, key, 1), PolicyVersion(1));
  DropLink(harness, 3);
  for (int node = 1; node <= 3; ++node) {
    ASSERT_THAT(SlicesSentTo(harness, node), SizeIs(1));
    EXPECT_EQ(SlicesSentTo(harness, node)[0].version, PolicyVersion(2));
  }
  const PolicySlice slice = SlicesSentTo(harness, 1)[0];
  for (const TreeSlice& tree : slice.trees) {
    EXPECT_NE(tree.reduce_parent.value_or(NodeId(1)), NodeId(2));
    EXPECT_THAT(tree.broadcast_children, Not(::testing::Contains(NodeId(2))));
  }
  EXPECT_THAT(Status(harness), HasSubstr("s a round are promised"));
  EXPECT_THAT(Status(harness), HasSubstr(R"("live_policies":2)"));
  // The lease was given before, and is cut after the rounds that have begun.
  for (int node = 1; node <= 3; ++node) {
    EXPECT_THAT(harness.Sent<CutSought>(node), ElementsAre(CutSought{Term(1), Epoch(1), CutId(1)}));
    harness.Receive(node, CutBound{Term(1), Epoch(1), CutId(1), {{key, Round(node == 2 ? 4 : 3)}}});
  }
  EXPECT_EQ(PolicyOf(harness, key, 3), PolicyVersion(1));
  EXPECT_EQ(PolicyOf(harness, key, 4), PolicyVersion(2));
  for (const uint64_t round : {0, 1, 2}) harness.CloseRound(key, Round(round), 3);
  EXPECT_THAT(harness.Sent<PoliciesRetired>(1), IsEmpty());
  harness.CloseRound(key, Round(3), 3);
  for (int node = 1; node <= 3; ++node) {
    EXPECT_THAT(harness.Sent<PoliciesRetired>(node), ElementsAre(PoliciesRetired{Term(1), PolicyVersion(2)}));
  }
  EXPECT_EQ(harness.core().TableSizes().at("policies"), 1u);
}

constexpr int64_t kModelElements = 3000000;

// Rounds of the whole model, of that length each, for as long; every node tells of each.
void RunRounds(SchedulerHarness& harness, int rounds, absl::Duration duration, uint64_t* count) {
  for (int round = 0; round < rounds; ++round) {
    harness.Advance(duration, {1, 2, 3});
    ++*count;
    for (int node = 1; node <= 3; ++node) {
      NodeReport report;
      report.last_sync = {*count, kModelElements, duration};
      harness.Receive(node, report);
    }
  }
}

// Three nodes that have learned their links, and whose rounds take a second, until the link from n1 to n2 is measured
// at a tenth of its rate.
class SlowLinkPolicyTest : public testing::Test {
 protected:
  SlowLinkPolicyTest() : harness_(MeshOverlay(3, "topology: {planner: fapt}\n")) {
    harness_.JoinAll(3);
    harness_.AddKey("w", kModelElements);
    RunRounds(harness_, 25, absl::Seconds(1), &rounds_);
    first_ = SlicesSentTo(harness_, 1);
    harness_.ForgetSent();
    Measure(harness_, 1, 2, 10);
  }

  // Rounds become slow, and another policy is made.
  void BeginTrial() {
    RunRounds(harness_, 3, absl::Seconds(9), &rounds_);
    ASSERT_THAT(SlicesSentTo(harness_, 1), SizeIs(1));
  }

  SchedulerHarness harness_;
  std::vector<PolicySlice> first_;
  uint64_t rounds_ = 0;
};

TEST_F(SlowLinkPolicyTest, ALinkThatOnlySeemsSlowChangesNothing) {
  RunRounds(harness_, 20, absl::Seconds(1), &rounds_);
  EXPECT_THAT(SlicesSentTo(harness_, 1), IsEmpty());
  EXPECT_TRUE(harness_.HasLog("are too little for a change"));
}

TEST_F(SlowLinkPolicyTest, ALinkThatMakesRoundsSlowIsAvoided) {
  RunRounds(harness_, 3, absl::Seconds(9), &rounds_);
  const std::vector<PolicySlice> slices = SlicesSentTo(harness_, 1);
  ASSERT_THAT(slices, SizeIs(1));
  for (const TreeSlice& tree : slices[0].trees) {
    EXPECT_NE(tree.reduce_parent.value_or(NodeId(1)), NodeId(2));
  }
}

TEST_F(SlowLinkPolicyTest, APolicyThatMakesRoundsSlowerIsTakenBackAndNotMadeAgain) {
  BeginTrial();
  RunRounds(harness_, 6, absl::Seconds(12), &rounds_);
  const std::vector<PolicySlice> slices = SlicesSentTo(harness_, 1);
  ASSERT_THAT(slices, SizeIs(2));
  EXPECT_EQ(slices[1].trees, first_.back().trees);
  EXPECT_TRUE(harness_.HasLog("because of rounds of 12 s under policy 2, where policy 1 took 9, which comes back"));
  EXPECT_THAT(Status(harness_), HasSubstr(R"("policies_taken_back":1)"));
  for (int i = 0; i < 20; ++i) {
    Measure(harness_, 1, 2, i % 2 == 0 ? 9 : 11);
    RunRounds(harness_, 2, absl::Seconds(9), &rounds_);
  }
  EXPECT_THAT(SlicesSentTo(harness_, 1), SizeIs(2));
  EXPECT_TRUE(harness_.HasLog("but a policy that promised as much was taken back"));
}

TEST_F(SlowLinkPolicyTest, APolicyThatIsNotSlowerStays) {
  BeginTrial();
  RunRounds(harness_, 10, absl::Seconds(9), &rounds_);
  EXPECT_THAT(SlicesSentTo(harness_, 1), SizeIs(1));
}

TEST_F(SlowLinkPolicyTest, APolicyStaysWhenTheLinksWouldMakeTheOneBeforeSlowToo) {
  BeginTrial();
  for (const auto& [from, to] : {std::pair(1, 3), {2, 1}, {2, 3}, {3, 1}, {3, 2}}) {
    Measure(harness_, from, static_cast<uint32_t>(to), 40);
  }
  Measure(harness_, 1, 2, 4);
  RunRounds(harness_, 10, absl::Seconds(20), &rounds_);
  EXPECT_THAT(SlicesSentTo(harness_, 1), SizeIs(1));
  EXPECT_TRUE(harness_.HasLog("policy 2 stays in spite of rounds of 20 s under policy 2"));
}

TEST(SchedulerPolicyTest, NoiseChangesNothing) {
  SchedulerHarness harness(MeshOverlay(4));
  harness.StartJob(4);
  for (int second = 0; second < 120; ++second) {
    for (int from = 1; from <= 4; ++from) {
      const uint32_t to = static_cast<uint32_t>(from % 4 + 1);
      Measure(harness, from, to, 100 + (second * 7 + from * 3) % 11 - 5);
    }
    harness.Advance(absl::Seconds(1), {1, 2, 3, 4});
  }
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
  EXPECT_TRUE(harness.HasLog("policy 1 stays"));
}

TEST(SchedulerPolicyTest, GreatChangeIsPlannedAtOnce) {
  SchedulerHarness harness(MeshOverlay(3, "topology: {update_seconds: 1000, update_rate: 0.5}\n"));
  harness.StartJob(3);
  harness.Advance(absl::Seconds(1), {1, 2, 3});
  Measure(harness, 1, 2, 10);
  EXPECT_THAT(SlicesSentTo(harness, 1), SizeIs(1));
}

TEST(SchedulerPolicyTest, WithoutAwarenessMeasurementsChangeNothing) {
  SchedulerHarness harness(MeshOverlay(3, "awareness: {enabled: false}\n"));
  harness.JoinAll(3);
  EXPECT_FALSE(SlicesSentTo(harness, 1)[0].transmission.measures);
  harness.ForgetSent();
  DropLink(harness, 3);
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
  EXPECT_THAT(Status(harness), Not(HasSubstr("primary")));
}

TEST(SchedulerPolicyTest, AbsurdMeasurementsAreRejected) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  Measure(harness, 1, 2, -5);
  Measure(harness, 1, 7, 5);
  EXPECT_TRUE(harness.HasLog("a measurement of the link from n1 to n2: a rate from"));
  EXPECT_THAT(Status(harness), HasSubstr(R"("rejected_messages":2)"));
}

TEST(SchedulerPolicyTest, OnePlanIsMadeAtATime) {
  SchedulerHarness harness(MeshOverlay(3, "topology: {update_seconds: 1, update_rate: 0.1}\n"));
  harness.StartJob(3);
  harness.computes = false;
  for (int i = 1; i < 20; ++i) {
    Measure(harness, 1, 2, 100.0 / i);
    harness.Advance(absl::Seconds(1), {1, 2, 3});
    EXPECT_LE(harness.waiting_computations(), 1u);
  }
  EXPECT_EQ(harness.waiting_computations(), 1u);
}

TEST(SchedulerPolicyTest, LivePoliciesAreBounded) {
  SchedulerHarness harness(MeshOverlay(3, "topology: {update_seconds: 1}\n"));
  harness.JoinAll(3);
  harness.AddKey("w", kModelElements);
  uint64_t rounds = 0;
  RunRounds(harness, 25, absl::Seconds(1), &rounds);  // the job has learned its links
  std::vector<KeyId> keys;
  for (int i = 0; i < 100; ++i) {
    keys.push_back(harness.AddKey(absl::StrCat("w", i), 10));
    PolicyOf(harness, keys.back(), 1);
    Measure(harness, 1, 2, i % 2 == 0 ? 10 : 100);
    harness.Advance(absl::Seconds(2), {1, 2, 3});
  }
  EXPECT_EQ(harness.core().TableSizes().at("policies"), kMostLivePolicies);
  EXPECT_THAT(Change(harness, MeshYaml(3)).text, HasSubstr("policies govern open rounds"));
  // As soon as the oldest rounds close there is room again.
  for (const KeyId key : keys) harness.CloseRound(key, Round(1), 3);
  EXPECT_EQ(harness.core().TableSizes().at("policies"), 1u);
}

TEST(SchedulerPolicyTest, NodeThatComesBackGetsWhatIsAlive) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  PolicyOf(harness, key, 1);
  DropLink(harness, 3);
  const ConnectionId again(kInboundConnection.value() + 77);
  harness.Receive(again, SchedulerHarness::JoinOf(2));
  EXPECT_THAT(harness.Sent<PolicyPublished>(again), SizeIs(2));
  EXPECT_THAT(harness.Sent<PoliciesRetired>(again), ElementsAre(PoliciesRetired{Term(1), PolicyVersion(1)}));
}

TEST(SchedulerPolicyTest, RestartInTheMiddleOfAChangeGoesOnWithBothPolicies) {
  const OverlayConfig overlay = MeshOverlay(3);
  SchedulerHarness before(overlay);
  before.JoinAll(3);
  const KeyId key = before.AddKey("w", 10);
  PolicyOf(before, key, 1);
  DropLink(before, 3);
  PolicyOf(before, key, 2);

  SchedulerHarness after(overlay, before.stored());
  after.JoinAll(3);
  for (int node = 1; node <= 3; ++node) {
    EXPECT_EQ(SlicesSentTo(after, node), SlicesSentTo(before, node));
    EXPECT_THAT(SlicesSentTo(after, node), SizeIs(2));
  }
  EXPECT_EQ(PolicyOf(after, key, 1), PolicyVersion(1));
  EXPECT_EQ(PolicyOf(after, key, 2), PolicyVersion(2));
  // What was measured is known still: beliefs would bring the old trees back.
  EXPECT_THAT(Status(after),
              HasSubstr(R"("mbps":10,"delay_ms":0,"loss_percent":0,"age_s":null,"source":"primary","old":true)"));
  Measure(after, 2, 3, 99);
  after.Advance(absl::Seconds(6), {1, 2, 3});
  EXPECT_THAT(SlicesSentTo(after, 1), SizeIs(2));
  // Retired policies do not come back.
  after.CloseRound(key, Round(1), 3);
  EXPECT_EQ(after.Sent<PoliciesRetired>(1).back().oldest, PolicyVersion(2));
  SchedulerHarness last(overlay, after.stored());
  last.JoinAll(3);
  EXPECT_THAT(SlicesSentTo(last, 1), SizeIs(1));
  EXPECT_EQ(last.Sent<PoliciesRetired>(1).back().oldest, PolicyVersion(2));
}

TEST(SchedulerPolicyTest, NothingIsToldOfAPolicyThatIsNotDurable) {
  const OverlayConfig overlay = MeshOverlay(3);
  SchedulerHarness harness(overlay);
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  DropLink(harness, 3);
  harness.Receive(1, Ask(key, 1));
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
  EXPECT_THAT(harness.Sent<PolicyAnswer>(1), IsEmpty());
  SchedulerHarness after(overlay, harness.stored());
  after.JoinAll(3);
  EXPECT_THAT(SlicesSentTo(after, 1), SizeIs(1));
  harness.PersistWaiting();
  EXPECT_THAT(SlicesSentTo(harness, 1), SizeIs(1));
  EXPECT_THAT(harness.Sent<PolicyAnswer>(1), SizeIs(1));
}

TEST(SchedulerPolicyTest, RootsSharesAndChunksMoveUnderAnOptimizer) {
  SchedulerHarness harness(MeshOverlay(3, kAdam));
  harness.JoinAll(3);
  ASSERT_THAT(SlicesSentTo(harness, 1), SizeIs(1));
  const auto change = [&harness](const std::string& more) {
    EXPECT_TRUE(Change(harness, MeshYaml(3, absl::StrCat(kAdam, more))).accepted) << more;
    return SlicesSentTo(harness, 1).back();
  };
  for (const uint32_t root : {2, 3}) {
    const PolicySlice slice = change(absl::StrCat("topology: {planner: star, root: n", root, "}\n"));
    ASSERT_THAT(slice.trees, SizeIs(1));
    EXPECT_EQ(slice.trees[0].root, NodeId(root));
  }
  const PolicySlice slice = change("topology: {planner: fapt, roots: 3}\nchunks: {max_elements: 10}\n");
  EXPECT_THAT(slice.trees, SizeIs(3));
  EXPECT_EQ(slice.chunk_max_elements, 10);
}

TEST(SchedulerPolicyTest, ASlowLinkMovesSharesBetweenRootsUnderAnOptimizer) {
  SchedulerHarness harness(MeshOverlay(3, absl::StrCat(kAdam, "topology: {planner: fapt}\n")));
  harness.JoinAll(3);
  DropLink(harness, 3);
  ASSERT_THAT(SlicesSentTo(harness, 1), SizeIs(2));
  std::vector<std::map<NodeId, double>> shares;
  for (const PolicySlice& slice : SlicesSentTo(harness, 1)) {
    shares.emplace_back();
    for (const TreeSlice& tree : slice.trees) shares.back()[tree.root] += tree.share;
  }
  EXPECT_NE(shares[0], shares[1]);
}

TEST(SchedulerReconfigureTest, TakesEffectWithTheNextPolicy) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  const KeyId key = harness.AddKey("w", 100);
  PolicyOf(harness, key, 1);
  const OperatorReply reply =
      Change(harness, MeshYaml(3,
                               "topology: {planner: star, root: n2}\nmultipath: {enabled: false}\n"
                               "chunks: {max_elements: 10}\n"));
  EXPECT_TRUE(reply.accepted);
  EXPECT_EQ(reply.text,
            "policy 2: topology.planner: packed -> star; topology.root: (default) -> n2; "
            "multipath.enabled: true -> false; chunks.max_elements: 65536 -> 10");
  const PolicySlice slice = SlicesSentTo(harness, 1).at(0);
  ASSERT_THAT(slice.trees, SizeIs(1));
  EXPECT_EQ(slice.trees[0].root, NodeId(2));
  EXPECT_EQ(slice.chunk_max_elements, 10);
  EXPECT_FALSE(slice.transmission.uses_auxiliary_paths);
  EXPECT_EQ(PolicyOf(harness, key, 1), PolicyVersion(1));
  EXPECT_EQ(PolicyOf(harness, key, 2), PolicyVersion(2));
  EXPECT_THAT(Status(harness), HasSubstr(R"("policy_reason":"a reconfiguration with new.yaml: topology.planner)"));
}

TEST(SchedulerReconfigureTest, RefusalsChangeNothing) {
  SchedulerHarness harness(MeshOverlay(3));
  EXPECT_THAT(Change(harness, MeshYaml(3)).text, HasSubstr("the job has not started yet"));
  harness.StartJob(3);
  const size_t records = harness.records().size();
  const std::pair<std::string, const char*> refused[] = {
      {MeshYaml(3, "topology: {planer: fapt}\n"), "new.yaml:"},
      {"nodes: [{name: n1}, {name: n2}]", "address"},
      {absl::StrReplaceAll(MeshYaml(3), {{"name: n3", "name: n4"}}), "nodes[2] (n3).name cannot change while"},
      {MeshYaml(3, "policy: {lease_seconds: 9}\n"), "policy.lease_seconds cannot change"},
      {MeshYaml(3, "aggregation: {op: sum}\n"), "aggregation.op cannot change"},
      {MeshYaml(3, "topology: {planner: custom, trees: [{root: n1, reduce: {n2: n1}}]}\n"), "there is no such plan"},
  };
  for (const auto& [yaml, why] : refused) {
    const OperatorReply reply = Change(harness, yaml);
    EXPECT_FALSE(reply.accepted);
    EXPECT_THAT(reply.text, HasSubstr(why));
  }
  EXPECT_EQ(harness.records().size(), records);
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
  // And the old configuration goes on.
  DropLink(harness, 3);
  EXPECT_THAT(SlicesSentTo(harness, 1), Not(IsEmpty()));
  harness.Step(StopRequested{});
  EXPECT_THAT(Change(harness, MeshYaml(3)).text, Not(HasSubstr("policy")));
}

TEST(SchedulerReconfigureTest, WaitsForThePlanThatIsBeingMade) {
  SchedulerHarness harness(MeshOverlay(3));
  harness.StartJob(3);
  harness.computes = false;
  harness.Receive(kOperator, Reconfigure{MeshYaml(3, "topology: {planner: star}\n"), "new.yaml"});
  ASSERT_EQ(harness.waiting_computations(), 1u) << "it is being read";
  DropLink(harness, 3);
  ASSERT_EQ(harness.waiting_computations(), 2u);
  EXPECT_THAT(Change(harness, MeshYaml(3)).text, HasSubstr("another reconfiguration is being planned"));
  harness.ComputeWaiting();
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
  harness.ComputeWaiting();
  ASSERT_THAT(SlicesSentTo(harness, 1), SizeIs(1));
  EXPECT_THAT(SlicesSentTo(harness, 1)[0].trees, SizeIs(1));
  EXPECT_TRUE(harness.Sent<OperatorReply>(kOperator).back().accepted);
}

TEST(SchedulerReconfigureTest, AnsweredWhenTheJobFailsMeanwhile) {
  SchedulerHarness harness(MeshOverlay(2));
  harness.StartJob(2);
  harness.computes = false;
  harness.Receive(kOperator, Reconfigure{MeshYaml(2), "new.yaml"});
  harness.Receive(ConnectionId(kOperator.value() + 1), StopJob{});
  ASSERT_THAT(harness.Sent<OperatorReply>(kOperator), SizeIs(1));
  EXPECT_THAT(harness.Sent<OperatorReply>(kOperator)[0].text, HasSubstr("was stopped by an operator"));
  harness.ComputeWaiting();
  EXPECT_THAT(SlicesSentTo(harness, 1), IsEmpty());
}

TEST(SchedulerReconfigureTest, SurvivesARestartWithTheOldFile) {
  SchedulerHarness before(MeshOverlay(3));
  before.JoinAll(3);
  EXPECT_TRUE(Change(before, MeshYaml(3, "topology: {planner: star}\nmultipath: {enabled: false}\n")).accepted);
  SchedulerHarness after(MeshOverlay(3), before.stored());
  EXPECT_TRUE(after.HasLog("the job goes on as it was reconfigured with new.yaml"));
  after.JoinAll(3);
  EXPECT_EQ(SlicesSentTo(after, 1).back(), SlicesSentTo(before, 1).back());
  // Each plan after it is made from the same configuration.
  EXPECT_THAT(Change(after, MeshYaml(3, "topology: {planner: star}\nmultipath: {enabled: false}\n")).text,
              HasSubstr("nothing differs"));
  EXPECT_THAT(SlicesSentTo(after, 1).back().trees, SizeIs(1));
}

}  // namespace
}  // namespace banyan
