#include "scheduler/policy/replanner.h"

#include <algorithm>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/evaluation/policy_value.h"
#include "topology/overlay/overlay_network.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = PlanDecision::Kind;

constexpr int64_t kModelElements = 3000000;
const NodeId kA(1);
const NodeId kB(2);
const NodeId kC(3);

// Three nodes in a full mesh of 100 Mbit/s, under a policy made by `fapt`. The test plays the rest of the scheduler.
class ReplannerTest : public testing::Test {
 protected:
  explicit ReplannerTest(const std::string& more = "topology: {planner: fapt}\n")
      : overlay_(MeshOverlay(3, more)), keys_(65536), replanner_(MakeReplanner()) {
    EXPECT_TRUE(keys_.Register({"w", kModelElements}).ok());
    Adopt(Finish(replanner_.PlanForStart(now_, {kA, kB, kC})));
  }

  Replanner MakeReplanner() const {
    const NetworkView believed = MakeNetworkView(overlay_);
    return Replanner(overlay_, believed, *MakePlannerConfig(overlay_, believed), &keys_, &policies_);
  }

  PlanDecision Finish(PlanRequest request) {
    request.computation->Run();
    return replanner_.OnPlanFinished(now_, request.id, *request.computation);
  }

  // Puts a decision's policy into force, for all open rounds.
  void Adopt(PlanDecision decision) {
    decision.policy.version = PolicyVersion(++version_);
    const std::map<NodeId, NodeAddress> addresses = {{kA, {}}, {kB, {}}, {kC, {}}};
    policies_.Add(std::move(decision.policy), decision.reason, decision.view, {}, addresses);
    replanner_.OnAdopted(now_, decision.view);
    if (!retires_) return;
    policies_.Retire(PolicyVersion(version_));
    replanner_.OnGoverningAlone(now_);
  }

  void Measure(NodeId from, NodeId to, double mbps) {
    NodeReport::Link link;
    link.to = to;
    link.measurement.emplace();
    link.measurement->rate_bps = mbps * 1e6;
    link.measurement->is_backlogged = true;
    EXPECT_TRUE(replanner_.OnLinkReport(now_, from, {link}).ok());
  }

  PlanLook LookAfter(absl::Duration duration) {
    now_ = now_ + duration;
    return replanner_.Look(now_);
  }

  // Looks after that time, expects a plan, and makes it.
  PlanDecision PlanAfter(absl::Duration duration) {
    PlanLook look = LookAfter(duration);
    EXPECT_TRUE(look.request.has_value()) << look.why;
    return look.request.has_value() ? Finish(*std::move(look.request)) : PlanDecision();
  }

  void EndRound(absl::Duration duration) {
    now_ = now_ + duration;
    ++rounds_;
    for (const NodeId node : {kA, kB, kC}) replanner_.OnRoundEnded(now_, node, {rounds_, kModelElements, duration});
  }

  // Runs rounds of that length, looks after each, and makes plans. The first decision that changes the policy, or the
  // last plan's.
  PlanDecision RunRounds(int rounds, absl::Duration duration) {
    PlanDecision last;
    for (int round = 0; round < rounds; ++round) {
      EndRound(duration);
      PlanLook look = replanner_.Look(now_);
      if (!look.request.has_value()) continue;
      last = Finish(*std::move(look.request));
      if (last.kind == Kind::kAdopt || last.kind == Kind::kGoBack) return last;
    }
    return last;
  }

  std::vector<Tree> TreesInUse() const { return policies_.Current()->trees; }

  OverlayConfig overlay_;
  Timestamp now_;
  KeyTable keys_;
  PublishedPolicies policies_;
  Replanner replanner_;
  uint64_t version_ = 0;
  uint64_t rounds_ = 0;
  bool retires_ = true;
};

