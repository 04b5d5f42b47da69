// Precision routes through a whole scheduler: they follow the training, change between rounds, and survive a restart.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum PrecisionRoute;

constexpr char kLongLeases[] = "topology: {planner: fapt}\npolicy: {lease_seconds: 60}\n";
const ConnectionId kWatcher(kInboundConnection.value() + 99);

SchedulerOptions Options(const StoredRecords& stored = {}) {
  SchedulerOptions options{.stored = stored, .start = StartId(stored.tail.size() + 1)};
  options.precision.emplace();
  OperatingProfile& profile = options.precision->profile;
  profile.name = "small";
  profile.admission.warmup_steps = 2;
  profile.detector = {0.01, 0.5, 1};
  profile.recovery = {2, 1, 4, 2};
  profile.has_guard = false;
  options.precision->binding =
      PrecisionBinding("model", {}, {{"w", 10, {{0, 10, TensorRole::kEncoder, true, {}, ""}}}});
  return options;
}

class SchedulerPrecisionTest : public ::testing::Test {
 protected:
  SchedulerPrecisionTest() {
    harness_.StartJob(3);
    key_ = harness_.AddKey("w", 10);
  }
  void Step(SchedulerHarness& harness, int64_t step, double loss) {
    for (int node = 1; node <= 3; ++node)
      harness.Receive(node, HealthReport{WorkerId(0), {.step = step, .loss = loss}});
  }
  // All say that they have begun no round from this one on, in the cut of this number.
  void Bound(SchedulerHarness& harness, uint64_t cut, uint64_t round) {
    for (int node = 1; node <= 3; ++node) {
      ASSERT_FALSE(harness.Sent<CutSought>(node).empty());
      const CutSought sought = harness.Sent<CutSought>(node).back();
      EXPECT_EQ(sought.cut, CutId(cut));
      harness.Receive(node, CutBound{sought.term, sought.epoch, sought.cut, {{key_, Round(round)}}});
    }
  }
  PolicyAnswer::Binding BindingOf(SchedulerHarness& harness, uint64_t round) {
    harness.ForgetSent();
    harness.Receive(1, PolicyRequest{{{key_, Round(round)}}});
    const std::vector<PolicyAnswer> answers = harness.Sent<PolicyAnswer>(1);
    return answers.empty() ? PolicyAnswer::Binding() : answers.back().bindings.back();
  }
  KeyRoutes RouteOf(uint64_t round) { return BindingOf(harness_, round).route; }
  std::string Status() {
    harness_.Receive(kWatcher, StatusRequest{});
    return StatusJson(*harness_.Sent<StatusReply>(kWatcher).back().status);
  }
  // The warm-up is over while rounds 0 to 2 run.
  void WarmUp() {
    RouteOf(0);
    RouteOf(1);
    Step(harness_, 1, 1);
    Step(harness_, 2, 0.9);
    Bound(harness_, 1, 3);
  }

  SchedulerHarness harness_{MeshOverlay(3, kLongLeases), Options()};
  KeyId key_;
};

TEST_F(SchedulerPrecisionTest, NodesHearTheRulesOfVotes) {
  SchedulerHarness fresh(MeshOverlay(3, kLongLeases), Options());
  fresh.JoinAll(3);
  EXPECT_EQ(fresh.Sent<JoinAccepted>(1)[0].config.low_bit, VoteRules());
}

TEST_F(SchedulerPrecisionTest, RoundsGoLowBitWhenTheWarmUpIsOver) {
  WarmUp();
  EXPECT_EQ(RouteOf(2), kPlain) << "somebody has begun it";
  EXPECT_EQ(RouteOf(3), kLowBit);
  EXPECT_EQ(RouteOf(0), kPlain);
}

TEST_F(SchedulerPrecisionTest, AVetoHoldsFromTheFirstRoundThatNobodyHasBegun) {
  WarmUp();
  EXPECT_EQ(BindingOf(harness_, 3).policy, PolicyVersion(1)) << "other routes need no other policy";
  for (const uint64_t round : {0, 1, 2, 3}) harness_.CloseRound(key_, Round(round), 3);
  Step(harness_, 4, 9);
  Bound(harness_, 2, 5);
  EXPECT_EQ(RouteOf(4), kLowBit);
  EXPECT_EQ(RouteOf(5), kFallback);
  harness_.CloseRound(key_, Round(4), 3);
  harness_.CloseRound(key_, Round(5), 3);
  EXPECT_THAT(Status(), HasSubstr(R"("candidates":{"low_bit":2,"fallback":1,"plain":2,)"));
  EXPECT_THAT(Status(), HasSubstr(R"("veto":"cooldown")"));
}

