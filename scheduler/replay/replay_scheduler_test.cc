#include "scheduler/replay/replay_scheduler.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// The transcript of node `id` of a job of two, one of which is the other's parent.
NodeTranscript Transcript(uint32_t id) {
  NodeTranscript transcript;
  transcript.start.node = "n" + std::to_string(id);
  transcript.joined = {Term(9), NodeId(id), {}, StartId(5), true};
  transcript.joined.config.job = "job";
  transcript.joined.config.workers = id;
  transcript.joined.config.trimming.policy = TrimPolicyKind::kRandom;
  transcript.keys = {KeySlice{KeyId(1), "w", 10, 0}};
  PolicySlice& slice = transcript.policies[PolicyVersion(3)];
  slice.version = PolicyVersion(3);
  slice.epoch = Epoch(1);
  slice.member_count = 2;
  NeighbourSlice& neighbour = slice.neighbours.emplace_back();
  neighbour.node = NodeId(3 - id);
  neighbour.address = "tcp://old:1";
  transcript.bound[KeyId(1)][Round(0)] = PolicyVersion(3);
  return transcript;
}

ReplayCast::Transcript Shared(NodeTranscript transcript) {
  return std::make_shared<const NodeTranscript>(std::move(transcript));
}

std::string ErrorOf(const std::vector<NodeTranscript>& transcripts) {
  std::vector<ReplayCast::Transcript> shared;
  for (const NodeTranscript& transcript : transcripts) shared.push_back(Shared(transcript));
  return std::string(ReplayCast::Create(shared).status().message());
}

TEST(ReplayCastTest, RefusesWhatIsNotOneJob) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("got none"));
  EXPECT_EQ(ErrorOf({Transcript(1), Transcript(2)}), "");
  EXPECT_THAT(ErrorOf({Transcript(2)}), HasSubstr("the job had 2 nodes, but these are transcripts of 1: n2"));
  EXPECT_THAT(ErrorOf({Transcript(1), Transcript(1)}), HasSubstr("are both of node 1"));
  NodeTranscript other = Transcript(2);
  other.joined.config.chunk_max_elements = 7;
  EXPECT_THAT(ErrorOf({Transcript(1), other}), HasSubstr("of different jobs"));
  other = Transcript(2);
  other.keys[0].name = "b";
  EXPECT_THAT(ErrorOf({Transcript(1), other}), HasSubstr("other keys than that of n1"));
}

class ReplaySchedulerTest : public testing::Test {
 protected:
  ReplaySchedulerTest() : scheduler_(*ReplayCast::Create({Shared(Transcript(1)), Shared(Transcript(2))})) {}

  void Take(Event event) {
    for (Action& action : scheduler_.Step(now_, std::move(event))) {
      if (auto* send = std::get_if<Send>(&action))
        sent_.emplace_back(send->connection.value(), std::move(send->message));
      if (auto* stop = std::get_if<Stop>(&action)) stopped_ = stop->status;
    }
  }
  // A node says this on the connection of its number.
  void Say(uint64_t connection, Message message) {
    Take(MessageReceived{ConnectionId(connection), std::move(message), {}});
  }
  void Join(uint32_t node, const std::string& name) {
    banyan::Join join;
    join.name = name;
    join.address = "tcp://new:" + std::to_string(node);
    join.incarnation = Incarnation(70 + node);
    Say(node, join);
  }
  void JoinBoth() {
    Join(1, "n1");
    Join(2, "n2");
  }
  template <typename Kind>
  std::vector<Kind> Sent(uint64_t connection) const {
    std::vector<Kind> all;
    for (const auto& [to, message] : sent_) {
      if (to == connection && std::holds_alternative<Kind>(message)) all.push_back(std::get<Kind>(message));
    }
    return all;
  }

  Timestamp now_;
  ReplayScheduler scheduler_;
  std::vector<std::pair<uint64_t, Message>> sent_;
  std::optional<absl::Status> stopped_;
};