bool Uses(const std::vector<Tree>& trees, NodeId from, NodeId to) {
  return std::any_of(trees.begin(), trees.end(), [&](const Tree& tree) {
    const auto reduce = tree.reduce_parent.find(from);
    const auto broadcast = tree.broadcast_parent.find(to);
    return (reduce != tree.reduce_parent.end() && reduce->second == to) ||
           (broadcast != tree.broadcast_parent.end() && broadcast->second == from);
  });
}

TEST_F(ReplannerTest, TheStartIsAdoptedWhateverThePlan) {
  const PlanDecision decision = Finish(replanner_.PlanForStart(now_, {kA, kB, kC}));
  EXPECT_EQ(decision.kind, Kind::kAdopt);
  EXPECT_EQ(decision.reason, "the start");
  EXPECT_EQ(decision.policy.planner, "fapt");
  EXPECT_GT(decision.policy.round_time, absl::ZeroDuration());
  EXPECT_EQ(replanner_.predicted_round(), decision.policy.round_time);
}

TEST_F(ReplannerTest, WithoutAReportThereIsNoReasonToPlan) {
  EXPECT_EQ(replanner_.NextLook(), now_ + absl::Seconds(5));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(LookAfter(absl::Seconds(6)).why, "");
}

TEST_F(ReplannerTest, AReportThatMovesARateIsAReasonToPlan) {
  Measure(kA, kB, 10);
  EXPECT_EQ(LookAfter(absl::Seconds(4)).why, "") << "the interval is not over";
  const PlanLook look = LookAfter(absl::Seconds(2));
  ASSERT_TRUE(look.request.has_value());
  EXPECT_EQ(look.why, "links were measured anew in the last 5s");
  EXPECT_NE(look.request->computation, nullptr);
  EXPECT_TRUE(replanner_.IsPlanning(look.request->id));
  EXPECT_EQ(replanner_.planned_members(), (std::vector<NodeId>{kA, kB, kC}));
}

TEST_F(ReplannerTest, OnePlanIsMadeAtATime) {
  Measure(kA, kB, 10);
  ASSERT_TRUE(LookAfter(absl::Seconds(6)).request.has_value());
  EXPECT_EQ(replanner_.NextLook(), kNever);
  Measure(kA, kC, 10);
  EXPECT_EQ(LookAfter(absl::Minutes(1)).why, "");
}

TEST_F(ReplannerTest, APlanThatIsVoidDecidesNothing) {
  Measure(kA, kB, 10);
  PlanLook look = LookAfter(absl::Seconds(6));
  PlanRequest second = replanner_.PlanForStart(now_, {kA, kB});
  EXPECT_FALSE(replanner_.IsPlanning(look.request->id)) << "another one was started";
  replanner_.DropPlan();
  EXPECT_FALSE(replanner_.is_planning());
  EXPECT_FALSE(replanner_.IsPlanning(second.id)) << "it was dropped";
}

TEST_F(ReplannerTest, ABetterPolicyIsAdopted) {
  Measure(kA, kB, 10);
  ASSERT_TRUE(Uses(TreesInUse(), kA, kB));
  const PlanDecision decision = PlanAfter(absl::Seconds(6));
  EXPECT_EQ(decision.kind, Kind::kAdopt);
  EXPECT_THAT(decision.reason, StartsWith("links were measured anew in the last 5s, and "));
  EXPECT_THAT(decision.reason, HasSubstr("s a round are promised"));
  EXPECT_FALSE(Uses(decision.policy.trees, kA, kB));
  EXPECT_EQ(decision.view.FindLink(kA, kB)->throughput_bps, 10e6);
  EXPECT_EQ(replanner_.predicted_round(), decision.policy.round_time);
}

