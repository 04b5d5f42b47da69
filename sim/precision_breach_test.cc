// Low-bit jobs whose tensors have slices, in which nodes break a rule of slices on purpose: the checkers must say so.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

using testing::HasSubstr;

constexpr uint64_t kRounds = 12;
// Where the scale lies in a frame of counts (compression/counts/vote_codecs.h).
constexpr int64_t kScaleFirst = 5;
constexpr int64_t kScaleBytes = 16;
const NodeId kVillain = NodeId(2);

// Three slices: two that go low-bit after the warm-up, and what the binding leaves out at the end.
std::vector<SliceBinding> SlicesOf(int64_t elements) {
  const int64_t third = elements / 3;
  return {{0, third, TensorRole::kEncoder, true, {}, ""}, {third, third, TensorRole::kBackbone, true, {}, ""}};
}

ClusterOptions FourNodes(VoteAggregate aggregate) {
  ClusterOptions options = LinkedCluster(4, 2e6, 2e6);
  options.overlay.aggregation.op = AggregationOp::kMean;
  options.overlay.topology.planner = "fapt";
  options.plan.rounds = kRounds;
  options.plan.compute_time = absl::Milliseconds(50);
  options.plan.flush_every = aggregate == VoteAggregate::kMean ? 5 : 0;
  options.plan.loss = [](Round round) { return 1 / static_cast<double>(round.value()); };
  OperatingProfile profile;
  profile.rules.aggregate = aggregate;
  profile.has_guard = false;
  profile.admission.warmup_steps = 2;
  profile.detector = {0.01, 0.5, 1};
  std::vector<TensorBinding> tensors;
  for (const TrainingPlan::Tensor& tensor : options.plan.tensors) {
    tensors.push_back({tensor.name, tensor.elements, SlicesOf(tensor.elements)});
  }
  options.precision = PrecisionFiles{profile, PrecisionBinding("slices", {}, std::move(tensors))};
  return options;
}

using TamperingOf = std::function<TamperingProtocol::Tampering(NodeId node)>;

// Runs until training ends or hangs.
std::string RunWith(VoteAggregate aggregate, const TamperingOf& tampering_of) {
  ClusterOptions options = FourNodes(aggregate);
  options.wrap_core = [&](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node == kSchedulerNode) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering_of(node));
  };
  Cluster cluster(std::move(options));
  cluster.RunUntilTrained(Timestamp() + absl::Seconds(60));
  return cluster.violations()->Report();
}

KeyRoutes Swapped(KeyRoutes routes) {
  const PrecisionRoute second = routes.Of(1);
  routes.Set(1, routes.Of(2));
  routes.Set(2, second);
  return routes;
}

Send* SentVotes(Action* action) {
  auto* const send = std::get_if<Send>(action);
  const auto* const chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
  const bool is_of_votes = chunk != nullptr && chunk->id.half == Half::kReduce && chunk->made_in == Epoch() &&
                           !chunk->frames.empty() && chunk->frames.front().codec == CodecId::kVoteCount;
  return is_of_votes ? send : nullptr;
}

// Writes the scale of another chunk into the votes.
void GiveScale(const std::vector<uint8_t>& scale, Payload& payload) {
  std::vector<uint8_t> bytes(payload.front().bytes().begin(), payload.front().bytes().end());
  std::copy(scale.begin(), scale.end(), bytes.begin() + kScaleFirst);
  payload.front() = Buffer::CopyOfBytes(bytes);
}

std::vector<uint8_t> ScaleIn(const Payload& payload) {
  const auto bytes = payload.front().bytes();
  return {bytes.begin() + kScaleFirst, bytes.begin() + kScaleFirst + kScaleBytes};
}

TEST(PrecisionBreachTest, HonestNodesPassAndEachSliceHasItsRounds) {
  for (const VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
    Cluster cluster(FourNodes(aggregate));
    EXPECT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(60))) << cluster.WhoWaits();
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_EQ(cluster.precision()->slice_rounds().size(), 6u) << "of two tensors";
    for (const auto& [slice, rounds] : cluster.precision()->slice_rounds()) {
      EXPECT_EQ(rounds[0] + rounds[1] + rounds[2], static_cast<int64_t>(kRounds)) << slice.second;
      EXPECT_EQ(rounds[2] > 5, slice.second < 2) << slice.second;
    }
    EXPECT_GT(cluster.scales()->parts(), 400);
    EXPECT_EQ(cluster.scales()->known() > 0, aggregate == VoteAggregate::kMajority);
  }
}

