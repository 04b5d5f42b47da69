#include "scheduler/policy/formulation.h"

#include <functional>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/evaluation/policy_value.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr Timestamp kStart = Timestamp::FromNanoseconds(1'000'000'000'000);

LinkTable ChangedTable(double mbps) {
  LinkTable links(TriangleNetwork());
  NodeReport::Link link;
  link.to = NodeId(2);
  link.measurement.emplace();
  link.measurement->rate_bps = mbps * 1e6;
  link.measurement->is_backlogged = true;
  EXPECT_TRUE(links.Accept(kStart, NodeId(1), {link}).ok());
  return links;
}

TopologyConfig Every(absl::Duration interval, double update_rate = 0) {
  TopologyConfig config;
  config.update_interval = interval;
  config.update_rate = update_rate;
  return config;
}

NetworkView Scaled(const NetworkView& view, const std::function<double(const NetworkLink&)>& factor) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) link.throughput_bps *= factor(link);
  return *NetworkView::Create(std::vector<NetworkNode>(view.nodes().begin(), view.nodes().end()), links);
}

TEST(FormulationTest, LooksOnceInAnInterval) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  formulation.NotePlanned(kStart);
  const LinkTable links = ChangedTable(9);
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(5));
  EXPECT_FALSE(formulation.LookForReason(kStart + absl::Seconds(4), links, RoundTimes()).has_value());
  EXPECT_TRUE(formulation.LookForReason(kStart + absl::Seconds(5), links, RoundTimes()).has_value());
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(10));
}

TEST(FormulationTest, WaitsUntilLinksHaveSettled) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  formulation.NotePlanned(kStart);
  LinkTable links(TriangleNetwork());
  const auto change = [&links](Timestamp now, double mbps) {
    NodeReport::Link link;
    link.to = NodeId(2);
    link.measurement = LinkMeasurement{.rate_bps = mbps * 1e6, .is_backlogged = true};
    ASSERT_TRUE(links.Accept(now, NodeId(1), {link}).ok());
  };
  change(kStart + absl::Seconds(3), 2);
  EXPECT_FALSE(formulation.LookForReason(kStart + absl::Seconds(5), links, RoundTimes()).has_value());
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(3) + kSettlingTime);
  change(kStart + absl::Seconds(7), 30);
  EXPECT_FALSE(formulation.LookForReason(formulation.NextLook(), links, RoundTimes()).has_value());
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(7) + kSettlingTime);
  // Not for ever.
  for (int seconds = 9; seconds < 15; ++seconds) {
    EXPECT_FALSE(formulation.LookForReason(kStart + absl::Seconds(seconds), links, RoundTimes()).has_value());
    change(kStart + absl::Seconds(seconds), seconds % 2 == 0 ? 2 : 30);
  }
  EXPECT_TRUE(formulation.LookForReason(kStart + absl::Seconds(15), links, RoundTimes()).has_value());
}

// A round of the only member that ends at `end`.
void TellRound(Timestamp end, uint64_t count, absl::Duration duration, RoundTimes* rounds) {
  rounds->Accept(end, NodeId(1), {count, 1000, duration}, 1000);
}

TEST(FormulationTest, WaitsForARoundThatBeganAfterTheChange) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  const LinkTable links = ChangedTable(2);  // changed at kStart
  RoundTimes rounds;
  rounds.NoteAdopted(kStart + -absl::Minutes(1), {NodeId(1)}, absl::ZeroDuration());
  formulation.NotePlanned(kStart);
  TellRound(kStart + absl::Seconds(3), 1, absl::Seconds(4), &rounds);
  EXPECT_FALSE(formulation.LookForReason(kStart + absl::Seconds(5), links, rounds).has_value());
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(5) + kLeastReplanPause);
  TellRound(kStart + absl::Seconds(7), 2, absl::Seconds(4), &rounds);
  EXPECT_TRUE(formulation.LookForReason(kStart + absl::Seconds(7), links, rounds).has_value());
}

TEST(FormulationTest, WaitsForNoRoundThatIsTooLong) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  const LinkTable links = ChangedTable(2);
  RoundTimes rounds;
  rounds.NoteAdopted(kStart + -absl::Minutes(1), {NodeId(1)}, absl::ZeroDuration());
  formulation.NotePlanned(kStart);
  TellRound(kStart + absl::Seconds(3), 1, absl::Seconds(11), &rounds);
  EXPECT_TRUE(formulation.LookForReason(kStart + absl::Seconds(5), links, rounds).has_value());
}

TEST(FormulationTest, DoesNotWaitForARoundForEver) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  const LinkTable links = ChangedTable(2);
  RoundTimes rounds;
  rounds.NoteAdopted(kStart + -absl::Minutes(1), {NodeId(1)}, absl::ZeroDuration());
  formulation.NotePlanned(kStart);
  TellRound(kStart + absl::Seconds(3), 1, absl::Seconds(4), &rounds);
  EXPECT_FALSE(formulation.LookForReason(kStart + absl::Seconds(14), links, rounds).has_value());
  EXPECT_TRUE(formulation.LookForReason(kStart + absl::Seconds(15), links, rounds).has_value());
}

