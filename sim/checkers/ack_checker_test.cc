#include "sim/checkers/ack_checker.h"

#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

const NodeId kA = NodeId(1);
const NodeId kB = NodeId(2);

class AckCheckerTest : public testing::Test {
 protected:
  AckCheckerTest()
      : checker_(
            {.window_bytes = 100, .chunk_bytes = 40}, [](NodeId) { return kNow; }, &violations_) {}

  void Send(NodeId from, NodeId to, const Message& message, int64_t payload_bytes = 0) {
    const Payload payload = {Buffer::Allocate(payload_bytes, DataType::kByte)};
    checker_.OnSent(MakeSent(from, to, message, payload));
  }
  void Deliver(NodeId from, NodeId to, const Message& message) {
    checker_.OnDelivered(MakeSent(from, to, message, Payload()));
  }
  static ChunkMessage Chunk(uint64_t sequence) {
    ChunkMessage chunk;
    chunk.id.chunk = ChunkIndex(static_cast<uint32_t>(sequence));
    chunk.route.path = {kA, kB};
    chunk.link_sequence = sequence;
    chunk.sent_at = kNow;
    return chunk;
  }
  static LinkAck Ack(uint64_t sequence, bool is_delivered = true) {
    return LinkAck{{{sequence, kNow, kNow, is_delivered}}};
  }

  static constexpr Timestamp kNow = Timestamp::FromNanoseconds(1000);
  Violations violations_;
  AckChecker checker_;

 private:
  static SentMessage MakeSent(NodeId from, NodeId to, const Message& message, const Payload& payload) {
    return {kNow, from, to, Channel::kControl, 3, 1, 64, message, payload};
  }
};

TEST_F(AckCheckerTest, AcksOfWhatArrivedPass) {
  Send(kA, kB, Chunk(1), 40);
  Deliver(kA, kB, Chunk(1));
  Send(kB, kA, Ack(1));
  Send(kB, kA, DeliveryAck{{{kB, kA}, 0}, {Chunk(1).id}});
  Send(kB, kA, Busy{{{kB, kA}, 0}, {Chunk(1).id}});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(AckCheckerTest, AcksOfWhatHasNotArrivedAreCaught) {
  Send(kA, kB, Chunk(1), 40);
  Send(kB, kA, Ack(1));
  EXPECT_EQ(violations_.count(), 1);
  Send(kB, kA, DeliveryAck{{{kB, kA}, 0}, {Chunk(1).id}});
  EXPECT_EQ(violations_.count(), 2);
  Send(kB, kA, Busy{{{kB, kA}, 0}, {Chunk(1).id}});
  EXPECT_EQ(violations_.count(), 3);
}

TEST_F(AckCheckerTest, ARelayThatSaysWhatOnlyTheDestinationMaySayIsCaught) {
  ChunkMessage chunk = Chunk(1);
  chunk.route.path.push_back(NodeId(3));
  Send(kA, kB, chunk, 40);
  Deliver(kA, kB, chunk);
  Send(kB, kA, Ack(1, false));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kB, kA, Ack(1, true));
  EXPECT_EQ(violations_.count(), 1);
}

TEST_F(AckCheckerTest, WrongTimesAreCaught) {
  ChunkMessage chunk = Chunk(1);
  chunk.sent_at = Timestamp::FromNanoseconds(999);
  Send(kA, kB, chunk, 40);
  EXPECT_TRUE(violations_.Has("timestamps"));
}

TEST_F(AckCheckerTest, MoreThanTheWindowIsCaughtUnlessAcknowledgedOrLost) {
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) Send(kA, kB, Chunk(sequence), 40);
  Deliver(kB, kA, Ack(1));
  Send(kA, kB, Chunk(4), 40);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  checker_.OnLossNoticed(kNow, kA, kB, 3);
  for (uint64_t sequence = 5; sequence <= 7; ++sequence) Send(kA, kB, Chunk(sequence), 40);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kA, kB, Chunk(8), 40);
  EXPECT_TRUE(violations_.Has("bounded"));
}

TEST_F(AckCheckerTest, CopiesOfAChunkNeedNoCreditAndTheFirstAckCounts) {
  const auto copy_of = [](uint64_t first, uint64_t sequence) {
    ChunkMessage copy = Chunk(sequence);
    copy.id = Chunk(first).id;
    return copy;
  };
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) Send(kA, kB, Chunk(sequence), 40);
  Send(kA, kB, copy_of(1, 4), 40);
  Deliver(kB, kA, Ack(1));
  Send(kA, kB, copy_of(1, 5), 40);
  Send(kA, kB, Chunk(6), 40);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Deliver(kB, kA, Ack(4));
  Send(kA, kB, Chunk(7), 40);
  EXPECT_TRUE(violations_.Has("bounded"));
}

TEST_F(AckCheckerTest, SequencesRiseAndRoutesSayWhereTheyAre) {
  Send(kA, kB, Chunk(2), 0);
  Send(kA, kB, Chunk(2), 0);
  EXPECT_TRUE(violations_.Has("link sequences"));
  Send(kB, kA, Chunk(1), 0);
  EXPECT_TRUE(violations_.Has("routes"));
}

TEST_F(AckCheckerTest, SequencesBeginAnewOnceAtTheNewStartOfAnEnd) {
  Send(kA, kB, Chunk(5));
  Deliver(kA, kB, Chunk(5));
  checker_.OnProcessStarted(kNow, kB);
  Send(kA, kB, Chunk(6));
  Send(kA, kB, Chunk(1));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kB, kA, Ack(5));
  EXPECT_TRUE(violations_.Has("acks")) << "its predecessor got it";
  Send(kA, kB, Chunk(1));
  EXPECT_TRUE(violations_.Has("link sequences"));
}

TEST_F(AckCheckerTest, AChangeOfMembershipVoidsWhatIsOnItsWay) {
  Send(kA, kB, Chunk(1), 60);
  Deliver(kSchedulerNode, kA, EpochBegin{Term(1), Epoch(2), "node c is silent"});
  for (const uint64_t sequence : {2, 3, 4}) Send(kA, kB, Chunk(sequence), 40);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kA, kB, Chunk(5), 40);
  EXPECT_TRUE(violations_.Has("bounded"));
}

TEST_F(AckCheckerTest, AWindowMayBeOverByAChunkThatItsCodecMakesLonger) {
  Send(kA, kB, Chunk(1), 90);
  Send(kA, kB, Chunk(2), 60);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Send(kA, kB, Chunk(3), 60);
  EXPECT_TRUE(violations_.Has("bounded"));
}

}  // namespace
}  // namespace banyan
