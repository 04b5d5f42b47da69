// Jobs whose rounds are tried again, in which nodes break the rules of attempts on purpose: the checkers must say so.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compression/encoded_chunk.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/faults/fault_scenario.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

using ChunkKey = std::tuple<NodeId, KeyId, Round, ChunkIndex>;  // with the node that sends it
using MakeTampering = std::function<TamperingProtocol::Tampering(NodeId node)>;

// A chunk as it once travelled.
struct Kept {
  ChunkMessage message;
  Payload payload;
};

bool IsSum(const ChunkMessage& chunk) {
  return chunk.id.half == Half::kReduce && chunk.made_in == Epoch() && chunk.kind == RoundKind::kAggregate;
}

ChunkKey KeyOf(const ChunkMessage& chunk) {
  return {chunk.route.source(), chunk.id.key, chunk.id.round, chunk.id.chunk};
}

// Puts what `kept` says in the place of what `chunk` says. Where it goes, and in which attempt, stays.
void Say(const Kept& kept, ChunkMessage* chunk, Payload* payload) {
  chunk->kind = kept.message.kind;
  chunk->made_in = kept.message.made_in;
  chunk->weight = kept.message.weight;
  chunk->frames = kept.message.frames;
  *payload = kept.payload;
}

ChunkMessage* ChunkIn(Event* event) {
  auto* received = std::get_if<MessageReceived>(event);
  return received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
}

std::function<std::unique_ptr<Protocol>(NodeId, std::unique_ptr<Protocol>)> WrapNodes(const MakeTampering& tampering) {
  return [tampering](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node == kSchedulerNode) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering(node));
  };
}

void RunFor(Cluster* cluster, absl::Duration time) {
  cluster->simulator()->RunUntil([] { return false; }, cluster->simulator()->now() + time);
}

void RunUntilRound(Cluster* cluster, uint64_t rounds_done) {
  ASSERT_TRUE(cluster->simulator()->RunUntil([&] { return cluster->rounds_done() >= rounds_done; },
                                             Timestamp() + absl::Seconds(100)));
}

// A parent takes the sum that a child sent in an earlier attempt, for other members or over another tree.
TEST(AttemptBreachTest, AnOldAttemptsSumInANewAttempt) {
  const auto tampering = [](NodeId node) {
    TamperingProtocol::Tampering made;
    auto sums = std::make_shared<std::map<ChunkKey, Kept>>();
    made.on_event = [node, sums](Event* event) {
      ChunkMessage* chunk = ChunkIn(event);
      if (chunk == nullptr || !IsSum(*chunk) || chunk->route.destination() != node) return;
      Payload& payload = std::get<MessageReceived>(*event).payload;
      const auto [first, is_first] = sums->try_emplace(KeyOf(*chunk), Kept{*chunk, payload});
      const bool is_old = !is_first && first->second.message.id.epoch < chunk->id.epoch;
      if (is_old && first->second.message.elements == chunk->elements) Say(first->second, chunk, &payload);
    };
    return made;
  };
  const std::vector<FaultKind> kinds = {FaultKind::kKillNode, FaultKind::kStopNode, FaultKind::kIsolateLink};
  int broken = 0;
  for (uint64_t seed = 0; seed < 100 && broken < 2; ++seed) {
    FaultScenario scenario = MakeFaultScenario(seed, kinds, /*may_have_optimizer=*/false);
    EXPECT_EQ(RunFaultScenario(scenario, {}).violations, "") << seed;
    scenario = MakeFaultScenario(seed, kinds, /*may_have_optimizer=*/false);
    scenario.cluster.wrap_core = WrapNodes(tampering);
    const std::string violations = RunFaultScenario(scenario, {}).violations;
    if (violations.find("exactly once") != std::string::npos) ++broken;
  }
  EXPECT_EQ(broken, 2);
}