// They agree with each other, and so nobody refuses a chunk.
TEST(PrecisionBreachTest, AllNodesSendASliceOnTheRouteOfItsNeighbour) {
  const auto tampering_of = [](NodeId) {
    TamperingProtocol::Tampering tampering;
    tampering.on_event = [](Event* event) {
      auto* const received = std::get_if<MessageReceived>(event);
      auto* const answer = received == nullptr ? nullptr : std::get_if<PolicyAnswer>(&received->message);
      if (answer == nullptr) return;
      for (PolicyAnswer::Binding& binding : answer->bindings) binding.route = Swapped(binding.route);
    };
    return tampering;
  };
  const std::string report = RunWith(VoteAggregate::kMajority, tampering_of);
  EXPECT_THAT(report, HasSubstr("route plain in slice 1, which the answer gives route low-bit"));
  EXPECT_THAT(report, HasSubstr("route low-bit in slice 2, which the answer gives route plain"));
}

TEST(PrecisionBreachTest, AllNodesCutSlicesElsewhere) {
  const auto tampering_of = [](NodeId) {
    TamperingProtocol::Tampering tampering;
    tampering.on_event = [](Event* event) {
      auto* const received = std::get_if<MessageReceived>(event);
      auto* const assigned = received == nullptr ? nullptr : std::get_if<KeysAssigned>(&received->message);
      if (assigned == nullptr) return;
      for (KeySlice& row : assigned->keys) ++row.borders.at(0);
    };
    return tampering;
  };
  EXPECT_THAT(RunWith(VoteAggregate::kMajority, tampering_of), HasSubstr("the key's borders give it"));
}

// In every chunk, so that no two chunks of the slice differ.
TEST(PrecisionBreachTest, ANodeGivesVotesTheScaleOfAnotherSlice) {
  const auto tampering_of = [](NodeId node) {
    TamperingProtocol::Tampering tampering;
    if (node != kVillain) return tampering;
    auto scales = std::make_shared<std::map<std::pair<KeyId, Round>, std::vector<uint8_t>>>();
    tampering.on_action = [scales](Action* action) {
      Send* const send = SentVotes(action);
      if (send == nullptr) return true;
      const ChunkId& id = std::get<ChunkMessage>(send->message).id;
      const auto [first, is_first] = scales->try_emplace({id.key, id.round}, ScaleIn(send->payload));
      if (!is_first) GiveScale(first->second, send->payload);
      return true;
    };
    return tampering;
  };
  EXPECT_THAT(RunWith(VoteAggregate::kMajority, tampering_of), HasSubstr("is not that of slice"));
}

// Residuals hide what a scale has to be, but not that the chunks of a slice have one.
TEST(PrecisionBreachTest, ANodeGivesOneChunkTheScaleOfAnotherSlice) {
  const auto tampering_of = [](NodeId node) {
    TamperingProtocol::Tampering tampering;
    if (node != kVillain) return tampering;
    auto last = std::make_shared<std::vector<uint8_t>>();
    auto is_done = std::make_shared<bool>(false);
    tampering.on_action = [last, is_done](Action* action) {
      Send* const send = SentVotes(action);
      if (send == nullptr || *is_done) return true;
      const std::vector<uint8_t> scale = ScaleIn(send->payload);
      const auto& chunk = std::get<ChunkMessage>(send->message);
      // The larger tensor's slices have enough chunks, so that others of them leave the node on the same way.
      *is_done = !last->empty() && *last != scale && chunk.id.round > Round(5) && chunk.elements == 200;
      if (*is_done) GiveScale(*last, send->payload);
      *last = scale;
      return true;
    };
    return tampering;
  };
  EXPECT_THAT(RunWith(VoteAggregate::kMean, tampering_of), HasSubstr("another scale here than in its other chunks"));
}

}  // namespace
}  // namespace banyan
