#include "sim/checkers/route_checker.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

const NodeId kA(1);
const NodeId kB(2);
const NodeId kC(3);

class RouteCheckerTest : public testing::Test {
 protected:
  RouteCheckerTest() : checker_({{kA, kB}, {kB, kC}, {kA, kC}, {kC, kB}}, absl::Seconds(4), &violations_) {}

  void Send(NodeId from, NodeId to, const Message& message) { checker_.OnSent(MakeSent(from, to, message)); }
  void Deliver(NodeId from, NodeId to, const Message& message) { checker_.OnDelivered(MakeSent(from, to, message)); }
  void Publish(NodeId to, std::vector<NodeId> auxiliary_path) {
    PolicyPublished published;
    published.slice.version = PolicyVersion(4);
    published.slice.auxiliary.push_back({std::move(auxiliary_path), 1e6, absl::Milliseconds(1)});
    Send(kSchedulerNode, to, published);
  }
  static ChunkMessage Chunk(std::vector<NodeId> path, uint32_t hop = 0) {
    ChunkMessage chunk;
    chunk.policy = PolicyVersion(4);
    chunk.is_auxiliary = path.size() > 2;
    chunk.route = {std::move(path), hop};
    return chunk;
  }

  Violations violations_;
  RouteChecker checker_;
  Timestamp now_;

 private:
  SentMessage MakeSent(NodeId from, NodeId to, const Message& message) {
    return {now_, from, to, Channel::kData, 1, 1, 64, message, no_payload_};
  }
  const Payload no_payload_;
};

TEST_F(RouteCheckerTest, AnAuxiliaryPathOfThePolicyPasses) {
  Publish(kA, {kA, kC, kB});
  Send(kA, kC, Chunk({kA, kC, kB}));
  Deliver(kA, kC, Chunk({kA, kC, kB}));
  Send(kC, kB, Chunk({kA, kC, kB}, 1));
  Send(kA, kB, Chunk({kA, kB}));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker_.auxiliary_chunks(), 1);
}

TEST_F(RouteCheckerTest, OtherWaysAreCaught) {
  Send(kA, kC, Chunk({kA, kC, kB}));
  EXPECT_TRUE(violations_.Has("ways of the policy"));
  Send(kA, kB, Chunk({kA, kB, kA}));
  EXPECT_TRUE(violations_.Has("no loops"));
  Send(kC, kB, Chunk({kA, kC, kB}, 1));
  EXPECT_TRUE(violations_.Has("relays only forward"));
}

TEST_F(RouteCheckerTest, ARelayThatTurnsAChunkRoundIsCaught) {
  Publish(kA, {kA, kC, kB});
  Deliver(kA, kC, Chunk({kA, kC, kB}));
  Send(kC, kB, Chunk({kA, kC, kB, kA}, 1));
  EXPECT_TRUE(violations_.Has("relays only forward"));
}

TEST_F(RouteCheckerTest, PoliciesThatChangeOrLeadNowhereAreCaught) {
  Publish(kA, {kA, kC, kB});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Publish(kA, {kA, kB, kC});
  EXPECT_TRUE(violations_.Has("policies do not change"));
  Publish(kB, {kB, kA, kC});
  EXPECT_TRUE(violations_.Has("overlay links"));
}

TEST_F(RouteCheckerTest, ARetiredPolicyIsCaughtOnceANodeMustKnow) {
  Deliver(kSchedulerNode, kA, PoliciesRetired{Term(1), PolicyVersion(5)});
  Send(kA, kB, Chunk({kA, kB}));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  now_ = now_ + absl::Seconds(10);
  Send(kA, kB, Chunk({kA, kB}));  // again: that may be
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  ChunkMessage other = Chunk({kA, kB});
  other.id.chunk = ChunkIndex(1);
  Send(kA, kB, other);
  EXPECT_TRUE(violations_.Has("retired policies"));
}

}  // namespace
}  // namespace banyan