// Node 2 gets the result of round 2 from the root, whose way to the others is cut, and then the root dies with
// its own contribution. Returns what the checkers say.
std::string RunWithOneHolder(const MakeTampering& tampering) {
  ClusterOptions options = LinkedCluster(4, 2e7, 2e7);
  options.overlay.topology.planner = "star";
  options.overlay.multipath.enabled = false;  // or the result would take another way
  for (LinkConfig& link : *options.overlay.links) {
    const auto is_of = [&link](const char* node) { return link.a == node || link.b == node; };
    // The next root is node 3, which lacks the result.
    if (!is_of("n1")) link.a_to_b_bps = link.b_to_a_bps = is_of("n3") ? 5e6 : 1e6;
  }
  options.plan.rounds = 6;
  options.wrap_core = WrapNodes(tampering);
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 1);
  SimulatedNetwork* network = cluster->simulator()->network();
  for (const uint32_t node : {3u, 4u}) network->Cut(NodeId(1), NodeId(node));
  SimulatedWorker* const holder = cluster->worker(NodeId(2), WorkerId(0));
  EXPECT_TRUE(cluster->simulator()->RunUntil([&] { return holder->rounds_done() >= 2; },
                                             cluster->simulator()->now() + absl::Seconds(2)));
  EXPECT_EQ(cluster->rounds_done(), 1u);
  cluster->processes()->KillNode(NodeId(1), /*silently=*/false);
  cluster->RunUntilStayersTrained(cluster->simulator()->now(), {NodeId(1)}, absl::Seconds(60));
  return cluster->violations()->Report();
}

TEST(AttemptBreachTest, AResultThatOnlyOneHoldsIsEverybodysResult) {
  EXPECT_EQ(RunWithOneHolder([](NodeId) { return TamperingProtocol::Tampering(); }), "");
}

// It sends its contribution again instead of the result that it holds.
TEST(AttemptBreachTest, AHolderThatForgetsTheResult) {
  const auto tampering = [](NodeId node) {
    TamperingProtocol::Tampering made;
    auto sums = std::make_shared<std::map<ChunkKey, Kept>>();
    made.on_action = [node, sums](Action* action) {
      auto* send = std::get_if<Send>(action);
      auto* chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
      if (chunk == nullptr || chunk->id.half != Half::kReduce || chunk->route.source() != node) return true;
      if (chunk->made_in == Epoch()) {
        sums->try_emplace(KeyOf(*chunk), Kept{*chunk, send->payload});
      } else if (const auto kept = sums->find(KeyOf(*chunk)); kept != sums->end()) {
        Say(kept->second, chunk, &send->payload);
      }
      return true;
    };
    return made;
  };
  const std::string violations = RunWithOneHolder(tampering);
  EXPECT_NE(violations.find("identical replicas"), std::string::npos) << violations;
}

// The root makes a second result of a chunk, for one of its children.
TEST(AttemptBreachTest, TwoResultsOfOneChunk) {
  const auto tampering = [](NodeId) {
    TamperingProtocol::Tampering made;
    made.on_action = [](Action* action) {
      auto* send = std::get_if<Send>(action);
      auto* chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
      const bool is_meant = chunk != nullptr && chunk->id.half == Half::kBroadcast && chunk->id.round == Round(2) &&
                            chunk->route.destination() == NodeId(3);
      if (!is_meant) return true;
      Buffer changed = Buffer::CopyOf(send->payload.front().AsFloats().floats());
      changed.mutable_floats().front() *= 2;
      send->payload.front() = changed;
      return true;
    };
    return made;
  };
  EXPECT_NE(RunWithOneHolder(tampering).find("one result"), std::string::npos);
}

// Commits what an encoding has kept back before the result is held: when the round is tried again, the first attempt's
// residual counts, although what it sent does not. The node's core is as after that from its next push on.
class EarlyCommit {
 public:
  EarlyCommit(NodeId node, int64_t chunk_elements) : node_(node), chunk_elements_(chunk_elements) {}

