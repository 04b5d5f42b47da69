// Jobs under faults whose chunks are cut where they wait, in which one core breaks a rule of cutting on purpose: the
// checkers must say so.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "proto/compression/codec_traits.h"
#include "sim/faults/fault_scenario.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

constexpr uint64_t kSeeds = 400;
constexpr int kJobs = 8;
const NodeId kVillain = NodeId(2);

// By chance and in levels, so that many are cut.
bool IsCutOften(const OverlayConfig& overlay) {
  const std::vector<CompressionRule>& rules = overlay.compression.rules;
  return !rules.empty() && TraitsOf(rules[0].codec)->is_trimmable && overlay.trimming.share >= 0.5 &&
         overlay.trimming.policy == TrimPolicyKind::kRandom;
}

ChunkMessage* AggregateIn(Event* event) {
  auto* received = std::get_if<MessageReceived>(event);
  auto* chunk = received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
  const bool is_for_villain = chunk != nullptr && chunk->route.destination() == kVillain;
  return is_for_villain && chunk->kind == RoundKind::kAggregate ? chunk : nullptr;
}

// Returns how many jobs lose or double something when what the villain receives is tampered with so. `tampered` counts
// what was.
int Broken(const std::function<bool(ChunkMessage*)>& tamper, int* tampered) {
  int broken = 0;
  int jobs = 0;
  for (uint64_t seed = 0; seed < kSeeds && jobs < kJobs; ++seed) {
    FaultScenario scenario = MakeFaultScenario(seed, AllFaultKinds(), /*may_have_optimizer=*/false);
    if (!IsCutOften(scenario.cluster.overlay)) continue;
    ++jobs;
    scenario.cluster.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
      if (node != kVillain) return core;
      TamperingProtocol::Tampering tampering;
      tampering.on_event = [&tamper, tampered](Event* event) {
        ChunkMessage* chunk = AggregateIn(event);
        if (chunk != nullptr && tamper(chunk)) ++*tampered;
      };
      return std::make_unique<TamperingProtocol>(std::move(core), std::move(tampering));
    };
    const FaultOutcome outcome = RunFaultScenario(scenario, {});
    if (outcome.violations.find("nothing lost") != std::string::npos) ++broken;
  }
  EXPECT_EQ(jobs, kJobs);
  return broken;
}

TEST(TrimBreachTest, HonestCoresLoseNothing) {
  int tampered = 0;
  EXPECT_EQ(Broken([](ChunkMessage*) { return false; }, &tampered), 0);
}

TEST(TrimBreachTest, ATrimmedCopyThatCountsAsWhole) {
  int tampered = 0;
  const int broken = Broken(
      [](ChunkMessage* chunk) {
        if (chunk->id.half != Half::kReduce || chunk->cut_frames == 0) return false;
        chunk->cut_frames = 0;
        return true;
      },
      &tampered);
  EXPECT_GT(tampered, 0);
  EXPECT_GE(broken, 1);
}

// The result says that the villain's last frame was cut, which is in it.
TEST(TrimBreachTest, ATailThatIsAddedTwice) {
  int tampered = 0;
  const int broken = Broken(
      [](ChunkMessage* chunk) {
        if (chunk->id.half != Half::kBroadcast) return false;
        for (const Cut& cut : chunk->cuts) {
          if (cut.node == kVillain) return false;
        }
        chunk->cuts.push_back({kVillain, 1});
        return true;
      },
      &tampered);
  EXPECT_GT(tampered, 0);
  EXPECT_GE(broken, 1);
}

}  // namespace
}  // namespace banyan
