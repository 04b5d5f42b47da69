#include "gtest/gtest.h"
#include "sim/checkers/policy_checker.h"

namespace banyan {
namespace {

constexpr Term kTerm(1);

BoundLeases::Bound Under(uint64_t policy) { return {PolicyVersion(policy), Attempt(0)}; }

// Returns the round of the conflict; 0 without one.
uint64_t Bind(BoundLeases& leases, uint64_t first, uint64_t last, uint64_t policy, Term term = kTerm,
              Round promised = Round(1)) {
  // Each policy has a cut of its own.
  const auto conflict = leases.Bind(Round(first), Round(last), Under(policy), term, [&](Round moved) {
    return moved >= promised ? BoundLeases::Cut(kTerm, policy) : BoundLeases::Cut();
  });
  return conflict.has_value() ? conflict->round.value() : 0;
}

TEST(BoundLeasesTest, TheSameMayBeSaidInOtherPieces) {
  BoundLeases leases;
  EXPECT_EQ(Bind(leases, 3, 9, 1), 0u);
  EXPECT_EQ(Bind(leases, 1, 5, 1), 0u);
  EXPECT_EQ(Bind(leases, 8, 12, 1), 0u);
  EXPECT_EQ(leases.Use(Round(12)), Under(1));
  EXPECT_FALSE(leases.Use(Round(13)).has_value());
  uint64_t rounds = 0;
  for (const auto& [first, lease] : leases.leases()) rounds += lease.last.value() - first.value() + 1;
  EXPECT_EQ(rounds, 12u);
}

TEST(BoundLeasesTest, WhatNobodyHasBegunMayGoToALaterPolicy) {
  BoundLeases leases;
  EXPECT_EQ(Bind(leases, 1, 9, 1), 0u);
  EXPECT_EQ(leases.Use(Round(4)), Under(1));
  EXPECT_EQ(Bind(leases, 5, 9, 2), 0u);
  EXPECT_EQ(leases.Use(Round(4)), Under(1));
  EXPECT_EQ(leases.Use(Round(5)), Under(2));
}

TEST(BoundLeasesTest, ABegunRoundAndAnEarlierPolicyConflict) {
  BoundLeases leases;
  Bind(leases, 1, 9, 2);
  leases.Use(Round(4));
  EXPECT_EQ(Bind(leases, 4, 9, 3), 4u);
  EXPECT_EQ(Bind(leases, 7, 8, 1), 7u);
}

TEST(BoundLeasesTest, WhatSomebodyHasNotPromisedMayNotMove) {
  BoundLeases leases;
  Bind(leases, 1, 9, 1);
  EXPECT_EQ(Bind(leases, 5, 9, 2, kTerm, Round(6)), 5u);
  EXPECT_EQ(Bind(leases, 8, 9, 3, kTerm, Round(6)), 0u);
}

TEST(BoundLeasesTest, WhoLeadsNoMoreNeedNotKnow) {
  BoundLeases leases;
  Bind(leases, 1, 9, 1);
  EXPECT_EQ(Bind(leases, 5, 9, 2, Term(2)), 0u);
  EXPECT_EQ(Bind(leases, 1, 9, 1), 0u);
  EXPECT_EQ(leases.Use(Round(6)), Under(2));
}

}  // namespace
}  // namespace banyan