// Few rounds of a lease are left, and no other policy would be worth a cut.
TEST_F(SchedulerPrecisionTest, AVetoCutsTheEndOfALeaseToo) {
  WarmUp();
  const uint64_t last = BindingOf(harness_, 3).last_round.value();
  for (uint64_t round = 0; round + 2 <= last; ++round) harness_.CloseRound(key_, Round(round), 3);
  Step(harness_, 4, 9);
  Bound(harness_, 2, last);
  EXPECT_EQ(RouteOf(last), kFallback);
}

TEST_F(SchedulerPrecisionTest, AnOperatorsVetoHoldsFromTheFirstRoundThatNobodyHasBegunUntilItIsLifted) {
  WarmUp();
  harness_.Receive(kWatcher, VetoLowBit{{"encodr"}});
  EXPECT_THAT(harness_.Sent<OperatorReply>(kWatcher).back().text,
              HasSubstr("expected scopes of the binding (encoder), got 'encodr'"));
  EXPECT_EQ(RouteOf(3), kLowBit);
  harness_.Receive(kWatcher, VetoLowBit{});
  EXPECT_EQ(harness_.Sent<OperatorReply>(kWatcher).back(), (OperatorReply{true, "vetoed by order: encoder"}));
  Bound(harness_, 2, 4);
  EXPECT_EQ(RouteOf(3), kLowBit) << "somebody has begun it";
  EXPECT_EQ(RouteOf(4), kFallback);
  EXPECT_THAT(Status(), HasSubstr(R"("vetoed_by_order":["encoder"])"));
  SchedulerHarness next(MeshOverlay(3, kLongLeases), Options(harness_.stored()));
  next.JoinAll(3);
  next.Receive(kWatcher, VetoLowBit{{"encoder"}, true});
  EXPECT_EQ(next.Sent<OperatorReply>(kWatcher).back(), (OperatorReply{true, "no scope is vetoed by order"}))
      << "a restart has kept it";
}

TEST_F(SchedulerPrecisionTest, ABindingThatIsEditedBetweenStartsChangesNoSlice) {
  SchedulerOptions options = Options(harness_.stored());
  options.precision->binding =
      PrecisionBinding("edited", {}, {{"w", 10, {{0, 4, TensorRole::kEncoder, true, {}, ""}}}});
  SchedulerHarness next(MeshOverlay(3, kLongLeases), options);
  EXPECT_TRUE(next.HasLog("'w' is divided nowhere, and the binding divides it at 4"));
  next.JoinAll(3);
  ASSERT_FALSE(next.Sent<KeysAssigned>(1).empty());
  EXPECT_EQ(next.Sent<KeysAssigned>(1).back().keys, harness_.Sent<KeysAssigned>(1).back().keys);
  EXPECT_EQ(BindingOf(next, 1).route, kPlain);
  // A key that comes now has the slices of the edited binding, also for a scheduler that reads the former one.
  options.precision->binding =
      PrecisionBinding("edited", {}, {{"v", 10, {{0, 4, TensorRole::kEncoder, true, {}, ""}}}});
  SchedulerHarness third(MeshOverlay(3, kLongLeases), options);
  third.JoinAll(3);
  third.AddKey("v", 10);
  SchedulerHarness last(MeshOverlay(3, kLongLeases), Options(third.stored()));
  last.JoinAll(3);
  const std::vector<KeySlice> keys = last.Sent<KeysAssigned>(1).back().keys;
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_THAT(keys[1].borders, ElementsAre(4));
}

TEST_F(SchedulerPrecisionTest, LeasesEndWhereAnEditedBindingHasOtherRoutes) {
  WarmUp();
  ASSERT_EQ(RouteOf(3), kLowBit);
  SchedulerOptions options = Options(harness_.stored());
  options.precision->binding =
      PrecisionBinding("edited", {}, {{"w", 10, {{0, 10, TensorRole::kEncoder, false, {}, ""}}}});
  SchedulerHarness next(MeshOverlay(3, kLongLeases), options);
  next.JoinAll(3);
  Bound(next, 1, 5);
  EXPECT_EQ(BindingOf(next, 4).route, kLowBit) << "somebody has begun it";
  EXPECT_EQ(BindingOf(next, 5).route, kPlain);
}

TEST_F(SchedulerPrecisionTest, ARestartKeepsRoutes) {
  WarmUp();
  const uint64_t last = BindingOf(harness_, 3).last_round.value();
  SchedulerHarness next(MeshOverlay(3, kLongLeases), Options(harness_.stored()));
  next.JoinAll(3);
  EXPECT_EQ(BindingOf(next, 2).route, kPlain);
  EXPECT_EQ(BindingOf(next, 3).route, kLowBit);
  for (uint64_t round = 0; round <= last; ++round) next.CloseRound(key_, Round(round), 3);
  EXPECT_EQ(BindingOf(next, last + 1).route, kLowBit) << "without another warm-up";
  EXPECT_FALSE(next.HasLog("precision routes"));
}

}  // namespace
}  // namespace banyan
