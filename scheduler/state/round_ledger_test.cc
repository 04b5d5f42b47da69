#include "scheduler/state/round_ledger.h"

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr KeyId kKey = KeyId(3);

BoundRounds Lease(uint64_t first, uint64_t last, uint64_t policy = 1) {
  return {kKey, Round(first), Round(last), PolicyVersion(policy), Attempt(0)};
}

TEST(RoundLedgerTest, ALeaseGoesWithItsLastOpenRound) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind(Lease(1, 2, 4)));
  EXPECT_TRUE(ledger.Bind(Lease(3, 3, 5)));
  EXPECT_TRUE(ledger.Close(kKey, Round(2)));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(1, 2, 4), Lease(3, 3, 5)));
  EXPECT_EQ(ledger.leases().OldestPolicy(), PolicyVersion(4));
  EXPECT_TRUE(ledger.Close(kKey, Round(1)));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(3, 3, 5)));
  EXPECT_EQ(ledger.leases().OldestPolicy(), PolicyVersion(5));
  EXPECT_TRUE(ledger.Close(kKey, Round(3)));
  EXPECT_THAT(ledger.OpenBindings(), IsEmpty());
  EXPECT_FALSE(ledger.leases().OldestPolicy().has_value());
}

TEST(RoundLedgerTest, ACutGivesTheRestToALaterPolicy) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind(Lease(1, 9, 4)));
  EXPECT_TRUE(ledger.Bind(Lease(10, 12, 6)));
  EXPECT_TRUE(ledger.Close(kKey, Round(1)));
  EXPECT_TRUE(ledger.Cut(kKey, Round(3), PolicyVersion(6)));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(1, 2, 4), Lease(3, 9, 6), Lease(10, 12, 6)));
  EXPECT_TRUE(ledger.Close(kKey, Round(2)));
  EXPECT_EQ(ledger.leases().OldestPolicy(), PolicyVersion(6));
  EXPECT_TRUE(ledger.Cut(kKey, Round(3), PolicyVersion(7)));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(3, 9, 7), Lease(10, 12, 7)));
  EXPECT_TRUE(ledger.Close(kKey, Round(4)));
  EXPECT_TRUE(ledger.Cut(kKey, Round(11), PolicyVersion(8), PrecisionRoute::kLowBit, 4000));
  EXPECT_EQ(ledger.OpenBindings().back(),
            (BoundRounds{kKey, Round(11), Round(12), PolicyVersion(8), Attempt(0), 4000, PrecisionRoute::kLowBit}));
  EXPECT_FALSE(ledger.Cut(kKey, Round(4), PolicyVersion(8))) << "a closed round";
  EXPECT_FALSE(ledger.Cut(kKey, Round(13), PolicyVersion(8))) << "nothing is bound there";
  EXPECT_FALSE(ledger.Cut(kKey, Round(5), PolicyVersion(7))) << "no earlier policy governs anything";
  EXPECT_FALSE(ledger.Cut(KeyId(4), Round(5), PolicyVersion(8)));
}

TEST(RoundLedgerTest, WhatIsCutKeepsItsAttemptAndTakesNewChunks) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind({kKey, Round(1), Round(9), PolicyVersion(3), Attempt(2), 100}));
  EXPECT_TRUE(ledger.Bind({kKey, Round(10), Round(12), PolicyVersion(4), Attempt(0)}));
  EXPECT_TRUE(ledger.Bind({kKey, Round(13), Round(14), PolicyVersion(5), Attempt(0)}));
  EXPECT_TRUE(ledger.Cut(kKey, Round(4), PolicyVersion(5)));
  EXPECT_THAT(ledger.OpenBindingsOf(kKey),
              ElementsAre(BoundRounds{kKey, Round(1), Round(3), PolicyVersion(3), Attempt(2), 100},
                          BoundRounds{kKey, Round(4), Round(9), PolicyVersion(5), Attempt(2), 0},
                          BoundRounds{kKey, Round(10), Round(12), PolicyVersion(5), Attempt(0), 0},
                          BoundRounds{kKey, Round(13), Round(14), PolicyVersion(5), Attempt(0), 0}));
  for (uint64_t round = 1; round <= 3; ++round) EXPECT_TRUE(ledger.Close(kKey, Round(round)));
  EXPECT_EQ(ledger.leases().OldestPolicy(), PolicyVersion(5));
  EXPECT_EQ(ledger.leases().size(), 3u);
  EXPECT_FALSE(ledger.Cut(kKey, Round(4), PolicyVersion(5))) << "nothing is left to move";
}

TEST(RoundLedgerTest, ACutAfterTheLastRoundMovesNothingAndOneAtTheOldestOpenRoundAll) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind(Lease(1, 4, 3)));
  EXPECT_TRUE(ledger.Close(kKey, Round(1)));
  EXPECT_FALSE(ledger.Cut(kKey, Round(5), PolicyVersion(5)));
  EXPECT_EQ(ledger.leases().OldestPolicy(), PolicyVersion(3));
  EXPECT_TRUE(ledger.Cut(kKey, Round(2), PolicyVersion(5), PrecisionRoute::kLowBit, 4000));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(BoundRounds{kKey, Round(2), Round(4), PolicyVersion(5), Attempt(0),
                                                             4000, PrecisionRoute::kLowBit}));
  for (uint64_t round = 2; round <= 4; ++round) EXPECT_TRUE(ledger.Close(kKey, Round(round)));
  EXPECT_EQ(ledger.leases().size(), 0u);
}

