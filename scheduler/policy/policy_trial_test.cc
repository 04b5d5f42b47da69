#include "scheduler/policy/policy_trial.h"

#include "gtest/gtest.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr absl::Duration kPredicted = absl::Seconds(1);
constexpr absl::Duration kTook = absl::Seconds(2);
constexpr absl::Duration kLongEnough = absl::Minutes(1);

Timestamp At(absl::Duration time) { return Timestamp() + time; }

std::vector<absl::Duration> Rounds(std::vector<double> seconds) {
  std::vector<absl::Duration> rounds;
  for (const double round : seconds) rounds.push_back(absl::Seconds(round));
  return rounds;
}

Policy PolicyOf(uint64_t version) {
  Policy policy;
  policy.version = PolicyVersion(version);
  return policy;
}

// The links with all rates times a factor.
NetworkView Times(double factor) {
  const NetworkView view = Internet2Network();
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) link.throughput_bps *= factor;
  return *NetworkView::Create({view.nodes().begin(), view.nodes().end()}, links);
}

bool Holds(PolicyTrial& trial, Timestamp now, absl::Span<const absl::Duration> rounds, const NetworkView& view) {
  return !trial.WhyHeld(now, rounds, kLongEnough, view).empty();
}

class PolicyTrialTest : public testing::Test {
 protected:
  PolicyTrialTest() { trial_.Begin(PolicyOf(1), Times(1), kPredicted, kTook); }

  // As often as told, from now on.
  void TakeBack(absl::Duration at) {
    trial_.Begin(PolicyOf(1), Times(1), kPredicted, kTook);
    ASSERT_TRUE(trial_.End(At(at), slow_, kPredicted, Times(1)));
  }

  const std::vector<absl::Duration> slow_ = Rounds({2.5, 2.4, 2.6, 2.5});
  const std::vector<absl::Duration> fast_ = Rounds({2.0, 1.9, 2.1, 2.0});
  PolicyTrial trial_;
};

TEST_F(PolicyTrialTest, WithoutAFormerPolicyThereIsNone) {
  PolicyTrial none;
  EXPECT_FALSE(none.LooksSlower(slow_, kLongEnough));
  EXPECT_FALSE(Holds(none, At(kLongEnough), slow_, Times(1)));
}

TEST_F(PolicyTrialTest, ItTakesRoundsAndTime) {
  EXPECT_FALSE(trial_.LooksSlower(Rounds({2.5, 2.5, 2.5}), kLongEnough));
  EXPECT_FALSE(trial_.LooksSlower(slow_, PolicyTrial::kLeastTime / 2));
  EXPECT_TRUE(trial_.LooksSlower(slow_, kLongEnough));
}

TEST_F(PolicyTrialTest, ASlowerPolicyIsTakenBack) {
  ASSERT_TRUE(trial_.LooksSlower(slow_, kLongEnough));
  EXPECT_EQ(trial_.former()->version, PolicyVersion(1));
  EXPECT_TRUE(trial_.End(At(kLongEnough), slow_, kPredicted, Times(1)));
  EXPECT_EQ(trial_.former(), std::nullopt);
  EXPECT_EQ(trial_.taken_back(), 1u);
}

TEST_F(PolicyTrialTest, AFasterOnePasses) {
  EXPECT_FALSE(trial_.LooksSlower(fast_, kLongEnough));
  EXPECT_FALSE(trial_.LooksSlower(slow_, kLongEnough)) << "its trial is over";
  EXPECT_EQ(trial_.taken_back(), 0u);
}

TEST_F(PolicyTrialTest, NoiseIsNoReason) {
  EXPECT_FALSE(trial_.LooksSlower(Rounds({2.1, 2.15, 2.1, 2.19}), kLongEnough)) << "less than a tenth";
}

TEST_F(PolicyTrialTest, OneRoundAsFastAsBeforeIsEnough) {
  EXPECT_FALSE(trial_.LooksSlower(Rounds({3, 2, 3, 3}), kLongEnough));
}

