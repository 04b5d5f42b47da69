#include "gtest/gtest.h"
#include "topology/evaluation/round_time.h"
#include "topology/fit/model_fit.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

Policy Planned(const std::string& planner, const std::vector<PlannedTensor>& tensors = {}) {
  PlannerConfig config;
  config.planner = planner;
  config.tensors = tensors;
  return *MakePolicy(Internet2Network(), config);
}

int64_t FittedTo(int64_t model_elements, int64_t least = 1) {
  Policy policy = Planned("fapt");
  FitChunks(Internet2Network(), {model_elements}, least, policy);
  return policy.chunk_max_elements;
}

TEST(ChunkFitTest, SmallModelsWantSmallChunks) {
  EXPECT_LT(FittedTo(250'000), FittedTo(60'000'000));
  EXPECT_EQ(FittedTo(60'000'000), 65536);
  EXPECT_EQ(FittedTo(250'000, 100'000), 65536);
  EXPECT_GE(FittedTo(250'000, 20'000), 20'000);
}

TEST(ChunkFitTest, NoOtherSizeIsMuchSooner) {
  const NetworkView view = Internet2Network();
  Policy policy = Planned("fapt");
  FitChunks(view, {2'500'000}, 1024, policy);
  const absl::Duration fitted = PredictRoundTime(policy, view, {2'500'000});
  for (policy.chunk_max_elements = 65536; policy.chunk_max_elements >= 1024; policy.chunk_max_elements /= 2) {
    EXPECT_LE(fitted, 1.03 * PredictRoundTime(policy, view, {2'500'000})) << policy.chunk_max_elements;
  }
}

TEST(ChunkFitTest, NoModelIsCutIntoTooManyChunks) {
  EXPECT_EQ(FittedTo(int64_t{10} << 30), 65536);
  Policy slow = Planned("fapt");
  const int64_t elements = 250'000;
  slow.chunk_max_elements = elements;
  FitChunks(Internet2Network(), {elements}, 1, slow);
  EXPECT_LE(elements / slow.chunk_max_elements, kMostFittedChunks);
}

// On slow links a chunk of an element would seem best, and its header would take most of the time.
TEST(ChunkFitTest, NoChunkIsMostlyHeader) {
  const NetworkView fast = Internet2Network();
  std::vector<NetworkLink> links(fast.links().begin(), fast.links().end());
  for (NetworkLink& link : links) link.throughput_bps /= 1e4;
  Policy policy = Planned("fapt");
  FitChunks(*fast.WithLinks(links), {1000}, 1, policy);
  EXPECT_GE(policy.chunk_max_elements, kLeastFittedElements);
  EXPECT_LT(policy.chunk_max_elements, 4 * kLeastFittedElements);
}

// `packed` for a model is about as soon done as FAPT with as many roots as one likes. It is at least as soon done as
// itself without a model.
TEST(ChunkFitTest, PackedPlansForTheModel) {
  const NetworkView view = Internet2Network();
  for (const int64_t elements : {1000, 8000, 20'000, 50'000, 100'000, 250'000, 11'500'000, 61'000'000}) {
    const Policy fitted = Planned("packed", {elements});
    EXPECT_GT(fitted.round_time, absl::ZeroDuration());
    EXPECT_LE(fitted.round_time, 1.001 * PredictRoundTime(Planned("packed"), view, {elements}));
    for (const int roots : {1, 2, 4, 9}) {
      PlannerConfig config;
      config.planner = "fapt";
      config.roots = roots;
      Policy fapt = *MakePolicy(view, config);
      FitChunks(view, {elements}, config.chunk_min_elements, fapt);
      EXPECT_LE(fitted.round_time, 1.001 * PredictRoundTime(fapt, view, {elements})) << elements << " on " << roots;
    }
  }
}

// Fewer hops are worth a part of the rate when a model is small; a larger one is planned for so that it is not later.
TEST(ChunkFitTest, PackedGivesUpRateOnAMesh) {
  const NetworkView view = RandomNetwork(9, 8, 1);
  PlannerConfig config;
  config.planner = "packed";
  const Policy fastest = *MakePolicy(view, config);
  const auto as_it_is = [&](int64_t elements) {
    Policy policy = fastest;
    return FitChunks(view, {elements}, config.chunk_min_elements, policy);
  };
  config.tensors = {1'250'000};
  const Policy small = *MakePolicy(view, config);
  EXPECT_LT(small.rate_bps, 0.98 * fastest.rate_bps);
  EXPECT_LT(small.round_time, 0.95 * as_it_is(1'250'000));
  config.tensors = {11'500'000};
  EXPECT_LT(MakePolicy(view, config)->round_time, 0.99 * as_it_is(11'500'000));
}

}  // namespace
}  // namespace banyan