TEST(RoundLedgerTest, ARestoredLeaseGoesWhenAllItsRoundsAreClosed) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind(Lease(1, 3, 2)));
  EXPECT_TRUE(ledger.Bind(Lease(4, 6, 3)));
  EXPECT_TRUE(ledger.RestoreClosed(kKey, ClosedRounds{Round(4), {Round(5)}}));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(4, 6, 3)));
  EXPECT_EQ(ledger.Find(kKey, Round(3)), std::nullopt);
  EXPECT_EQ(ledger.Find(kKey, Round(5)), Lease(4, 6, 3));
  EXPECT_EQ(ledger.ClosedOf(kKey).first_open, Round(4));
  EXPECT_EQ(ledger.AfterClosed(kKey), Round(6));
  EXPECT_EQ(ledger.AfterClosed(KeyId(9)), Round(0));
  EXPECT_TRUE(ledger.Close(kKey, Round(4)));
  EXPECT_EQ(ledger.ClosedOf(kKey).first_open, Round(6));
}

TEST(RoundLedgerTest, RefusesWhatContradicts) {
  RoundLedger ledger;
  EXPECT_FALSE(ledger.Bind(Lease(2, 1)));
  EXPECT_TRUE(ledger.Bind(Lease(2, 4)));
  EXPECT_FALSE(ledger.Bind(Lease(4, 5)));
  EXPECT_FALSE(ledger.Bind(Lease(1, 9)));
  EXPECT_FALSE(ledger.Close(kKey, Round(5)));
  EXPECT_FALSE(ledger.Close(KeyId(4), Round(2)));
  EXPECT_TRUE(ledger.Close(kKey, Round(3)));
  EXPECT_FALSE(ledger.Close(kKey, Round(3)));
  EXPECT_FALSE(ledger.Bind(Lease(3, 3)));
  EXPECT_FALSE(ledger.RestoreClosed(kKey, ClosedRounds()));
  EXPECT_THAT(ledger.OpenBindings(), ElementsAre(Lease(2, 4)));
}

TEST(RoundLedgerTest, APlanTakesThePlaceOfAllLeases) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind(Lease(1, 4)));
  EXPECT_TRUE(ledger.Close(kKey, Round(3)));
  EpochPlanRecord plan = {Epoch(2), PolicyVersion(5), {{kKey, kKey.Next(), Round(2)}}, {}};
  plan.bindings = {{kKey, kKey, Round(2), Round(2), Attempt(1), 100},
                   {kKey, kKey, Round(4), Round(4), Attempt(1), 100}};
  EXPECT_TRUE(ledger.Rebind(plan));
  EXPECT_THAT(ledger.OpenBindings(),
              ElementsAre(BoundRounds{kKey, Round(2), Round(2), PolicyVersion(5), Attempt(1), 100},
                          BoundRounds{kKey, Round(4), Round(4), PolicyVersion(5), Attempt(1), 100}));
  EXPECT_EQ(ledger.closed().at(kKey), (ClosedRounds{Round(2), {Round(3)}}));
  EXPECT_EQ(ledger.closed().at(kKey.Next()), (ClosedRounds{Round(2), {}}));
  plan.bindings = {{kKey, kKey, Round(3), Round(3), Attempt(1), 100}};
  EXPECT_FALSE(ledger.Rebind(plan)) << "it is closed";
}

TEST(RoundLedgerTest, ClosedRoundsCostNothing) {
  RoundLedger ledger;
  for (uint64_t round = 0; round < 1000; ++round) {
    EXPECT_TRUE(ledger.Bind(Lease(round, round)));
    EXPECT_TRUE(ledger.Close(kKey, Round(round)));
  }
  EXPECT_EQ(ledger.closed().at(kKey), (ClosedRounds{Round(1000), {}}));
  EXPECT_THAT(ledger.OpenBindings(), IsEmpty());
}

TEST(RoundLedgerTest, OpenLeasesAndClosedRoundsBringItBack) {
  Random random(3);
  RoundLedger ledger;
  for (uint64_t first = 0; first < 2000;) {
    const uint64_t last = first + random.Below(5);
    EXPECT_TRUE(ledger.Bind(Lease(first, last, 1 + first / 100)));
    for (uint64_t round = first > 50 ? first - 50 : 0; round <= last; ++round) {
      if (random.Chance(0.2)) ledger.Close(kKey, Round(round));
    }
    first = last + 1;
    RoundLedger restored;
    for (const BoundRounds& binding : ledger.OpenBindings()) EXPECT_TRUE(restored.Bind(binding));
    for (const auto& [key, closed] : ledger.closed()) EXPECT_TRUE(restored.RestoreClosed(key, closed));
    ASSERT_EQ(restored, ledger);
  }
}

}  // namespace
}  // namespace banyan