TEST_F(PolicyTrialTest, LinksThatWouldSlowTheFormerPolicyTooExplainIt) {
  ASSERT_TRUE(trial_.LooksSlower(slow_, kLongEnough));
  EXPECT_FALSE(trial_.End(At(kLongEnough), slow_, 1.3 * kPredicted, Times(0.7)));
  EXPECT_EQ(trial_.taken_back(), 0u);
  EXPECT_FALSE(Holds(trial_, At(kLongEnough), fast_, Times(1)));
}

TEST_F(PolicyTrialTest, LinksThatExplainAPartOfItDoNot) {
  EXPECT_TRUE(trial_.End(At(kLongEnough), slow_, 1.05 * kPredicted, Times(0.95)));
}

TEST_F(PolicyTrialTest, AFormerPolicyThatNoLongerWorksDoesNotComeBack) {
  EXPECT_FALSE(trial_.End(At(kLongEnough), slow_, absl::InfiniteDuration(), Times(1)));
}

TEST_F(PolicyTrialTest, OfSeveralOnTrialTheOneBeforeThemComesBack) {
  trial_.Begin(PolicyOf(2), Times(1), kPredicted, 2 * kTook);
  EXPECT_EQ(trial_.former()->version, PolicyVersion(1));
  EXPECT_EQ(trial_.took(), kTook);
}

// Or policies would follow each other so soon that no trial ends.
TEST_F(PolicyTrialTest, DuringATrialPlansAreHeldButNotForEver) {
  const absl::Duration patience = PolicyTrial::kPatience * kTook;
  EXPECT_FALSE(trial_.WhyHeld(At(patience), {}, absl::ZeroDuration(), Times(1)).empty());
  EXPECT_FALSE(trial_.WhyHeld(At(patience), slow_, 0.9 * patience, Times(3)).empty());
  EXPECT_TRUE(trial_.WhyHeld(At(patience), slow_, patience, Times(1)).empty());
}

TEST_F(PolicyTrialTest, PlansAreHeldForAWhile) {
  TakeBack(absl::ZeroDuration());
  EXPECT_TRUE(Holds(trial_, At(0.9 * PolicyTrial::kFirstHold), fast_, Times(1.5)));
  EXPECT_FALSE(Holds(trial_, At(PolicyTrial::kFirstHold), fast_, Times(1)));
}

TEST_F(PolicyTrialTest, EachTimeForTwiceAsLong) {
  TakeBack(absl::ZeroDuration());
  TakeBack(absl::Hours(1));
  EXPECT_TRUE(Holds(trial_, At(absl::Hours(1) + 1.9 * PolicyTrial::kFirstHold), fast_, Times(1)));
  for (int i = 2; i < 10; ++i) TakeBack(absl::Hours(i));
  EXPECT_TRUE(Holds(trial_, At(absl::Hours(9) + 0.9 * PolicyTrial::kLongestHold), fast_, Times(1)));
  EXPECT_FALSE(Holds(trial_, At(absl::Hours(9) + PolicyTrial::kLongestHold), fast_, Times(1)));
}

TEST_F(PolicyTrialTest, RoundsThatBecomeSlowEndTheHold) {
  TakeBack(absl::ZeroDuration());
  EXPECT_TRUE(Holds(trial_, At(kLongEnough), Rounds({2, 2, 2, 2, 2.5}), Times(1)));
  EXPECT_FALSE(Holds(trial_, At(kLongEnough), Rounds({2, 2, 2.5, 2.5, 2.5, 2.5}), Times(1)));
  EXPECT_FALSE(Holds(trial_, At(kLongEnough), fast_, Times(1))) << "it is over";
}

TEST_F(PolicyTrialTest, ALinkThatBecomesMuchFasterEndsTheHold) {
  TakeBack(absl::ZeroDuration());
  EXPECT_TRUE(Holds(trial_, At(kLongEnough), fast_, Times(1.9)));
  EXPECT_FALSE(Holds(trial_, At(kLongEnough), fast_, Times(2.1)));
}

TEST_F(PolicyTrialTest, AnotherModelForgetsAll) {
  TakeBack(absl::ZeroDuration());
  trial_.Begin(PolicyOf(2), Times(1), kPredicted, kTook);
  trial_.Forget();
  EXPECT_FALSE(trial_.LooksSlower(slow_, kLongEnough));
  EXPECT_FALSE(Holds(trial_, At(kLongEnough), fast_, Times(1)));
}

}  // namespace
}  // namespace banyan