  void OnEvent(Event* event) {
    auto* called = std::get_if<WorkerCalled>(event);
    auto* push = called == nullptr ? nullptr : std::get_if<WorkerPush>(&called->call);
    if (push == nullptr) return;
    const absl::Span<const float> gradient = push->gradient.AsFloats().floats();
    std::vector<float>& owed = owed_[push->key];
    owed.resize(gradient.size());
    Buffer changed = Buffer::CopyOf(gradient);
    for (size_t i = 0; i < owed.size(); ++i) changed.mutable_floats()[i] += owed[i];
    pushed_[{push->key, Round(++rounds_[push->key])}] = {gradient.begin(), gradient.end()};
    owed.assign(owed.size(), 0);
    push->gradient = changed;
  }

  void OnAction(const Action& action) {
    const auto* send = std::get_if<Send>(&action);
    const auto* chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
    if (chunk == nullptr || !IsSum(*chunk) || chunk->route.source() != node_) return;
    const auto [first, is_first] = sent_.try_emplace(KeyOf(*chunk), Kept{*chunk, send->payload});
    const bool is_again = !is_first && first->second.message.id.epoch < chunk->id.epoch;
    if (!is_again) return;
    Commit(first->second);
    sent_.erase(first);
    ++commits_;
  }

  int commits() const { return commits_; }

 private:
  void Commit(const Kept& first) {
    const ChunkMessage& chunk = first.message;
    std::vector<float> sent(static_cast<size_t>(chunk.elements));
    DecodeChunk(*CheckChunk({chunk.frames, first.payload, chunk.weight}, chunk.elements), absl::MakeSpan(sent));
    const std::vector<float>& pushed = pushed_.at({chunk.id.key, chunk.id.round});
    const auto offset = static_cast<size_t>(int64_t{chunk.id.chunk.value()} * chunk_elements_);
    std::vector<float>& owed = owed_[chunk.id.key];
    for (size_t i = 0; i < sent.size(); ++i) owed[offset + i] += pushed[offset + i] - sent[i];
  }

  const NodeId node_;
  const int64_t chunk_elements_;
  int commits_ = 0;
  std::map<KeyId, uint64_t> rounds_;
  std::map<std::pair<KeyId, Round>, std::vector<float>> pushed_;
  std::map<ChunkKey, Kept> sent_;
  std::map<KeyId, std::vector<float>> owed_;  // what the next push gets in addition
};

// Top-k with error feedback under a root that loses its link to node 3 in the middle of a round, so that all of the
// same members try the round again.
std::string RunWithARoundTriedAgain(EarlyCommit* breach) {
  ClusterOptions options = LinkedCluster(4, 2e7, 2e7);
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n1";
  options.overlay.multipath.enabled = false;
  CompressionRule rule;
  rule.codec = CodecId::kTopK;
  rule.numbers = {{"ratio", 0.1}};
  rule.error_feedback = true;
  options.overlay.compression.rules = {rule};
  options.overlay.compression.least_elements = 1;
  options.plan.rounds = 12;
  options.plan.flush_every = 6;
  options.wrap_core = [breach](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != NodeId(2) || breach == nullptr) return core;
    TamperingProtocol::Tampering tampering;
    tampering.on_event = [breach](Event* event) { breach->OnEvent(event); };
    tampering.on_action = [breach](Action* action) {
      breach->OnAction(*action);
      return true;
    };
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  ChangingCluster cluster(std::move(options), {0, 1});
  RunUntilRound(cluster.get(), 1);
  cluster->simulator()->network()->Partition(NodeId(1), NodeId(3), absl::Milliseconds(1));
  RunFor(cluster.get(), absl::Seconds(1));
  cluster->RunUntilStayersTrained(cluster->simulator()->now(), {}, absl::Seconds(90));
  EXPECT_GT(cluster->epoch(), Epoch(1));
  return cluster->violations()->Report();
}

TEST(AttemptBreachTest, ARoundThatIsTriedAgainLosesNothing) { EXPECT_EQ(RunWithARoundTriedAgain(nullptr), ""); }

TEST(AttemptBreachTest, AResidualThatIsCommittedBeforeTheResultIsHeld) {
  EarlyCommit breach(NodeId(2), 200);
  EXPECT_NE(RunWithARoundTriedAgain(&breach).find("nothing lost"), std::string::npos);
  EXPECT_GT(breach.commits(), 0);
}

}  // namespace
}  // namespace banyan