TEST(FormulationTest, AsksForMoreSoonAfterAChangeOfPolicy) {
  const auto least_gain = [](absl::Duration since_adopted) {
    Formulation formulation(Every(absl::Seconds(5)), {});
    formulation.NoteAdopted(kStart + -since_adopted);
    return formulation.LookForReason(kStart, ChangedTable(9), RoundTimes())->least_gain;
  };
  EXPECT_EQ(least_gain(absl::Seconds(1)), kMostGain);
  EXPECT_NEAR(least_gain(kSecondThoughts / 2), 3 * kLeastGain, 1e-9);
  EXPECT_NEAR(least_gain(2 * kSecondThoughts), 1.5 * kLeastGain, 1e-9);
  Formulation first(Every(absl::Seconds(5)), {});
  EXPECT_EQ(first.LookForReason(kStart, ChangedTable(9), RoundTimes())->least_gain, kLeastGain);
}

TEST(FormulationTest, AsksForLittleMoreWhereALinkIsFoundLateToHaveChanged) {
  const auto least_gain = [](Timestamp adopted_at, Timestamp now) {
    Formulation formulation(Every(absl::Seconds(5)), {});
    formulation.NoteAdopted(adopted_at);
    return formulation.LookForReason(now, ChangedTable(2), RoundTimes())->least_gain;  // changed at kStart
  };
  const Timestamp before = kStart + -absl::Seconds(10);
  EXPECT_EQ(least_gain(before, before + kFoundLate), kLeastGainOfLate);
  EXPECT_EQ(least_gain(before, before + kFoundLate + absl::Seconds(1)), kMostGain);
  EXPECT_EQ(least_gain(kStart + absl::Seconds(1), before + kFoundLate), kMostGain);
}

TEST(FormulationTest, DoesNotPlanForNothingNew) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  const LinkTable links(TriangleNetwork());
  EXPECT_FALSE(formulation.LookForReason(kStart, links, RoundTimes()).has_value());
  EXPECT_EQ(formulation.NextLook(), kStart + absl::Seconds(5));
}

TEST(FormulationTest, PlansAtOnceWhenALinkChangesBeyondTheRate) {
  Formulation formulation(Every(absl::Seconds(60), 0.5), {});
  formulation.NotePlanned(kStart);
  const LinkTable little = ChangedTable(9);
  const LinkTable much = ChangedTable(2);
  const Timestamp soon = kStart + kLeastReplanPause;
  EXPECT_FALSE(formulation.LookForReason(soon, little, RoundTimes()).has_value());
  EXPECT_FALSE(formulation.LookForReason(kStart + absl::Milliseconds(1), much, RoundTimes()).has_value());
  EXPECT_THAT(formulation.LookForReason(soon, much, RoundTimes())->why, HasSubstr("more than 50%"));
}

TEST(FormulationTest, PlansForAModelWhenAllItsTensorsAreThere) {
  AwarenessConfig off;
  off.enabled = false;
  Formulation formulation(Every(absl::Seconds(5)), off);
  const LinkTable links(TriangleNetwork());
  formulation.NoteModel(kStart);
  formulation.NoteModel(kStart + absl::Milliseconds(300));
  const Timestamp due = kStart + absl::Milliseconds(300) + kLeastReplanPause;
  EXPECT_EQ(formulation.NextLook(), due);
  EXPECT_FALSE(formulation.LookForReason(kStart + kLeastReplanPause, links, RoundTimes()).has_value());
  const std::optional<Formulation::Reason> reason = formulation.LookForReason(due, links, RoundTimes());
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(reason->why, HasSubstr("the model's size"));
  EXPECT_EQ(reason->least_gain, kLeastGainForModel);
  EXPECT_FALSE(formulation.LookForReason(due, links, RoundTimes()).has_value());
  EXPECT_EQ(formulation.NextLook(), kNever);
}

TEST(FormulationTest, NeverPlansAgainWithoutAwareness) {
  AwarenessConfig off;
  off.enabled = false;
  Formulation formulation(Every(absl::Seconds(5), 0.5), off);
  EXPECT_EQ(formulation.NextLook(), kNever);
  EXPECT_FALSE(formulation.LookForReason(kStart, ChangedTable(2), RoundTimes()).has_value());
}

Verdict JudgeOn(const Policy& current, const NetworkView& published, const Policy& candidate, const NetworkView& view) {
  Policy now = current;
  ValueOn(view, {}, now);
  return Judge(now, published, candidate, view);
}

TEST(JudgeTest, AdoptsWhatPromisesAGain) {
  const NetworkView before = Internet2Network();
  const Policy current = *MakePolicy(before, {});
  EXPECT_EQ(JudgeOn(current, before, current, before).kind, Verdict::Kind::kKeep);
  // The most loaded link drops to a tenth.
  const std::vector<double> loads = LinkLoads(current, before);
  size_t busiest = 0;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] / before.links()[i].throughput_bps > loads[busiest] / before.links()[busiest].throughput_bps)
      busiest = i;
  }
  const NetworkLink slow = before.links()[busiest];
  const NetworkView after = Scaled(
      before, [&slow](const NetworkLink& link) { return link.from == slow.from && link.to == slow.to ? 0.1 : 1; });
  const Policy candidate = *MakePolicy(after, {});
  const Verdict verdict = JudgeOn(current, before, candidate, after);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kAdopt);
  EXPECT_THAT(verdict.why, HasSubstr("times as high are promised"));
}