TEST_F(ReplannerTest, ThePredictionIsOfElementsAsNodesSendThem) {
  NodeReport report;
  report.precision.all = {1'000'000, 4'000'000};
  for (const NodeId node : {kA, kB, kC}) replanner_.OnReport(now_, node, report);
  Measure(kA, kB, 10);
  PlanDecision adopted = PlanAfter(absl::Seconds(6));
  ASSERT_EQ(adopted.kind, Kind::kAdopt);
  Policy of_floats = adopted.policy;
  ValueOn(adopted.view, keys_.Tensors(), of_floats);
  const absl::Duration whole = of_floats.round_time;
  EXPECT_EQ(replanner_.predicted_round(), adopted.policy.round_time);
  EXPECT_NEAR(absl::FDivDuration(replanner_.predicted_round(), whole), 0.25, 0.05);
  Adopt(std::move(adopted));
  Measure(kA, kC, 96);
  EXPECT_EQ(PlanAfter(absl::Minutes(2)).kind, Kind::kKeep);
  EXPECT_NEAR(absl::FDivDuration(replanner_.predicted_round(), whole), 0.25, 0.05);
}

TEST_F(ReplannerTest, ALittleGainChangesNothing) {
  Measure(kA, kB, 96);
  const PlanDecision decision = PlanAfter(absl::Seconds(6));
  EXPECT_EQ(decision.kind, Kind::kKeep);
  EXPECT_THAT(decision.reason, HasSubstr("are too little for a change"));
}

// What was measured since may be noise: the sooner after a change, the more the next one must promise.
TEST_F(ReplannerTest, SoonAfterAChangeTheNextOneMustPromiseMore) {
  const std::vector<std::pair<NodeId, NodeId>> links = {{kA, kB}, {kB, kA}, {kA, kC}, {kC, kA}, {kB, kC}, {kC, kB}};
  for (const auto& [from, to] : links) Measure(from, to, 99);
  now_ = now_ + absl::Seconds(1);
  Adopt(Finish(replanner_.PlanForStart(now_, {kA, kB, kC})));
  now_ = now_ + kFoundLate;
  Measure(kA, kB, 55);
  const PlanDecision soon = PlanAfter(absl::Seconds(6));
  EXPECT_EQ(soon.kind, Kind::kKeep) << soon.reason;
  now_ = now_ + absl::Hours(2);
  Measure(kA, kB, 54);
  const PlanDecision late = PlanAfter(absl::Seconds(6));
  EXPECT_EQ(late.kind, Kind::kAdopt) << late.reason;
}

TEST_F(ReplannerTest, TheModelsSizeIsAReason) {
  ASSERT_TRUE(keys_.Register({"b", 10}).ok());
  replanner_.OnModelGrown(now_);
  EXPECT_EQ(replanner_.NextLook(), now_ + kLeastReplanPause);
  const PlanLook look = LookAfter(kLeastReplanPause);
  ASSERT_TRUE(look.request.has_value());
  EXPECT_EQ(look.why, "the model's size, which is known now");
}

TEST_F(ReplannerTest, APlanWaitsWhileTooManyPoliciesAreInForce) {
  retires_ = false;
  while (policies_.size() < kMostLivePolicies) Adopt(Finish(replanner_.PlanForStart(now_, {kA, kB, kC})));
  Measure(kA, kB, 10);
  const PlanLook look = LookAfter(absl::Seconds(6));
  EXPECT_FALSE(look.request.has_value());
  EXPECT_EQ(look.why, "48 policies govern open rounds: no other is made before some close");
  EXPECT_FALSE(replanner_.is_planning());
}

