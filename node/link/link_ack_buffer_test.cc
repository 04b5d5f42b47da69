#include "node/link/link_ack_buffer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LinkAck::Entry Receipt(uint64_t sequence) { return {sequence, Timestamp(), Timestamp()}; }

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

std::vector<uint64_t> Sequences(const std::optional<LinkAck>& ack) {
  std::vector<uint64_t> sequences;
  if (!ack.has_value()) return sequences;
  for (const LinkAck::Entry& entry : ack->entries) sequences.push_back(entry.link_sequence);
  return sequences;
}

TEST(LinkAckBufferTest, AnAckThatMayNotWaitIsDueAtOnce) {
  LinkAckBuffer acks;
  EXPECT_THAT(Sequences(acks.Add(Receipt(1), /*may_wait=*/false, At(0))), IsEmpty());
  EXPECT_EQ(acks.deadline(), At(0));
  EXPECT_THAT(Sequences(acks.Take()), ElementsAre(1));
  EXPECT_EQ(acks.deadline(), kNever);
  EXPECT_FALSE(acks.Take().has_value());
}

TEST(LinkAckBufferTest, TheSecondIsDueWithTheFirst) {
  LinkAckBuffer acks;
  EXPECT_THAT(Sequences(acks.Add(Receipt(1), true, At(0))), IsEmpty());
  EXPECT_EQ(acks.deadline(), At(0) + LinkAckBuffer::kLongestWait);
  EXPECT_THAT(Sequences(acks.Add(Receipt(2), true, At(5))), IsEmpty());
  EXPECT_EQ(acks.deadline(), At(5));
  EXPECT_THAT(Sequences(acks.Take()), ElementsAre(1, 2));
  acks.Add(Receipt(3), true, At(7));
  EXPECT_EQ(acks.deadline(), At(7) + LinkAckBuffer::kLongestWait);
  acks.Add(Receipt(4), false, At(8));
  EXPECT_EQ(acks.deadline(), At(8));
  EXPECT_THAT(Sequences(acks.Take()), ElementsAre(3, 4));
}

TEST(LinkAckBufferTest, AllOfOneMomentTravelTogetherUpToABound) {
  LinkAckBuffer acks;
  for (size_t i = 1; i < LinkAckBuffer::kMostInAMessage; ++i) {
    EXPECT_THAT(Sequences(acks.Add(Receipt(i), i % 2 == 0, At(3))), IsEmpty());
  }
  EXPECT_EQ(acks.deadline(), At(3));
  EXPECT_THAT(Sequences(acks.Add(Receipt(1), false, At(3))), SizeIs(LinkAckBuffer::kMostInAMessage));
  EXPECT_EQ(acks.deadline(), kNever);
}

TEST(LinkAckBufferTest, TheOneThatWaitsCanBeTaken) {
  LinkAckBuffer acks;
  acks.Add(Receipt(1), true, At(0));
  EXPECT_THAT(Sequences(acks.Take()), ElementsAre(1));
  EXPECT_EQ(acks.deadline(), kNever);
  EXPECT_FALSE(acks.Take().has_value());
}

}  // namespace
}  // namespace banyan
