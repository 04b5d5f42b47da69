#include "node/replicas/replica_exchange.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr KeyId kFirst(1);
constexpr KeyId kSecond(2);
constexpr int64_t kElements = 3000;
constexpr NodeId kJoiner(9);

// The image of a tensor that Adam has trained.
std::vector<uint8_t> ImageOf(KeyId key) {
  std::vector<float> tensors(3 * kElements);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i] = static_cast<float>(i) / 8 + static_cast<float>(key.value());
  const uint64_t steps = 40 + key.value();
  std::vector<uint8_t> image(sizeof(steps) + tensors.size() * sizeof(float));
  std::memcpy(image.data(), &steps, sizeof(steps));
  std::memcpy(image.data() + sizeof(steps), tensors.data(), tensors.size() * sizeof(float));
  return image;
}

// A node with two keys.
class Node {
 public:
  Node() {
    AggregationConfig adam;
    adam.op = AggregationOp::kAdam;
    for (const KeyId key : {kFirst, kSecond}) keys_.emplace(key, KeyState{TensorMemory(adam, kElements), {}});
    exchange_ = std::make_unique<ReplicaExchange>(ReplicaExchange::Settings{}, &replicas_, &mail_);
  }

  // All rounds up to this one are complete.
  void SetRound(KeyId key, Round last) { keys_.at(key).rounds.Rebase(last.Next()); }
  void Train(StepContext& step, KeyId key) {
    replicas_.Lack(key);
    replicas_.Take(step, key, ImageOf(key));
  }
  std::vector<uint8_t> Image(KeyId key) const {
    std::vector<uint8_t> image(replicas_.ImageBytes(key));
    replicas_.Read(key, 0, absl::MakeSpan(image));
    return image;
  }
  bool IsHeld(KeyId key) const { return keys_.at(key).is_held; }

  KeyStates keys_;
  Replicas replicas_{&keys_};
  std::unique_ptr<ReplicaExchange> exchange_;
  StateMail mail_;
};

// A joiner, and two nodes that have trained both keys up to rounds 7 and 5.
class ReplicaExchangeTest : public testing::Test {
 protected:
  ReplicaExchangeTest() {
    StepContext step = Step();
    for (Node* node : {&joiner_, &givers_.at(NodeId(1)), &givers_.at(NodeId(2))}) {
      node->SetRound(kFirst, Round(7));
      node->SetRound(kSecond, Round(5));
      for (const KeyId key : {kFirst, kSecond}) {
        if (node != &joiner_) node->Train(step, key);
        if (node == &joiner_) node->replicas_.Lack(key);
      }
    }
  }

