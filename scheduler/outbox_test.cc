#include "scheduler/outbox.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kConnection(1);

Message Numbered(uint64_t number) { return BarrierReleased{Term(1), number}; }

// The numbers of the messages among the actions.
std::vector<uint64_t> SentBy(Outbox& outbox) {
  std::vector<uint64_t> numbers;
  for (const Action& action : outbox.Take()) {
    if (const Send* send = std::get_if<Send>(&action))
      numbers.push_back(std::get<BarrierReleased>(send->message).barrier);
  }
  return numbers;
}

TEST(OutboxTest, SendsAtOnceWithoutRecords) {
  Outbox outbox;
  outbox.Send(kConnection, Numbered(1));
  EXPECT_THAT(SentBy(outbox), ElementsAre(1));
  EXPECT_THAT(SentBy(outbox), IsEmpty());
}

TEST(OutboxTest, HoldsWhatFollowsARecordUntilItIsDurable) {
  Outbox outbox;
  outbox.Send(kConnection, Numbered(1));
  outbox.Persist(Timestamp(), "a");
  outbox.Send(kConnection, Numbered(2));
  outbox.Persist(Timestamp(), "b");
  outbox.Send(kConnection, Numbered(3));
  EXPECT_THAT(SentBy(outbox), ElementsAre(1));
  outbox.Persisted(RecordId(1));
  EXPECT_THAT(SentBy(outbox), ElementsAre(2));
  outbox.Persisted(RecordId(2));
  EXPECT_THAT(SentBy(outbox), ElementsAre(3));
}

TEST(OutboxTest, ASnapshotIsARecord) {
  Outbox outbox;
  outbox.PersistSnapshot(Timestamp(), "all so far");
  outbox.Send(kConnection, Numbered(1));
  const Actions actions = outbox.Take();
  ASSERT_EQ(actions.size(), 1u);
  const PersistRecord& record = std::get<PersistRecord>(actions[0]);
  EXPECT_TRUE(record.is_snapshot);
  EXPECT_EQ(record.bytes, "all so far");
  EXPECT_FALSE(outbox.IsAllDurable());
  outbox.Persisted(record.record);
  EXPECT_TRUE(outbox.IsAllDurable());
  EXPECT_THAT(SentBy(outbox), ElementsAre(1));
}

TEST(OutboxTest, KeepsTheOrderWhenRecordsBecomeDurableInAnother) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "a");
  outbox.Send(kConnection, Numbered(1));
  outbox.Persist(Timestamp(), "b");
  outbox.Send(kConnection, Numbered(2));
  outbox.Persisted(RecordId(2));
  outbox.Persisted(RecordId(9));
  EXPECT_THAT(SentBy(outbox), IsEmpty());
  outbox.Persisted(RecordId(1));
  EXPECT_THAT(SentBy(outbox), ElementsAre(1, 2));
}

TEST(OutboxTest, UrgentMessagesWaitForTheTermOnly) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "term");
  outbox.SendUrgent(kConnection, Numbered(1));
  EXPECT_THAT(SentBy(outbox), IsEmpty());
  outbox.Persisted(RecordId(1));
  EXPECT_THAT(SentBy(outbox), ElementsAre(1));
  outbox.Persist(Timestamp(), "binding");
  outbox.Send(kConnection, Numbered(2));
  outbox.SendUrgent(kConnection, Numbered(3));
  EXPECT_THAT(SentBy(outbox), ElementsAre(3));
}

TEST(OutboxTest, WhatIsHeldIsBoundedInBytes) {
  Outbox outbox;
  outbox.set_most_bytes(100'000);
  outbox.Persist(Timestamp(), "a");
  KeysAssigned keys{Term(1), KeyTableVersion(1), {}};
  for (uint32_t key = 1; key <= 100; ++key) keys.keys.push_back({KeyId(key), std::string(500, 'w'), 10});
  outbox.Send(kConnection, keys);
  EXPECT_TRUE(outbox.has_room());
  EXPECT_GT(outbox.held_bytes(), 50'000u);
  outbox.Send(kConnection, keys);
  EXPECT_FALSE(outbox.has_room());
  outbox.Persisted(RecordId(1));
  EXPECT_EQ(outbox.held_bytes(), 0u);
  EXPECT_TRUE(outbox.has_room());
}

TEST(OutboxTest, ForgetsWhatIsHeld) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "a");
  outbox.Send(kConnection, Numbered(1));
  EXPECT_EQ(outbox.held_messages(), 1u);
  outbox.DropHeld();
  outbox.Persisted(RecordId(1));
  EXPECT_THAT(SentBy(outbox), IsEmpty());
}

TEST(OutboxTest, AnswersToOperatorsOutliveTheOthersUntilTheirConnectionsAreClosed) {
  Outbox outbox;
  const auto hold = [&outbox] {
    outbox.Send(ConnectionId(2), OperatorReply{true, "n3 is removed"});
    outbox.Send(ConnectionId(3), TraceEnd{Round(1), Round(2), {}});
    outbox.Send(kConnection, Numbered(1));
  };
  outbox.Persist(Timestamp(), "a");
  hold();
  outbox.DropHeld();
  EXPECT_EQ(outbox.held_messages(), 2u);
  EXPECT_GT(outbox.held_bytes(), 0u);
  outbox.Take();
  outbox.Persisted(RecordId(1));
  EXPECT_EQ(outbox.held_bytes(), 0u);
  const Actions actions = outbox.Take();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<OperatorReply>(std::get<Send>(actions[0]).message).text, "n3 is removed");
  EXPECT_TRUE(std::holds_alternative<TraceEnd>(std::get<Send>(actions[1]).message));
  outbox.Persist(Timestamp(), "b");
  hold();
  outbox.DropHeld();
  EXPECT_EQ(outbox.CloseHeld(), (std::set<ConnectionId>{ConnectionId(2), ConnectionId(3)}));
  EXPECT_EQ(outbox.held_bytes(), 0u);
}

TEST(OutboxTest, ClosesTheConnectionsForWhichMessagesWait) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "a");
  outbox.Send(kConnection, Numbered(1));
  outbox.Send(kConnection, Numbered(2));
  EXPECT_EQ(outbox.CloseHeld(), std::set<ConnectionId>{kConnection});
  EXPECT_EQ(outbox.held_messages(), 0u);
  const Actions actions = outbox.Take();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<Disconnect>(actions[1]).connection, kConnection);
}

TEST(OutboxTest, WhoIsSentAwayHearsFirstWhatWasSaidToIt) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "a");
  outbox.Send(kConnection, Numbered(1));
  outbox.Admit({{"key", Role::kNode, "n1", NodeId(1)}});
  EXPECT_THAT(SentBy(outbox), IsEmpty());
  outbox.Persisted(RecordId(1));
  const Actions actions = outbox.Take();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Send>(actions[0]));
  EXPECT_EQ(std::get<Admit>(actions[1]).keys.at(0).public_key, "key");
}

TEST(OutboxTest, AWithdrawalOutlivesTheMessagesThatAreDropped) {
  Outbox outbox;
  outbox.Persist(Timestamp(), "a");
  outbox.Admit({});
  outbox.Send(kConnection, Numbered(1));
  outbox.Take();
  outbox.DropHeld();
  outbox.Persisted(RecordId(1));
  const Actions actions = outbox.Take();
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Admit>(actions[0]));
}

}  // namespace
}  // namespace banyan