TEST_F(ReplannerTest, AReportThatIsNotPossibleIsRefused) {
  NodeReport::Link link;
  link.to = NodeId(9);
  link.measurement.emplace();
  EXPECT_EQ(replanner_.OnLinkReport(now_, kA, {link}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ReplannerTest, AReconfigurationIsAdoptedAndThenCounts) {
  OverlayConfig wanted = MeshOverlay(3, "topology: {planner: star, root: n3, update_seconds: 60}\n");
  NetworkView believed = MakeNetworkView(wanted);
  PlannerConfig config = *MakePlannerConfig(wanted, believed);
  PlanDecision decision =
      Finish(replanner_.PlanForReconfiguration(now_, policies_.Current()->members, believed, config, "an order"));
  EXPECT_EQ(decision.kind, Kind::kAdopt);
  EXPECT_EQ(decision.reason, "an order");
  ASSERT_EQ(decision.policy.trees.size(), 1u);
  EXPECT_EQ(decision.policy.trees[0].root, kC);
  replanner_.OnReconfigured(now_, wanted, believed, config);
  Adopt(std::move(decision));
  EXPECT_EQ(replanner_.NextLook(), now_ + absl::Seconds(60));
  // Later plans obey it, too: the star keeps its root and goes around the link that became slow.
  Measure(kC, kA, 10);
  const PlanDecision later = PlanAfter(absl::Seconds(60));
  EXPECT_EQ(later.kind, Kind::kAdopt);
  EXPECT_THAT(later.reason, StartsWith("links were measured anew in the last 1m, and "));
  ASSERT_EQ(later.policy.trees.size(), 1u);
  EXPECT_EQ(later.policy.trees[0].root, kC);
}

TEST_F(ReplannerTest, WithoutAPlanThePolicyStaysAndTheErrorIsTold) {
  PlannerConfig none;
  none.planner = "custom";
  const PlanDecision order = Finish(replanner_.PlanForReconfiguration(now_, policies_.Current()->members,
                                                                      replanner_.links().believed(), none, "an order"));
  EXPECT_EQ(order.kind, Kind::kFail);
  EXPECT_EQ(order.code, absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(order.reason, Not(IsEmpty()));
  replanner_.OnReconfigured(now_, overlay_, replanner_.links().believed(), none);
  Measure(kA, kB, 10);
  EXPECT_EQ(PlanAfter(absl::Seconds(6)).kind, Kind::kFail);
}

TEST_F(ReplannerTest, APolicyWhoseLinkWasCutIsNotWeighedAgainstOthers) {
  Measure(kA, kB, 10);
  replanner_.OnLinkCut(now_, kA, kB, "a complaint");
  EXPECT_EQ(LookAfter(absl::Seconds(6)).why, "");
  EXPECT_EQ(replanner_.NextLook(), kNever);
  PlanDecision epoch = Finish(replanner_.PlanForEpoch(now_, {kA, kB, kC}, "a link was cut"));
  ASSERT_EQ(epoch.kind, Kind::kAdopt);
  EXPECT_EQ(epoch.view.FindLink(kA, kB), nullptr);
  Adopt(std::move(epoch));
  Measure(kA, kC, 10);
  PlanAfter(absl::Seconds(6));
}

TEST_F(ReplannerTest, RestoredLinksAreKnownAndNoChange) {
  NetworkLink link = *replanner_.links().believed().FindLink(kA, kB);
  link.throughput_bps = 10e6;
  link.source = LinkSource::kPrimary;
  Replanner restored = MakeReplanner();
  restored.Restore({link});
  restored.OnRestarted(now_);
  EXPECT_EQ(restored.links().View().FindLink(kA, kB)->throughput_bps, 10e6);
  EXPECT_EQ(restored.NextLook(), now_ + absl::Seconds(5));
  EXPECT_EQ(restored.Look(now_ + absl::Seconds(6)).why, "");
}

class ReplannerUpdateRateTest : public ReplannerTest {
 protected:
  ReplannerUpdateRateTest() : ReplannerTest("topology: {planner: fapt, update_seconds: 1000, update_rate: 0.5}\n") {}
};

TEST_F(ReplannerUpdateRateTest, ALargeChangeIsAReasonAtOnce) {
  Measure(kA, kB, 80);
  EXPECT_EQ(LookAfter(absl::Seconds(1)).why, "") << "a small one waits for the interval";
  Measure(kA, kC, 10);
  const PlanLook look = LookAfter(absl::ZeroDuration());
  ASSERT_TRUE(look.request.has_value());
  EXPECT_EQ(look.why, "a link changed by more than 50%");
}

// Rounds take a second, until the link from a to b is measured at a tenth of its rate.
class ReplannerTrialTest : public ReplannerTest {
 protected:
  ReplannerTrialTest() {
    for (int round = 0; round < 4; ++round) EndRound(absl::Seconds(1));
    first_ = TreesInUse();
    Measure(kA, kB, 10);
  }

  // Rounds become slow, and another policy is adopted.
  void BeginTrial() {
    PlanDecision decision = RunRounds(3, absl::Seconds(9));
    ASSERT_EQ(decision.kind, Kind::kAdopt) << decision.reason;
    Adopt(std::move(decision));
  }

  std::vector<Tree> first_;
};

TEST_F(ReplannerTrialTest, RoundsThatAreAsFastAsBeforeContradictTheReport) {
  const PlanDecision decision = RunRounds(20, absl::Seconds(1));
  EXPECT_EQ(decision.kind, Kind::kKeep);
  EXPECT_THAT(decision.reason, HasSubstr("are too little for a change"));
}

TEST_F(ReplannerTrialTest, APolicyThatMakesRoundsSlowerGoesBack) {
  BeginTrial();
  const PlanDecision decision = RunRounds(6, absl::Seconds(12));
  ASSERT_EQ(decision.kind, Kind::kGoBack) << decision.reason;
  EXPECT_EQ(decision.reason, "rounds of 12 s under policy 2, where policy 1 took 9, which comes back");
  EXPECT_EQ(decision.policy.trees, first_);
  EXPECT_EQ(replanner_.policies_taken_back(), 1u);
}

TEST_F(ReplannerTrialTest, WhatWasTakenBackIsNotAdoptedAgainSoon) {
  BeginTrial();
  Adopt(RunRounds(6, absl::Seconds(12)));
  EXPECT_EQ(TreesInUse(), first_);
  bool is_held = false;
  for (int i = 0; i < 20; ++i) {
    Measure(kA, kB, i % 2 == 0 ? 9 : 11);
    const PlanDecision decision = RunRounds(2, absl::Seconds(9));
    ASSERT_NE(decision.kind, Kind::kAdopt) << decision.reason;
    is_held = is_held || decision.reason.find("but a policy that promised as much was taken back") != std::string::npos;
  }
  EXPECT_TRUE(is_held);
}

TEST_F(ReplannerTrialTest, AnOrderMayTakeAwayTheLinksOfTheFormerPolicy) {
  BeginTrial();
  LinkOutages gone;
  gone.Cut(now_, kA, kB, "an order");
  const NetworkView believed = gone.Without(replanner_.links().believed());
  const PlanDecision order = Finish(
      replanner_.PlanForReconfiguration(now_, {kA, kB, kC}, believed, *MakePlannerConfig(overlay_, believed), "order"));
  EXPECT_EQ(order.kind, Kind::kAdopt);
}

TEST_F(ReplannerTrialTest, APolicyThatIsNotSlowerPassesItsTrial) {
  BeginTrial();
  const std::vector<Tree> second = TreesInUse();
  EXPECT_NE(RunRounds(10, absl::Seconds(9)).kind, Kind::kGoBack);
  EXPECT_EQ(TreesInUse(), second);
  EXPECT_EQ(replanner_.policies_taken_back(), 0u);
}

TEST_F(ReplannerTrialTest, NoOtherPolicyIsAdoptedDuringATrial) {
  BeginTrial();
  // The links change so that the former policy would be far better.
  Measure(kA, kB, 100);
  Measure(kA, kC, 10);
  const PlanDecision decision = RunRounds(4, absl::Seconds(9));
  EXPECT_EQ(decision.kind, Kind::kKeep);
  EXPECT_THAT(decision.reason, HasSubstr("but the policy in use is on trial"));
}

TEST_F(ReplannerTrialTest, ASlowerPolicyStaysWhenTheLinksWouldSlowTheFormerToo) {
  BeginTrial();
  for (const auto& [from, to] : {std::pair(kA, kC), {kB, kA}, {kB, kC}, {kC, kA}, {kC, kB}}) Measure(from, to, 40);
  Measure(kA, kB, 4);
  std::string note;
  for (int round = 0; round < 10 && note.empty(); ++round) {
    const PlanDecision decision = RunRounds(1, absl::Seconds(20));
    ASSERT_NE(decision.kind, Kind::kGoBack) << decision.reason;
    note = decision.note;
  }
  EXPECT_THAT(note, StartsWith("policy 2 stays in spite of rounds of 20 s under policy 2"));
  EXPECT_EQ(replanner_.policies_taken_back(), 0u);
}

TEST_F(ReplannerTrialTest, AnotherModelEndsTheTrial) {
  BeginTrial();
  replanner_.OnModelGrown(now_);
  EXPECT_NE(RunRounds(6, absl::Seconds(12)).kind, Kind::kGoBack);
}

// A mesh of so many nodes that the best plan takes a while.
class LargeReplannerTest : public testing::Test {
 protected:
  LargeReplannerTest() : overlay_(MeshOverlay(16)), keys_(65536), replanner_(MakeReplanner()) {
    EXPECT_TRUE(keys_.Register({"w", kModelElements}).ok());
    Adopt(Finish(replanner_.PlanForStart(now_, Nodes(16))));
    now_ = now_ + absl::Seconds(1);
  }

  static std::vector<NodeId> Nodes(uint32_t count) {
    std::vector<NodeId> nodes;
    for (uint32_t node = 1; node <= count; ++node) nodes.push_back(NodeId(node));
    return nodes;
  }
  Replanner MakeReplanner() const {
    const NetworkView believed = MakeNetworkView(overlay_);
    return Replanner(overlay_, believed, *MakePlannerConfig(overlay_, believed), &keys_, &policies_);
  }
  PlanDecision Finish(PlanRequest request) {
    request.computation->Run();
    return replanner_.OnPlanFinished(now_, request.id, *request.computation);
  }
  void Adopt(PlanDecision decision) {
    ASSERT_EQ(decision.kind, Kind::kAdopt) << decision.reason;
    decision.policy.version = PolicyVersion(++version_);
    std::map<NodeId, NodeAddress> addresses;
    for (const NodeId node : Nodes(16)) addresses[node] = {};
    policies_.Add(std::move(decision.policy), decision.reason, decision.view, {}, addresses);
    policies_.Retire(PolicyVersion(version_));
    replanner_.OnAdopted(now_, decision.view);
  }

  OverlayConfig overlay_;
  Timestamp now_;
  KeyTable keys_;
  PublishedPolicies policies_;
  Replanner replanner_;
  uint64_t version_ = 0;
};

TEST_F(LargeReplannerTest, AfterAPlanInHasteABetterOneIsLookedFor) {
  EXPECT_EQ(replanner_.Look(now_).why, "");
  Adopt(Finish(replanner_.PlanForEpoch(now_, Nodes(15), "n16 died")));
  EXPECT_EQ(replanner_.NextLook(), now_);
  PlanLook look = replanner_.Look(now_);
  ASSERT_TRUE(look.request.has_value()) << look.why;
  EXPECT_THAT(look.why, HasSubstr("in haste"));
  EXPECT_THAT(Finish(*std::move(look.request)).kind, ::testing::AnyOf(Kind::kAdopt, Kind::kKeep));
  EXPECT_EQ(replanner_.Look(now_).why, "") << "once";
}

TEST_F(LargeReplannerTest, APlanThatIsOvertakenEndsEarly) {
  PlanRequest first = replanner_.PlanForEpoch(now_, Nodes(15), "n16 died");
  PlanRequest second = replanner_.PlanForEpoch(now_, Nodes(14), "n15 died");
  first.computation->Run();
  EXPECT_TRUE(absl::IsCancelled(first.computation->TakePolicy().status()));
  Adopt(Finish(std::move(second)));
  PlanRequest better = *replanner_.Look(now_).request;
  ASSERT_NE(better.computation, nullptr);
  replanner_.DropPlan();
  better.computation->Run();
  EXPECT_TRUE(absl::IsCancelled(better.computation->TakePolicy().status()));
}

}  // namespace
}  // namespace banyan