  StepContext Step() { return {now_, actions_, rejections_}; }
  void Begin() {
    StepContext step = Step();
    joiner_.exchange_->OnEpochPlan(step);
    ASSERT_THAT(joiner_.mail_.to_scheduler, ElementsAre(Message(StateWanted{0, true})));
    EXPECT_FALSE(joiner_.IsHeld(kFirst)) << "the scheduler may be away";
    joiner_.mail_.changed_replicas.clear();
    SendPaths();
  }
  void SendPaths() {
    StepContext step = Step();
    StateHolders holders{Term(1), kReplicaTransfers, 0, 0, {}, {}};
    for (const auto& [id, giver] : givers_) holders.paths.push_back({kJoiner, id});
    joiner_.exchange_->OnHolders(step, holders);
  }
  // Carries messages until nobody has anything to say, and lets time pass while the joiner waits.
  void Run(absl::Duration time = absl::ZeroDuration()) {
    const Timestamp end = now_ + time;
    do {
      Deliver();
      now_ = std::min(end, std::max(now_, joiner_.exchange_->NextDeadline()));
      StepContext step = Step();
      joiner_.exchange_->OnDeadline(step);
      Deliver();
      if (!joiner_.mail_.to_scheduler.empty() && std::exchange(joiner_.mail_.to_scheduler, {}).size() > 0 && answers_)
        SendPaths();
      Deliver();
    } while (now_ < end);
  }
  void Deliver() {
    for (bool is_quiet = false; !is_quiet;) {
      is_quiet = true;
      for (auto& [id, giver] : givers_) is_quiet = Carry(joiner_, giver, id) && is_quiet;
    }
  }
  // Returns whether there was nothing between these two.
  bool Carry(Node& joiner, Node& giver, NodeId giver_id) {
    StepContext step = Step();
    bool is_quiet = true;
    for (auto& [message, payload] : std::exchange(joiner.mail_.to_nodes, {})) {
      const NodeId to = std::visit(
          [](const auto& concrete) {
            if constexpr (requires { concrete.route; }) return concrete.route.destination();
            return NodeId();
          },
          message);
      if (to != giver_id) {
        joiner.mail_.to_nodes.emplace_back(message, payload);
        continue;
      }
      is_quiet = false;
      giver.exchange_->OnPeerMessage(step, message, payload);
    }
    for (auto& [message, payload] : std::exchange(giver.mail_.to_nodes, {})) {
      is_quiet = false;
      joiner.exchange_->OnPeerMessage(step, message, payload);
    }
    return is_quiet;
  }
  void ExpectReplicas() {
    for (const KeyId key : {kFirst, kSecond}) {
      EXPECT_FALSE(joiner_.replicas_.Lacks(key));
      EXPECT_EQ(joiner_.Image(key), ImageOf(key));
      EXPECT_FALSE(joiner_.IsHeld(key));
    }
  }

  Timestamp now_;
  Actions actions_;
  RejectionLog rejections_;
  Node joiner_;
  std::map<NodeId, Node> givers_ = [] {
    std::map<NodeId, Node> givers;
    for (const NodeId id : {NodeId(1), NodeId(2)}) givers.try_emplace(id);
    return givers;
  }();
  bool answers_ = true;  // the scheduler
};

TEST_F(ReplicaExchangeTest, AJoinerGetsParametersMomentsAndSteps) {
  Begin();
  EXPECT_TRUE(joiner_.IsHeld(kFirst));
  Run();
  ExpectReplicas();
  EXPECT_THAT(joiner_.mail_.changed_replicas, ElementsAre(kFirst, kSecond));
  EXPECT_EQ(joiner_.exchange_->NextDeadline(), kNever);
  // A worker that begins now gets the parameters after that round.
  ASSERT_TRUE(joiner_.keys_.at(kFirst).fetched.has_value());
  EXPECT_EQ(joiner_.keys_.at(kFirst).fetched->first, Round(7));
}

TEST_F(ReplicaExchangeTest, ALargeReplicaIsReadInSeveralSteps) {
  AggregationConfig adam;
  adam.op = AggregationOp::kAdam;
  KeyStates keys;
  keys.emplace(kFirst, KeyState{TensorMemory(adam, 6 << 20), {}});
  keys.at(kFirst).rounds.Rebase(Round(8));
  Replicas replicas(&keys);
  StepContext step = Step();
  replicas.Lack(kFirst);
  replicas.Take(step, kFirst, std::vector<uint8_t>(replicas.ImageBytes(kFirst)));
  StateMail mail;
  ReplicaServer server(&replicas, &mail);
  StateManifestWanted wanted;
  wanted.route = {{kJoiner, NodeId(1)}, 0};
  wanted.transfer = TransferId(5);
  wanted.replica = {{kFirst, kFirst, Round(7)}};
  server.OnManifestWanted(step, wanted);
  EXPECT_THAT(mail.to_nodes, IsEmpty());
  EXPECT_EQ(server.NextDeadline(), now_);
  server.OnDeadline(step);
  ASSERT_EQ(mail.to_nodes.size(), 1u);
  EXPECT_EQ(std::get<StateManifest>(mail.to_nodes[0].first).hashes.size(),
            StateLayout(replicas.ImageBytes(kFirst)).chunks());
  EXPECT_EQ(server.NextDeadline(), kNever);
  // A round may end meanwhile.
  server.OnManifestWanted(step, wanted);
  keys.at(kFirst).rounds.Rebase(Round(9));
  server.OnDeadline(step);
  EXPECT_TRUE(std::holds_alternative<StateRefused>(mail.to_nodes.back().first));
}

