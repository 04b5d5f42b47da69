// Jobs under faults in which one core breaks a rule on purpose: the checkers must say so.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

constexpr uint64_t kSeeds = 8;
const NodeId kVillain = NodeId(2);

bool IsContribution(const ChunkMessage& chunk) {
  return chunk.id.half == Half::kReduce && chunk.id.round > Round(2) && chunk.kind == RoundKind::kAggregate;
}

ChunkMessage* ChunkFor(Event* event, NodeId node) {
  auto* received = std::get_if<MessageReceived>(event);
  auto* chunk = received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
  return chunk != nullptr && chunk->route.destination() == node ? chunk : nullptr;
}

void ScaleFrames(Payload* payload, float factor) {
  for (Buffer& frame : *payload) {
    Buffer changed = Buffer::CopyOf(frame.AsFloats().floats());
    for (float& value : changed.mutable_floats()) value *= factor;
    frame = changed;
  }
}

bool IsPlain(const ChunkMessage& chunk) {
  return chunk.frames.size() == 1 && chunk.frames.front().codec == CodecId::kFp32;
}

// Returns how many of the seeds break the rule when the villain is tampered with so.
int Broken(const std::string& rule, const std::function<TamperingProtocol::Tampering()>& tampering) {
  int broken = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
    scenario.cluster.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
      if (node != kVillain) return core;
      return std::make_unique<TamperingProtocol>(std::move(core), tampering());
    };
    const FaultOutcome outcome = RunFaultScenario(scenario, {});
    if (outcome.violations.find(rule) != std::string::npos) ++broken;
  }
  return broken;
}

TEST(FaultBreachTest, HonestCoresPass) {
  EXPECT_EQ(Broken("", [] { return TamperingProtocol::Tampering(); }), static_cast<int>(kSeeds));
  EXPECT_EQ(Broken(": ", [] { return TamperingProtocol::Tampering(); }), 0);
}

TEST(FaultBreachTest, AContributionThatCountsTwice) {
  EXPECT_GE(Broken("exactly once",
                   [] {
                     TamperingProtocol::Tampering tampering;
                     tampering.on_event = [](Event* event) {
                       const ChunkMessage* chunk = ChunkFor(event, kVillain);
                       if (chunk == nullptr || !IsContribution(*chunk) || !IsPlain(*chunk)) return;
                       ScaleFrames(&std::get<MessageReceived>(*event).payload, 2);
                     };
                     return tampering;
                   }),
            2);
}

TEST(FaultBreachTest, AContributionThatIsLeftOut) {
  EXPECT_GE(Broken("exactly once",
                   [] {
                     TamperingProtocol::Tampering tampering;
                     tampering.on_event = [](Event* event) {
                       const ChunkMessage* chunk = ChunkFor(event, kVillain);
                       if (chunk == nullptr || !IsContribution(*chunk) || !IsPlain(*chunk)) return;
                       ScaleFrames(&std::get<MessageReceived>(*event).payload, 0);
                     };
                     return tampering;
                   }),
            2);
}

// The values that the child sent for an earlier round.
TEST(FaultBreachTest, AContributionToAnotherRound) {
  EXPECT_GE(Broken("exactly once",
                   [] {
                     using Key = std::tuple<NodeId, KeyId, ChunkIndex>;
                     auto earlier = std::make_shared<std::map<Key, Payload>>();
                     TamperingProtocol::Tampering tampering;
                     tampering.on_event = [earlier](Event* event) {
                       const ChunkMessage* chunk = ChunkFor(event, kVillain);
                       if (chunk == nullptr || !IsContribution(*chunk) || !IsPlain(*chunk)) return;
                       Payload& payload = std::get<MessageReceived>(*event).payload;
                       const auto [kept, is_first] =
                           earlier->try_emplace({chunk->route.source(), chunk->id.key, chunk->id.chunk}, payload);
                       const bool fits = !is_first && kept->second.front().size_bytes() == payload.front().size_bytes();
                       if (fits) payload = kept->second;
                     };
                     return tampering;
                   }),
            2);
}

TEST(FaultBreachTest, AResultThatDiffersOnOneBranch) {
  EXPECT_GE(Broken("identical replicas",
                   [] {
                     TamperingProtocol::Tampering tampering;
                     tampering.on_event = [](Event* event) {
                       const ChunkMessage* chunk = ChunkFor(event, kVillain);
                       const bool is_result =
                           chunk != nullptr && chunk->id.half == Half::kBroadcast && chunk->id.round > Round(2);
                       if (is_result && IsPlain(*chunk)) ScaleFrames(&std::get<MessageReceived>(*event).payload, 1.5f);
                     };
                     return tampering;
                   }),
            2);
}

// What a node keeps back is forgotten once.
TEST(FaultBreachTest, AnEncodingThatLosesWhatItKeepsBack) {
  EXPECT_GE(Broken("nothing lost",
                   [] {
                     TamperingProtocol::Tampering tampering;
                     tampering.on_event = [](Event* event) {
                       const ChunkMessage* chunk = ChunkFor(event, kVillain);
                       const bool is_flush = chunk != nullptr && chunk->id.half == Half::kReduce &&
                                             chunk->kind == RoundKind::kFlush && IsPlain(*chunk);
                       if (is_flush) ScaleFrames(&std::get<MessageReceived>(*event).payload, 0);
                     };
                     return tampering;
                   }),
            1);
}

}  // namespace
}  // namespace banyan
