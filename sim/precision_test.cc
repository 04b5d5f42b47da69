// Low-bit rounds in simulated time: exact over every planner, routes that follow the training, and what they save.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

constexpr uint64_t kRounds = 20;

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Five nodes, one of them with three workers, that warm up for some rounds before all tensors go low-bit.
ClusterOptions FiveNodes(const std::string& planner, int64_t warmup_steps, LowBitFamily family) {
  ClusterOptions options = LinkedCluster(5, 2e6, 2e6);
  options.overlay.aggregation.op = AggregationOp::kMean;
  options.overlay.topology.planner = planner;
  options.overlay.nodes[2].workers = 3;
  options.plan.rounds = kRounds;
  options.plan.compute_time = absl::Milliseconds(50);
  OperatingProfile profile;
  profile.rules.family = family;
  profile.scope = PrecisionScope::kModel;
  profile.admission.warmup_steps = warmup_steps;
  profile.detector = {0.01, 0.5, 1};
  profile.recovery = {4, 2, 4, 2};
  std::vector<TensorBinding> tensors;
  for (const TrainingPlan::Tensor& tensor : options.plan.tensors) {
    tensors.push_back({tensor.name, tensor.elements, {{0, tensor.elements, TensorRole::kEncoder, true, {}, ""}}});
  }
  options.precision = PrecisionFiles{profile, PrecisionBinding("all", {}, std::move(tensors))};
  options.plan.loss = [](Round round) { return 1 / static_cast<double>(round.value()); };
  return options;
}

void Train(Cluster& cluster) {
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(2000))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(PrecisionSimulation, EveryPlannersTreesDecideAsACountInOnePlaceDoes) {
  for (const char* planner : {"fapt", "packed", "star"}) {
    for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
      const ClusterOptions options = FiveNodes(planner, 3, family);
      Cluster cluster(options);
      Train(cluster);
      const auto tensors = static_cast<int64_t>(options.plan.tensors.size());
      EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), tensors * (static_cast<int64_t>(kRounds) - 10));
      EXPECT_GE(cluster.precision()->rounds(PrecisionRoute::kPlain), tensors * 3) << "the warm-up";
    }
  }
}

TEST(PrecisionSimulation, MeansOfVotesBringBackAllThatWasPushed) {
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    ClusterOptions options = FiveNodes("fapt", 3, family);
    options.precision->profile.rules.aggregate = VoteAggregate::kMean;
    options.plan.flush_every = 5;
    options.plan.loss = [](Round round) { return round == Round(8) ? 5.0 : 1 / static_cast<double>(round.value()); };
    Cluster cluster(options);
    Train(cluster);
    const auto tensors = static_cast<int64_t>(options.plan.tensors.size());
    EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), tensors * 5);
    EXPECT_GE(cluster.precision()->rounds(PrecisionRoute::kFallback), tensors * 4);
  }
}

TEST(PrecisionSimulation, SlicesOfOneTensorGoTheirOwnWays) {
  for (const VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
    ClusterOptions options = FiveNodes("fapt", 3, LowBitFamily::kBinary);
    options.precision->profile.rules.aggregate = aggregate;
    options.precision->profile.has_guard = false;
    options.plan.flush_every = aggregate == VoteAggregate::kMean ? 5 : 0;
    std::vector<TensorBinding> tensors;
    for (const TrainingPlan::Tensor& tensor : options.plan.tensors) {
      const int64_t half = (tensor.elements + 1) / 2;
      tensors.push_back({tensor.name, tensor.elements, {{0, half, TensorRole::kEncoder, true, {}, ""}}});
    }
    const auto count = static_cast<int64_t>(tensors.size());
    options.precision->binding = PrecisionBinding("halves", {}, std::move(tensors));
    Cluster cluster(options);
    Train(cluster);
    EXPECT_GT(cluster.precision()->mixed_rounds(), count * 5);
  }
}

TEST(PrecisionSimulation, ABindingThatIsEditedBetweenStartsOfTheSchedulerChangesNoBorder) {
  ClusterOptions options = FiveNodes("fapt", 3, LowBitFamily::kBinary);
  options.precision->profile.has_guard = false;
  std::vector<TensorBinding> halves;
  std::vector<TensorBinding> edited;
  for (const TrainingPlan::Tensor& tensor : options.plan.tensors) {
    const int64_t half = (tensor.elements + 1) / 2;
    const int64_t third = (tensor.elements + 2) / 3;
    halves.push_back({tensor.name, tensor.elements, {{0, half, TensorRole::kEncoder, true, {}, ""}}});
    edited.push_back({tensor.name,
                      tensor.elements,
                      {{0, third, TensorRole::kBias, false, {}, ""},
                       {third, tensor.elements - third, TensorRole::kEncoder, true, {}, ""}}});
  }
  options.precision->binding = PrecisionBinding("halves", {}, std::move(halves));
  options.edited_binding = PrecisionBinding("edited", {}, std::move(edited));
  Cluster cluster(options);
  cluster.simulator()->RunUntil([&cluster] { return cluster.rounds_done() >= 8; }, Seconds(2000));
  const int64_t low_bit_before = cluster.precision()->rounds(PrecisionRoute::kLowBit);
  cluster.processes()->KillScheduler(/*silently=*/false);
  cluster.processes()->StartScheduler(/*with_records=*/true);
  Train(cluster);
  // The second halves lie in what may go low-bit now.
  EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), low_bit_before);
  EXPECT_GT(cluster.precision()->mixed_rounds(), 0);
}

