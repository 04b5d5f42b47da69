#include "node/rounds/key_rounds.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A round that was open and is complete.
void Complete(KeyRounds& rounds, uint64_t round) {
  rounds.FindOrAdd(Round(round)).open = true;
  rounds.Complete(Round(round));
}

TEST(KeyRoundsTest, RoundsMayCompleteInAnyOrder) {
  KeyRounds rounds;
  EXPECT_EQ(rounds.next_complete(), Round(0));
  rounds.FindOrAdd(Round(0)).open = true;
  Complete(rounds, 1);
  EXPECT_EQ(rounds.next_complete(), Round(0));
  Complete(rounds, 0);
  EXPECT_EQ(rounds.next_complete(), Round(2));
}

TEST(KeyRoundsTest, RoundsMayCloseInAnyOrder) {
  KeyRounds rounds;
  for (uint64_t round : {0, 1, 2}) Complete(rounds, round);
  EXPECT_EQ(rounds.Close(Round(1)), std::nullopt);
  EXPECT_EQ(rounds.next_closed(), Round(0));
  EXPECT_EQ(rounds.Close(Round(0)), Round(1));
  EXPECT_EQ(rounds.next_closed(), Round(2));
}

TEST(KeyRoundsTest, ARoundThatIsNotCompleteHereDoesNotClose) {
  KeyRounds rounds;
  rounds.FindOrAdd(Round(0)).contribution.emplace();
  EXPECT_EQ(rounds.Close(Round(0)), std::nullopt);
  EXPECT_EQ(rounds.Close(Round(7)), std::nullopt);
  EXPECT_TRUE(rounds.Find(Round(0))->contribution.has_value());
  EXPECT_EQ(rounds.Find(Round(7)), nullptr);
}

TEST(KeyRoundsTest, AContributionsValuesAreKeptUntilItsRoundIsComplete) {
  KeyRounds rounds;
  rounds.FindOrAdd(Round(0)).contribution = Contribution{RoundKind::kAggregate, Buffer::CopyOf({1, 2}), 1, 0};
  EXPECT_FALSE(rounds.IsIdle());
  EXPECT_EQ(rounds.Find(Round(0))->contribution->values.elements(), 2);
  Complete(rounds, 0);
  EXPECT_TRUE(rounds.Find(Round(0))->contribution.has_value());
  EXPECT_EQ(rounds.Find(Round(0))->contribution->values.elements(), 0);
  EXPECT_FALSE(rounds.IsIdle());
  rounds.Close(Round(0));
  EXPECT_FALSE(rounds.Find(Round(0))->contribution.has_value());
  EXPECT_TRUE(rounds.IsIdle());
}

TEST(KeyRoundsTest, TheNewestResultStaysUntilTheNextRoundOpens) {
  KeyRounds rounds;
  Complete(rounds, 0);
  rounds.Close(Round(0));
  rounds.FindOrAdd(Round(1));
  rounds.DropOld();
  EXPECT_NE(rounds.Find(Round(0)), nullptr);
  rounds.FindOrAdd(Round(1)).open = true;
  rounds.DropOld();
  EXPECT_EQ(rounds.Find(Round(0)), nullptr);
  EXPECT_NE(rounds.Find(Round(1)), nullptr);
}

TEST(KeyRoundsTest, ANewMemberBeginsWithTheFirstOpenRound) {
  KeyRounds rounds;
  rounds.FindOrAdd(Round(0)).contribution.emplace();
  rounds.Rebase(Round(7));
  EXPECT_EQ(rounds.Find(Round(0)), nullptr);
  EXPECT_EQ(rounds.next_complete(), Round(7));
  EXPECT_TRUE(rounds.HasRoomFor(Round(7), 1));
  EXPECT_FALSE(rounds.HasRoomFor(Round(8), 1));
  EXPECT_TRUE(rounds.IsIdle());
}

TEST(KeyRoundsTest, ARebaseClosesWhatIsBeforeAndReopensWhatIsAfter) {
  KeyRounds rounds;
  for (uint64_t round : {0, 1, 3}) {
    rounds.FindOrAdd(Round(round)).contribution.emplace();
    Complete(rounds, round);
  }
  rounds.Close(Round(3));
  rounds.Rebase(Round(1));
  EXPECT_TRUE(rounds.Find(Round(0))->closed_everywhere);
  EXPECT_FALSE(rounds.Find(Round(0))->contribution.has_value());
  EXPECT_TRUE(rounds.Find(Round(1))->contribution.has_value());
  EXPECT_FALSE(rounds.Find(Round(3))->closed_everywhere) << "a new member may lack it";
  EXPECT_EQ(rounds.next_closed(), Round(1));
  EXPECT_EQ(rounds.next_complete(), Round(2));
  // Never backwards.
  rounds.Rebase(Round(0));
  EXPECT_EQ(rounds.next_closed(), Round(1));
}

TEST(KeyRoundsTest, ARoundFromWhichThisNodeAbstainsKeepsItOnlyOnceItIsComplete) {
  KeyRounds rounds;
  rounds.FindOrAdd(Round(0)).contribution = Contribution{RoundKind::kAbstention, Buffer(), 0, 0};
  EXPECT_TRUE(rounds.IsIdle());
  Complete(rounds, 0);
  EXPECT_FALSE(rounds.IsIdle());
  rounds.Close(Round(0));
  EXPECT_TRUE(rounds.IsIdle());
}