TEST_F(ReplicaExchangeTest, WhoIsElsewhereIsNotAsked) {
  givers_.at(NodeId(1)).SetRound(kFirst, Round(8));
  Begin();
  Run();
  ExpectReplicas();
}

TEST_F(ReplicaExchangeTest, TheFetchBeginsAnewAfterARoundThatHasCompleted) {
  Begin();
  for (auto& [id, giver] : givers_) giver.SetRound(kFirst, Round(8));
  Deliver();
  EXPECT_TRUE(joiner_.replicas_.Lacks(kFirst));
  joiner_.SetRound(kFirst, Round(8));
  StepContext step = Step();
  joiner_.exchange_->OnRoundComplete(step);
  Run(absl::Seconds(1));
  ExpectReplicas();
  EXPECT_EQ(joiner_.keys_.at(kFirst).fetched->first, Round(8));
}

TEST_F(ReplicaExchangeTest, RoundsGoOnWhereNobodyGives) {
  for (auto& [id, giver] : givers_) giver.SetRound(kSecond, Round(9));
  Begin();
  Run(absl::Seconds(4));
  EXPECT_FALSE(joiner_.IsHeld(kFirst));
  EXPECT_FALSE(joiner_.IsHeld(kSecond));
  EXPECT_TRUE(joiner_.replicas_.LacksAny());
  // Until the next try.
  joiner_.SetRound(kSecond, Round(9));
  Run(absl::Seconds(6));
  ExpectReplicas();
}

TEST_F(ReplicaExchangeTest, ASilentSchedulerHoldsNobodyUp) {
  answers_ = false;
  StepContext step = Step();
  joiner_.exchange_->OnEpochPlan(step);
  EXPECT_THAT(joiner_.mail_.to_scheduler, ElementsAre(Message(StateWanted{0, true})));
  Run(absl::Seconds(2));
  EXPECT_FALSE(joiner_.IsHeld(kFirst));
  answers_ = true;
  Run(absl::Seconds(2));
  ExpectReplicas();
}

TEST_F(ReplicaExchangeTest, AnEpochBeginsTheFetchAnew) {
  Begin();
  StepContext step = Step();
  joiner_.exchange_->OnEpochBegin();
  Deliver();
  EXPECT_TRUE(joiner_.replicas_.LacksAny());
  joiner_.exchange_->OnEpochPlan(step);
  Run(absl::Seconds(1));
  ExpectReplicas();
}

TEST_F(ReplicaExchangeTest, WhoLacksNothingAsksForNothing) {
  Node& giver = givers_.at(NodeId(1));
  StepContext step = Step();
  giver.exchange_->OnEpochPlan(step);
  giver.exchange_->OnSchedulerConnected(step);
  EXPECT_THAT(giver.mail_.to_scheduler, IsEmpty());
  EXPECT_EQ(giver.exchange_->NextDeadline(), kNever);
}

TEST_F(ReplicaExchangeTest, ARequestForChunksThatThereAreNotIsRejected) {
  StepContext step = Step();
  StateRequest request{{{kJoiner, NodeId(1)}, 1}, kReplicaTransfers, Attempt(1), {{ChunkIndex(0), ChunkIndex(9999)}}};
  request.replica = {{kFirst, kFirst, Round(7)}};
  givers_.at(NodeId(1)).exchange_->OnPeerMessage(step, request, {});
  EXPECT_EQ(rejections_.total(), 1u);
  EXPECT_THAT(givers_.at(NodeId(1)).mail_.to_nodes, IsEmpty());
}

}  // namespace
}  // namespace banyan
