// Jobs in which one core breaks a rule on purpose: the checkers must say so.
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

const NodeId kVillain = NodeId(2);

ChunkMessage* ChunkIn(Event* event) {
  auto* received = std::get_if<MessageReceived>(event);
  return received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
}

// A round of data, not the initial values.
bool IsTraining(const ChunkMessage& chunk, Half half) { return chunk.id.half == half && chunk.id.round > Round(0); }

void ScaleFrames(Payload* payload, float factor) {
  for (Buffer& frame : *payload) {
    Buffer changed = Buffer::CopyOf(frame.AsFloats().floats());
    for (float& value : changed.mutable_floats()) value *= factor;
    frame = changed;
  }
}

// Four nodes, all linked; one tree with the villain as its root, so that the others are its children.
ClusterOptions FourNodes() {
  ClusterOptions options;
  OverlayShape shape;
  shape.nodes = 4;
  shape.links = 6;
  Random random(1);
  options.overlay = RandomOverlay(shape, &random);
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n2";
  options.overlay.aggregation.op = AggregationOp::kSum;
  options.overlay.chunks.max_elements = 50;
  options.plan.tensors = {{"w", 200, 0}, {"b", 10, 0}};
  options.plan.rounds = 2;
  return options;
}

// Runs until training or its failure ends, or hangs.
std::string RunWith(NodeId who, TamperingProtocol::Tampering tampering) {
  ClusterOptions options = FourNodes();
  options.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != who) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  Cluster cluster(std::move(options));
  cluster.RunUntilTrained(Timestamp() + absl::Seconds(60));
  return cluster.violations()->Report();
}

TEST(BreachTest, HonestCoresPass) { EXPECT_EQ(RunWith(kVillain, {}), ""); }

TEST(BreachTest, CountingAChildTwice) {
  TamperingProtocol::Tampering tampering;
  tampering.on_event = [](Event* event) {
    const ChunkMessage* chunk = ChunkIn(event);
    const bool chosen = chunk != nullptr && IsTraining(*chunk, Half::kReduce) && chunk->route.source() == NodeId(3);
    if (chosen) ScaleFrames(&std::get<MessageReceived>(*event).payload, 2);
  };
  EXPECT_NE(RunWith(kVillain, tampering).find("exactly once"), std::string::npos);
}

TEST(BreachTest, ForgettingAChild) {
  TamperingProtocol::Tampering tampering;
  tampering.on_event = [](Event* event) {
    const ChunkMessage* chunk = ChunkIn(event);
    const bool chosen = chunk != nullptr && IsTraining(*chunk, Half::kReduce) && chunk->route.source() == NodeId(4);
    if (chosen) ScaleFrames(&std::get<MessageReceived>(*event).payload, 0);
  };
  EXPECT_NE(RunWith(kVillain, tampering).find("exactly once"), std::string::npos);
}

TEST(BreachTest, AlteringTheResultOnOneBranch) {
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    auto* send = std::get_if<Send>(action);
    const auto* chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
    const bool chosen =
        chunk != nullptr && IsTraining(*chunk, Half::kBroadcast) && chunk->route.destination() == NodeId(1);
    if (chosen) ScaleFrames(&send->payload, 1.0000001f);
    return true;
  };
  EXPECT_NE(RunWith(kVillain, tampering).find("identical replicas"), std::string::npos);
}

TEST(BreachTest, AnAckOfWhatNeverCame) {
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    auto* send = std::get_if<Send>(action);
    auto* ack = send == nullptr ? nullptr : std::get_if<LinkAck>(&send->message);
    if (ack != nullptr) ack->entries.push_back({ack->entries.front().link_sequence + 1000, {}, {}});
    return true;
  };
  EXPECT_NE(RunWith(kVillain, tampering).find("acks"), std::string::npos);
}

TEST(BreachTest, TwoPoliciesForOneRound) {
  TamperingProtocol::Tampering tampering;
  int answers = 0;
  tampering.on_action = [&answers](Action* action) {
    auto* send = std::get_if<Send>(action);
    auto* answer = send == nullptr ? nullptr : std::get_if<PolicyAnswer>(&send->message);
    if (answer == nullptr || ++answers != 3) return true;
    for (PolicyAnswer::Binding& binding : answer->bindings) binding.policy = binding.policy.Next();
    return true;
  };
  EXPECT_NE(RunWith(kSchedulerNode, tampering).find("one policy per round"), std::string::npos);
}

TEST(BreachTest, TellingAWorkerOfARoundThatItsCallAnswersFor) {
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    const auto* complete = std::get_if<CompleteRequest>(action);
    const bool chosen = complete != nullptr && complete->key != KeyId() && complete->round > Round(1);
    if (!chosen) return true;
    const NotifyRoundComplete told{WorkerId(0), complete->key, complete->round};
    *action = Action(std::in_place_type<NotifyRoundComplete>, told);
    return true;
  };
  EXPECT_NE(RunWith(kVillain, tampering).find("told of the end of round 2"), std::string::npos);
}

TEST(BreachTest, AnAnswerThatNeverComesIsNamed) {
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    const auto* send = std::get_if<Send>(action);
    return send == nullptr || !std::holds_alternative<BarrierReleased>(send->message);
  };
  ClusterOptions options = FourNodes();
  options.plan.barrier_every = 1;
  options.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != kSchedulerNode) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  Cluster cluster(std::move(options));
  EXPECT_FALSE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(60)));
  EXPECT_TRUE(cluster.violations()->Has("nothing hangs"));
  EXPECT_NE(cluster.violations()->Report().find("node 3 worker 0: barrier"), std::string::npos);
}

// What a peer does wrong must not become the node's own breach.
TEST(BreachTest, ADuplicateUnderAnotherIncarnationIsNotCounted) {
  TamperingProtocol::Tampering tampering;
  tampering.repeat = [](const Event& event, Event* second) {
    const auto* received = std::get_if<MessageReceived>(&event);
    const auto* chunk = received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
    if (chunk == nullptr) return false;
    ChunkMessage again = *chunk;
    again.source_incarnation = again.source_incarnation.Next();
    *second = MessageReceived{received->connection, std::move(again), received->payload};
    return true;
  };
  EXPECT_EQ(RunWith(kVillain, tampering), "");
}

}  // namespace
}  // namespace banyan