TEST(PrecisionSimulation, ALossThatRisesFallsBackAndComesBack) {
  ClusterOptions options = FiveNodes("fapt", 3, LowBitFamily::kBinary);
  options.plan.loss = [](Round round) { return round == Round(8) ? 5.0 : 1 / static_cast<double>(round.value()); };
  Cluster cluster(options);
  Train(cluster);
  const auto tensors = static_cast<int64_t>(options.plan.tensors.size());
  const int64_t fallback = cluster.precision()->rounds(PrecisionRoute::kFallback);
  EXPECT_GE(fallback, tensors * 4);
  EXPECT_LE(fallback, tensors * 12);
  EXPECT_GT(cluster.precision()->rounds(PrecisionRoute::kLowBit), tensors * 5);
}

// Says how one chunk of a node is forged, and whether somebody noticed.
struct Forgery {
  NodeId villain;
  Half half = Half::kReduce;
  Round from;
  PrecisionRoute route = PrecisionRoute::kPlain;
  bool is_done = false;
  bool is_caught = false;
};

// Gives the first chunk of the villain that is of that half and late enough another route.
void Forge(Action* action, Forgery* forgery) {
  auto* const send = std::get_if<Send>(action);
  auto* const chunk = send == nullptr ? nullptr : std::get_if<ChunkMessage>(&send->message);
  if (chunk == nullptr || forgery->is_done || chunk->route.source() != forgery->villain) return;
  if (chunk->id.half != forgery->half || chunk->id.round < forgery->from || chunk->precision == forgery->route) return;
  forgery->is_done = true;
  chunk->precision = forgery->route;
}

TEST(PrecisionSimulation, EveryChunkWithAForgedRouteIsRefusedAndItsSourceNamed) {
  int forged = 0;
  const uint64_t seeds = std::getenv("BANYAN_LONG") != nullptr ? 200 : 8;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    ClusterOptions options = FiveNodes("fapt", 3, LowBitFamily::kBinary);
    options.seed = seed;
    options.check_messages = false;  // whose checkers would say so, too
    options.plan.rounds = 10;
    const auto nodes = static_cast<uint32_t>(options.overlay.nodes.size());
    Forgery forgery{NodeId(static_cast<uint32_t>(seed % nodes) + 1), seed % 2 == 0 ? Half::kReduce : Half::kBroadcast,
                    Round(1 + seed % 8), static_cast<PrecisionRoute>(seed % 3)};
    options.wrap_core = [&forgery, &options](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
      if (node == kSchedulerNode) return core;
      const std::string name = options.overlay.nodes[forgery.villain.value() - 1].name;
      TamperingProtocol::Tampering tampering;
      tampering.on_action = [&forgery, node, name](Action* action) {
        if (node == forgery.villain) Forge(action, &forgery);
        const auto* const line = std::get_if<LogLine>(action);
        const bool says_so = line != nullptr && line->text.find("came, expected") != std::string::npos &&
                             line->text.find(absl::StrCat("from ", name, ": route")) != std::string::npos;
        forgery.is_caught = forgery.is_caught || says_so;
        return true;
      };
      return std::make_unique<TamperingProtocol>(std::move(core), tampering);
    };
    Cluster cluster(options);
    cluster.RunUntilNobodyWaits(Seconds(60));
    EXPECT_EQ(forgery.is_caught, forgery.is_done) << "seed " << seed;
    forged += forgery.is_done ? 1 : 0;
  }
  EXPECT_GE(forged, static_cast<int>(seeds * 3 / 4)) << "leaves send no results";
}

// Returns the simulated time of a training: plain, or with low-bit rounds from the third on.
absl::Duration TimeOf(double rate_bps, double vote_slowness, bool is_plain, bool has_guard) {
  ClusterOptions options = FiveNodes("fapt", 2, LowBitFamily::kBinary);
  for (LinkConfig& link : *options.overlay.links) link.a_to_b_bps = link.b_to_a_bps = rate_bps;
  options.plan.rounds = 2 * kRounds;
  options.plan.tensors = {{"w", 200'000, 0}};
  options.overlay.chunks.max_elements = 20'000;
  options.check_messages = false;
  options.process.vote_slowness = vote_slowness;
  options.precision->profile.has_guard = has_guard;
  options.precision->binding =
      PrecisionBinding("all", {}, {{"w", 200'000, {{0, 200'000, TensorRole::kEncoder, true, {}, ""}}}});
  if (is_plain) options.precision.reset();
  Cluster cluster(options);
  Train(cluster);
  return cluster.simulator()->now() - Timestamp();
}

// With BANYAN_LONG links from 2 Mbit/s to 2 Gbit/s, votes as fast as floats and up to a thousand times as slow.
TEST(PrecisionSimulation, TheGuardKeepsRoundsFromTakingLongerThanFloats) {
  for (const double rate_bps : {2e6, 50e6, 2e9}) {
    const absl::Duration plain = TimeOf(rate_bps, 1, true, true);
    for (const double slowness : {1.0, 30.0, 1000.0}) {
      const bool is_corner = (rate_bps == 2e6) == (slowness == 1) && slowness != 30;
      if (std::getenv("BANYAN_LONG") == nullptr && !is_corner) continue;
      const double guarded = absl::FDivDuration(TimeOf(rate_bps, slowness, false, true), plain);
      const double forced = absl::FDivDuration(TimeOf(rate_bps, slowness, false, false), plain);
      std::cout << absl::StrFormat(
          "%4.0f Mbit/s, votes %4.0f times as slow: guarded %.3f, forced %.3f of FP32's time\n", rate_bps / 1e6,
          slowness, guarded, forced);
      EXPECT_LE(guarded, 1.02);
      if (rate_bps == 2e6 && slowness == 1) {
        EXPECT_LT(guarded, 0.7) << "links are what is slow";
      }
      if (rate_bps == 2e9 && slowness == 1000) {
        EXPECT_GT(forced, 1.5) << "processors are what is slow";
      }
    }
  }
}

}  // namespace
}  // namespace banyan