TEST(JudgeTest, RoundsCountMoreThanRatesOnceTheModelIsKnown) {
  const NetworkView view = Internet2Network();
  Policy slow = *MakePolicy(view, {});
  Policy fast = slow;
  fast.auxiliary_rate_bps *= 0.9;
  slow.round_time = absl::Milliseconds(112);
  fast.round_time = absl::Milliseconds(100);
  EXPECT_EQ(Judge(slow, view, fast, view).kind, Verdict::Kind::kAdopt);
  EXPECT_THAT(Judge(slow, view, fast, view).why, HasSubstr("0.1 instead of 0.112 s a round are promised"));
  slow.round_time = absl::Milliseconds(109);
  EXPECT_EQ(Judge(slow, view, fast, view).kind, Verdict::Kind::kKeep);
}

TEST(JudgeTest, NoiseFlipsNothing) {
  const NetworkView truth = Internet2Network();
  const Policy current = *MakePolicy(truth, {});
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const NetworkView noisy =
        Scaled(truth, [&random](const NetworkLink&) { return 1 + 0.05 * (2 * random.Unit() - 1); });
    EXPECT_EQ(JudgeOn(current, truth, *MakePolicy(noisy, {}), noisy).kind, Verdict::Kind::kKeep);
  }
}

TEST(JudgeTest, AuxiliaryPathsChangeWhenTheyBecomeBetterOrTheirRatesStale) {
  const NetworkView before = CompleteNetwork(4, 10);
  Policy current = *MakePolicy(before, {});
  const NodeId a(1), b(2), c(3), d(4);
  current.auxiliary = {Route{a, b, {a, c, b}}};
  const NetworkView slower =
      Scaled(before, [&](const NetworkLink& link) { return link.from == a && link.to == c ? 0.2 : 1; });
  Policy other = current;
  other.auxiliary = {Route{a, b, {a, d, b}}};
  EXPECT_EQ(JudgeOn(current, before, other, before).kind, Verdict::Kind::kKeep);
  EXPECT_EQ(PathRateBps({a, c, b}, slower), 2e6);
  // Trees that would use the slow link are not compared here.
  current.trees = other.trees = {Tree{b, 1, {{a, b}, {c, b}, {d, b}}, {{a, b}, {c, b}, {d, b}}}};
  current.auxiliary_rate_bps = other.auxiliary_rate_bps = 0;
  EXPECT_EQ(JudgeOn(current, before, other, slower).kind, Verdict::Kind::kAdopt);
  current.auxiliary[0].share = 0.2;
  EXPECT_EQ(Judge(current, before, current, slower).kind, Verdict::Kind::kRefresh);
  EXPECT_EQ(Judge(current, slower, current, slower).kind, Verdict::Kind::kKeep);
  current.auxiliary[0].share = kLeastAuxiliaryShare / 2;
  EXPECT_EQ(Judge(current, before, current, slower).kind, Verdict::Kind::kKeep);
}

TEST(FormulationTest, AJobThatBeginsPlansAsSoonAsItHasLearned) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  formulation.NoteBeginning(kStart);
  formulation.NotePlanned(kStart);
  EXPECT_FALSE(formulation.LookForReason(kStart + kLearningPause / 2, ChangedTable(9), RoundTimes()).has_value());
  EXPECT_FALSE(formulation.LookForReason(kStart + kLearningPause, ChangedTable(9.7), RoundTimes()).has_value())
      << "too little";
  const auto reason = formulation.LookForReason(kStart + 2 * kLearningPause, ChangedTable(6), RoundTimes());
  ASSERT_TRUE(reason.has_value());
  EXPECT_EQ(reason->least_gain, kLearningGain);
}

TEST(FormulationTest, LearningEndsAfterItsTimeAndRounds) {
  Formulation formulation(Every(absl::Seconds(5)), {});
  EXPECT_FALSE(formulation.IsLearning(kStart, 0)) << "a job that was restored has learned";
  formulation.NoteBeginning(kStart);
  EXPECT_TRUE(formulation.IsLearning(kStart + absl::Hours(1), kLearningRounds - 1));
  EXPECT_TRUE(formulation.IsLearning(kStart + kLearningTime / 2, kLearningRounds));
  EXPECT_FALSE(formulation.IsLearning(kStart + kLearningTime, kLearningRounds));
  AwarenessConfig blind;
  blind.enabled = false;
  Formulation never(Every(absl::Seconds(5)), blind);
  never.NoteBeginning(kStart);
  EXPECT_FALSE(never.IsLearning(kStart, 0));
}

}  // namespace
}  // namespace banyan
