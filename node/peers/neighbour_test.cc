#include "node/peers/neighbour.h"

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "node/chunk_size.h"
#include "node/testing/step_fixture.h"

namespace banyan {
namespace {

constexpr ConnectionId kData(17);

class NeighbourTest : public StepFixture {
 protected:
  NeighbourTest() { neighbour_.link.OnConnectionUp(kData); }

  // Sends a chunk of 1000 bytes, whose ack comes after `ack_after`.
  void SendOne(absl::Duration ack_after, bool resend = false) {
    StepContext step = Now();
    neighbour_.link.Enqueue(std::make_shared<ChunkInFlight>(FullChunk(1, {1, 2}), Bytes(1000)), resend);
    neighbour_.link.Pump(now_, step.actions);
    now_ = now_ + ack_after;
    neighbour_.link.OnLinkAck(Sent<ChunkMessage>().at(0).second.link_sequence, now_);
  }

  Neighbour neighbour_{.slice = SliceOf(2),
                       .newest_policy = PolicyVersion(1),
                       .control = {ConnectionId(16), "n2", 10},
                       .link = PeerLink({.window = {.size_bytes = 4000}}, {kData}),
                       .meter = LinkMeter({}),
                       .heartbeats = Heartbeats(now_)};
};

TEST_F(NeighbourTest, ARoundCountsWhatTheLinkDidSinceTheLastOne) {
  SendOne(absl::Milliseconds(100));
  neighbour_.EndRound(std::nullopt, now_);
  SendOne(absl::Milliseconds(200));
  const LinkRound round = neighbour_.EndRound(absl::Milliseconds(800), now_);
  EXPECT_EQ(round.neighbour, NodeId(2));
  EXPECT_EQ(round.busy, absl::Milliseconds(200));
  EXPECT_FALSE(round.resent);
  EXPECT_EQ(round.results_in_time, 1) << "there were none in levels";
  EXPECT_EQ(round.sent_bytes, WireBytes(1000, 2));
  EXPECT_EQ(neighbour_.link.counters().busy_share, 0.25);
}

// Results are not cut, but those behind which more waits than the policy allows tell what the link does not carry.
TEST_F(NeighbourTest, ResultsThatAreTooMuchForTheLinkAreCounted) {
  const Trimmer trimmer({.policy = TrimPolicyKind::kQueue, .queue_bytes = 0}, NodeId(1));
  neighbour_.link = PeerLink({.window = {.size_bytes = 40'000}, .trimmer = &trimmer}, {kData});
  neighbour_.link.OnConnectionUp(kData);
  for (uint32_t chunk = 0; chunk < 2; ++chunk) {
    ChunkMessage message;
    message.id.half = Half::kBroadcast;
    message.id.chunk = ChunkIndex(chunk);
    message.route.path = {NodeId(1), NodeId(2)};
    message.frames = {{.codec = CodecId::kTrimRht, .size_bytes = 1000},
                      {.codec = CodecId::kTrimRht, .size_bytes = 3000, .level = 1}};
    const Payload payload = {Buffer::Allocate(1000, DataType::kByte), Buffer::Allocate(3000, DataType::kByte)};
    neighbour_.link.Enqueue(std::move(message), payload);
  }
  Actions actions;
  neighbour_.link.Pump(now_, actions);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<Send>(actions[0]).payload.size(), 2u) << "a result stays whole";
  EXPECT_NEAR(neighbour_.EndRound(absl::Seconds(1), now_).results_in_time, 1 - 3.0 / 8, 0.01);
  EXPECT_EQ(neighbour_.EndRound(absl::Seconds(1), now_).results_in_time, 1);
}

TEST_F(NeighbourTest, ResentBytesAreToldApart) {
  SendOne(absl::Milliseconds(10), /*resend=*/true);
  const LinkRound round = neighbour_.EndRound(absl::Seconds(1), now_);
  EXPECT_TRUE(round.resent);
  EXPECT_EQ(round.sent_bytes, 0);
}

TEST_F(NeighbourTest, TheBusyShareIsOfTheLastRoundAndAtMostOne) {
  SendOne(absl::Milliseconds(200));
  neighbour_.EndRound(absl::Milliseconds(100), now_);
  EXPECT_EQ(neighbour_.link.counters().busy_share, 1);
  SendOne(absl::Milliseconds(200));
  neighbour_.EndRound(std::nullopt, now_);
  EXPECT_EQ(neighbour_.link.counters().busy_share, 0);
}

TEST_F(NeighbourTest, ReportsAllThatTheLinkDid) {
  SendOne(absl::Milliseconds(100));
  SendOne(absl::Milliseconds(100), /*resend=*/true);
  neighbour_.EndRound(absl::Milliseconds(400), now_);
  const NodeReport::Link link = neighbour_.Report(/*is_measured=*/true, now_);
  EXPECT_EQ(link.to, NodeId(2));
  EXPECT_EQ(static_cast<int64_t>(link.sent_bytes), 2 * WireBytes(1000, 2));
  EXPECT_EQ(static_cast<int64_t>(link.resent_bytes), WireBytes(1000, 2));
  EXPECT_EQ(link.busy_share, 0.5);
  EXPECT_FALSE(link.measurement.has_value());
  EXPECT_EQ(link.renewals, 0u);
  EXPECT_FALSE(link.is_blocked);
}

TEST_F(NeighbourTest, ReportsConnectionsThatWereMadeAnew) {
  StepContext step = Now();
  for (int i = 0; i < 3; ++i) neighbour_.NoteRenewal(step, absl::Seconds(1));
  EXPECT_EQ(neighbour_.Report(/*is_measured=*/false, now_).renewals, 3u);
}

}  // namespace
}  // namespace banyan