TEST(KeyRoundsTest, EarlierRoundsLeaveRoomOrNot) {
  KeyRounds rounds;
  // Nothing runs beside round 0.
  EXPECT_TRUE(rounds.HasRoomFor(Round(0), 2));
  EXPECT_FALSE(rounds.HasRoomFor(Round(1), 2));
  Complete(rounds, 0);
  EXPECT_TRUE(rounds.HasRoomFor(Round(2), 2));
  EXPECT_FALSE(rounds.HasRoomFor(Round(3), 2));
  Complete(rounds, 1);
  Complete(rounds, 2);
  // What others may need of a round this node keeps, whoever says that it is closed.
  EXPECT_TRUE(rounds.HasRoomFor(Round(4), 2));
  EXPECT_FALSE(rounds.HasRoomFor(Round(5), 2));
}

TEST(KeyRoundsTest, ALaterResultProvesThatAllMembersHoldTheRoundsBefore) {
  KeyRounds rounds;
  EXPECT_THAT(rounds.Held(2), IsEmpty());
  Complete(rounds, 0);
  Complete(rounds, 1);
  EXPECT_THAT(rounds.Held(2), IsEmpty());
  rounds.FindOrAdd(Round(2)).open = true;
  // Results of a round may all be here before those of the one before.
  Complete(rounds, 3);
  EXPECT_THAT(rounds.Held(2), ElementsAre(Round(0), Round(1)));
  rounds.Close(Round(0));
  EXPECT_THAT(rounds.Held(2), ElementsAre(Round(1)));
  Complete(rounds, 4);
  EXPECT_THAT(rounds.Held(2), ElementsAre(Round(1))) << "round 2 is not complete here";
  Complete(rounds, 2);
  EXPECT_THAT(rounds.Held(2), ElementsAre(Round(1), Round(2)));
}

TEST(KeyRoundsTest, NobodyIsTwiceTheRoundsInFlightAhead) {
  KeyRounds rounds;
  Complete(rounds, 0);
  EXPECT_FALSE(rounds.IsTooFar(Round(5), 2));
  EXPECT_TRUE(rounds.IsTooFar(Round(6), 2));
}

TEST(KeyRoundsTest, AbstentionsAreTakenBackFromRoundsThatAreNotComplete) {
  KeyRounds rounds;
  const Contribution abstention{RoundKind::kAbstention, Buffer(), 0, 0};
  for (uint64_t round : {3, 4, 5, 6}) rounds.FindOrAdd(Round(round)).contribution = abstention;
  rounds.FindOrAdd(Round(6)).contribution->kind = RoundKind::kAggregate;
  Complete(rounds, 4);
  rounds.TakeBackAbstentions(Round(4));
  EXPECT_TRUE(rounds.Find(Round(3))->contribution.has_value()) << "an earlier round";
  EXPECT_TRUE(rounds.Find(Round(4))->contribution.has_value()) << "it is over";
  EXPECT_FALSE(rounds.Find(Round(5))->contribution.has_value());
  EXPECT_TRUE(rounds.Find(Round(6))->contribution.has_value()) << "a worker's";
}

TEST(KeyRoundsTest, WhatWasOverBeforeThisNodeWasAMemberIsSkipped) {
  KeyRounds rounds;
  rounds.Rebase(Round(5));
  for (const uint64_t round : {5, 6}) {
    rounds.FindOrAdd(Round(round)).contribution = Contribution{RoundKind::kAbstention, Buffer(), 0, 0};
  }
  EXPECT_EQ(rounds.Skip(Round(6)), std::nullopt);
  EXPECT_TRUE(rounds.IsComplete(Round(6)));
  EXPECT_EQ(rounds.next_complete(), Round(5));
  rounds.Rebase(Round(5));
  EXPECT_TRUE(rounds.Find(Round(6))->closed_everywhere) << "there is nothing that this node could tell of it";
  Complete(rounds, 5);
  EXPECT_EQ(rounds.next_complete(), Round(7));
  EXPECT_EQ(rounds.Close(Round(5)), Round(6));
  rounds.FindOrAdd(Round(7)).open = true;
  rounds.DropOld();
  EXPECT_EQ(rounds.all().size(), 1u);
}

TEST(KeyRoundsTest, ARoundToWhichThisNodeContributedOrThatIsCompleteIsNotSkipped) {
  KeyRounds rounds;
  Complete(rounds, 0);
  rounds.FindOrAdd(Round(1)).contribution.emplace();
  for (const uint64_t round : {0, 1}) EXPECT_EQ(rounds.Skip(Round(round)), std::nullopt);
  EXPECT_FALSE(rounds.Find(Round(0))->closed_everywhere);
  EXPECT_TRUE(rounds.Find(Round(1))->contribution.has_value());
  rounds.Rebase(Round(3));
  EXPECT_EQ(rounds.Skip(Round(2)), std::nullopt);
  EXPECT_EQ(rounds.Find(Round(2)), nullptr);
}

TEST(KeyRoundsTest, AnAbstentionIsReplacedForTheAttemptsThatFollow) {
  KeyRounds rounds;
  const Contribution values = {RoundKind::kBroadcast, Buffer::CopyOf({1}), 1, 0};
  EXPECT_FALSE(rounds.Replace(Round(0), values));
  RoundState& state = rounds.FindOrAdd(Round(0));
  state.contribution = Contribution{RoundKind::kAbstention, Buffer(), 0, 0};
  state.open = true;
  EXPECT_TRUE(rounds.Replace(Round(0), values));
  EXPECT_FALSE(state.abstains());
  EXPECT_TRUE(rounds.HasAbstention()) << "the attempt has counted one";
  state.DropAttempt();
  EXPECT_FALSE(rounds.HasAbstention());
  EXPECT_EQ(state.contribution->values.elements(), 1);
  EXPECT_FALSE(rounds.Replace(Round(0), values));
}

}  // namespace
}  // namespace banyan