TEST_F(ReplaySchedulerTest, TellsWhatWasToldThenOnceAllAreThere) {
  Join(1, "n1");
  ASSERT_EQ(Sent<JoinAccepted>(1).size(), 1u);
  EXPECT_EQ(Sent<JoinAccepted>(1)[0].config.trimming.policy, TrimPolicyKind::kOff);
  EXPECT_TRUE(Sent<KeysAssigned>(1).empty());
  Join(2, "n2");
  EXPECT_EQ(Sent<JoinAccepted>(2)[0].node, NodeId(2));
  EXPECT_EQ(Sent<KeysAssigned>(1)[0].keys[0].name, "w");
  Say(2, PolicyRequest{{{KeyId(1), Round(4)}}});
  ASSERT_EQ(Sent<PolicyPublished>(2).size(), 1u);
  const NeighbourSlice& neighbour = Sent<PolicyPublished>(2)[0].slice.neighbours[0];
  EXPECT_EQ(neighbour.address, "tcp://new:1");
  EXPECT_EQ(neighbour.incarnation, Incarnation(71));
  EXPECT_EQ(Sent<PolicyAnswer>(2)[0].bindings[0].policy, PolicyVersion(3));
  EXPECT_EQ(Sent<PolicyAnswer>(2)[0].epoch, Epoch(1));
}

TEST_F(ReplaySchedulerTest, EndsWhenAllHaveFinished) {
  JoinBoth();
  for (uint64_t node : {1, 2}) Say(node, RoundsClosed{{{KeyId(1), Round(0), 7, 0}}});
  EXPECT_EQ(Sent<ClosedEverywhere>(1).size(), 1u);
  for (uint64_t node : {1, 2}) Say(node, BarrierEntered{0});
  EXPECT_EQ(Sent<BarrierReleased>(2).size(), 1u);
  Say(1, Leave{"its workers are done"});
  EXPECT_TRUE(Sent<JoinRefused>(1).empty());
  Say(2, Leave{"its workers are done"});
  EXPECT_TRUE(Sent<JoinRefused>(1)[0].job_is_over);
  Take(ConnectionDown{ConnectionId(1)});
  EXPECT_FALSE(stopped_.has_value());
  Take(ConnectionDown{ConnectionId(2)});
  EXPECT_TRUE(stopped_.has_value() && stopped_->ok());
}

TEST_F(ReplaySchedulerTest, TheFirstThatCannotGoOnEndsItForAll) {
  JoinBoth();
  Say(1, Leave{"it differs", true});
  EXPECT_THAT(Sent<JobFailed>(2)[0].reason, HasSubstr("n1: it differs"));
  Take(ConnectionDown{ConnectionId(2)});
  EXPECT_FALSE(stopped_.has_value());
  now_ = scheduler_.NextDeadline();
  Take(DeadlineReached{});
  ASSERT_TRUE(stopped_.has_value());
  EXPECT_THAT(std::string(stopped_->message()), HasSubstr("n1: it differs"));
}

TEST_F(ReplaySchedulerTest, ANodeThatIsGoneEndsIt) {
  JoinBoth();
  Take(ConnectionDown{ConnectionId(2)});
  EXPECT_THAT(Sent<JobFailed>(1)[0].reason, HasSubstr("n2: it is gone"));
}

TEST_F(ReplaySchedulerTest, RefusesStrangersAndOtherKeys) {
  Join(5, "n5");
  EXPECT_THAT(Sent<JoinRefused>(5)[0].reason, HasSubstr("no transcript is of it"));
  JoinBoth();
  Say(1, RegisterKeys{{{"v", 10}, {"w", 11}, {"w", 10}}});
  const std::vector<KeyRefused> refused = Sent<KeyRefused>(1);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_THAT(refused[0].reason, HasSubstr("no such key"));
  EXPECT_THAT(refused[1].reason, HasSubstr("with 10 elements"));
  Say(1, PolicyRequest{{{KeyId(2), Round(0)}}});
  EXPECT_THAT(Sent<JobFailed>(1)[0].reason, HasSubstr("ends before round 0 of key 2"));
}

}  // namespace
}  // namespace banyan
