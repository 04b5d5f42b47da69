#include "scheduler/precision/precision_control.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum PrecisionRoute;

// "w" may go low-bit, half of "mixed", and not "bias".
PrecisionFiles Files() {
  PrecisionFiles files;
  files.profile.name = "small";
  files.profile.admission.warmup_steps = 2;
  files.profile.detector = {0.01, 0.5, 1};
  files.profile.recovery = {2, 1, 4, 2};
  files.binding = PrecisionBinding("model", {},
                                   {{"w", 100'000, {{0, 100'000, TensorRole::kEncoder, true, {}, ""}}},
                                    {"mixed", 8, {{0, 4, TensorRole::kEncoder, true, {}, ""}}},
                                    {"bias", 2, {{0, 2, TensorRole::kBias, false, {}, ""}}}});
  return files;
}

class PrecisionControlTest : public testing::Test {
 protected:
  PrecisionControlTest() {
    mesh_.Start();
    control_.emplace(Files(), &mesh_.overlay, &keys_, &mesh_.members);
    keys_.UseRoutes(&*control_);
    for (const auto& [name, elements] : {std::pair("w", 100'000), {"mixed", 8}, {"bias", 2}, {"other", 8}}) {
      EXPECT_TRUE(keys_.Register({name, elements}).ok());
    }
  }
  // All three nodes report two steps to `control`, after which its warm-up is over.
  static void WarmUp(PrecisionControl& control) {
    for (const int64_t step : {1, 2}) {
      for (uint32_t node = 1; node <= 3; ++node) {
        control.OnHealth(NodeId(node), {WorkerId(0), {.step = step, .loss = 1.0 / static_cast<double>(step)}});
      }
    }
  }
  // All three nodes report the loss of a step.
  void Step(int64_t step, double loss) {
    for (uint32_t node = 1; node <= 3; ++node) Report(node, step, loss);
  }
  void Report(uint32_t node, int64_t step, double loss) {
    control_->OnHealth(NodeId(node), {WorkerId(0), {.step = step, .loss = loss}});
  }
  KeyRoutes Route() const { return control_->RouteOf(KeyId(1)); }
  std::string Status() const {
    RoundBook rounds(&keys_, {"n1", "n2", "n3"}, absl::ZeroDuration(), 1);
    JsonWriter json;
    json.BeginObject();
    control_->WriteTo(json, rounds, reports_);
    return json.EndObject().text();
  }

  MeshJob mesh_{3};
  KeyTable keys_{1000};
  NodeReports reports_;
  std::optional<PrecisionControl> control_;
};

TEST_F(PrecisionControlTest, SlicesGoLowBitAfterTheWarmUp) {
  EXPECT_EQ(Route(), kPlain);
  Step(1, 1);
  EXPECT_EQ(Route(), kPlain);
  Step(2, 0.9);
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_EQ(control_->RouteOf(KeyId(2)).Text(), "low-bit") << "and the second slice is plain";
  EXPECT_THAT(keys_.BordersOf(KeyId(2)), ElementsAre(4));
  EXPECT_THAT(keys_.BordersOf(KeyId(1)), IsEmpty());
  EXPECT_EQ(control_->DescribeOtherSlices(), "");
  for (const uint32_t key : {3, 4}) EXPECT_EQ(control_->RouteOf(KeyId(key)), kPlain) << key;
  EXPECT_THAT(control_->State().admitted, ElementsAre("encoder"));
}

TEST_F(PrecisionControlTest, EachSliceFollowsItsOwnScope) {
  PrecisionFiles files = Files();
  std::vector<SliceBinding> slices = {{2, 3, TensorRole::kEncoder, true, {}, ""},
                                      {5, 3, TensorRole::kBackbone, true, {}, ""}};
  files.binding = PrecisionBinding("model", {}, {{"mixed", 8, slices}});
  KeyTable keys(1000);
  PrecisionControl control(files, &mesh_.overlay, &keys, &mesh_.members);
  keys.UseRoutes(&control);
  ASSERT_TRUE(keys.Register({"mixed", 8}).ok());
  EXPECT_THAT(keys.BordersOf(KeyId(1)), ElementsAre(2, 5));
  EXPECT_TRUE(control.OnOrder({{"backbone"}, false}).accepted);
  WarmUp(control);
  EXPECT_EQ(control.RouteOf(KeyId(1)).Text(), "plain,low-bit,fallback");
}

TEST_F(PrecisionControlTest, AKeyKeepsItsSlicesWhenTheBindingIsEdited) {
  PrecisionFiles files = Files();
  std::vector<SliceBinding> slices = {{0, 2, TensorRole::kEncoder, true, {}, ""},
                                      {2, 6, TensorRole::kEncoder, true, {}, ""}};
  files.binding = PrecisionBinding(
      "edited", {}, {{"mixed", 8, slices}, {"w", 100'000, {{0, 100'000, TensorRole::kEncoder, false, {}, ""}}}});
  PrecisionControl control(files, &mesh_.overlay, &keys_, &mesh_.members);
  EXPECT_EQ(control.DescribeOtherSlices(),
            "the binding has other slices of 'mixed' than the running job, which keeps its own: 'mixed' is divided at "
            "4, and the binding divides it at 2; a slice that does not lie in one of the binding stays fp32. Put the "
            "former binding back, or begin another job");
  WarmUp(control);
  EXPECT_EQ(control.RouteOf(KeyId(2)).Text(), "plain,low-bit") << "the first half lies in no slice of the binding";
  EXPECT_EQ(control.RouteOf(KeyId(1)), kPlain) << "what may not go low-bit any more does not";
}

TEST_F(PrecisionControlTest, AKeyWithoutSlicesGetsNoneFromAnEditedBinding) {
  KeyTable keys(1000);
  ASSERT_TRUE(keys.Restore({"mixed", 8}).ok());
  PrecisionControl control(Files(), &mesh_.overlay, &keys, &mesh_.members);
  EXPECT_THAT(control.DescribeOtherSlices(), HasSubstr("'mixed' is divided nowhere, and the binding divides it at 4"));
  WarmUp(control);
  EXPECT_EQ(control.RouteOf(KeyId(1)), kPlain);
}

TEST_F(PrecisionControlTest, AStepWaitsForAllWorkers) {
  Step(1, 1);
  Report(1, 2, 0.9);
  Report(2, 2, 0.9);
  EXPECT_EQ(Route(), kPlain);
  Report(2, 2, 0.9);
  EXPECT_EQ(Route(), kPlain) << "the same worker again";
  Report(3, 2, 0.9);
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(PrecisionControlTest, AStepThatSomeLeftOutIsDecidedWithTheNext) {
  Report(1, 1, 1);
  Step(2, 0.9);
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(PrecisionControlTest, StepsThatWaitAreBounded) {
  for (int64_t step = 1; step <= 200; ++step) Report(1, step, 1);
  EXPECT_THAT(Status(), HasSubstr("\"step\":136"));
}

TEST_F(PrecisionControlTest, ARiseOfTheLossIsVetoedAndForgiven) {
  Step(1, 1);
  Step(2, 0.9);
  Step(3, 8);
  EXPECT_EQ(Route(), kFallback);
  EXPECT_TRUE(control_->State().is_vetoed);
  EXPECT_THAT(Status(), HasSubstr(R"("veto":"cooldown","vetoes":1,"vetoed_by_order":[],"step":3)"));
  for (int64_t step = 4; step <= 6; ++step) Step(step, 0.8);
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(PrecisionControlTest, AVetoByOrderIsNoTriggerAndOutlivesARestart) {
  EXPECT_TRUE(control_->OnOrder({{"encoder"}, false}).accepted);
  Step(1, 1);
  Step(2, 0.9);
  EXPECT_EQ(Route(), kFallback);
  EXPECT_FALSE(control_->State().is_vetoed);
  PrecisionControl next(Files(), &mesh_.overlay, &keys_, &mesh_.members);
  next.Restore(control_->State());
  EXPECT_EQ(next.RouteOf(KeyId(1)), kFallback);
  EXPECT_TRUE(next.OnOrder({{}, true}).accepted);
  EXPECT_EQ(next.RouteOf(KeyId(1)), kLowBit);
}

TEST_F(PrecisionControlTest, ARestartGoesOnWithTheRoutes) {
  Step(1, 1);
  Step(2, 0.9);
  const PrecisionState admitted = control_->State();
  Step(3, 8);
  const PrecisionState vetoed = control_->State();
  PrecisionControl next(Files(), &mesh_.overlay, &keys_, &mesh_.members);
  next.Restore(admitted);
  EXPECT_EQ(next.RouteOf(KeyId(1)), kLowBit);
  EXPECT_EQ(next.State(), admitted);
  PrecisionControl cooling(Files(), &mesh_.overlay, &keys_, &mesh_.members);
  cooling.Restore(vetoed);
  EXPECT_EQ(cooling.RouteOf(KeyId(1)), kFallback);
  EXPECT_EQ(cooling.State(), vetoed);
}

TEST_F(PrecisionControlTest, WhereProcessorsAreWhatIsSlowTensorsStayPlain) {
  Step(1, 1);
  Step(2, 0.9);
  const NetworkView view = MakeNetworkView(mesh_.overlay);
  PlannerConfig config;
  config.planner = "star";
  config.chunk_max_elements = 1000;
  Policy policy = *MakePolicy(view, config);
  policy.version = PolicyVersion(1);
  control_->Review(policy, view);
  EXPECT_EQ(Route(), kPlain) << "nobody has reported";
  PrecisionReport fast;
  fast.services = {{ServiceKind::kCast, 1000, absl::Nanoseconds(100)},
                   {ServiceKind::kCount, 1000, absl::Nanoseconds(100)}};
  for (uint32_t node = 1; node <= 3; ++node) control_->OnReport(NodeId(node), fast);
  control_->Review(policy, view);
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_THAT(Status(), HasSubstr(R"("guard":"endpoint","predicted":[{"elements":4,)"));
  PrecisionReport slow;
  slow.services = {{ServiceKind::kCast, 1000, absl::Seconds(1000)}, {ServiceKind::kCount, 1000, absl::Seconds(1000)}};
  control_->OnReport(NodeId(2), slow);
  control_->Review(policy, view);
  EXPECT_EQ(Route(), kPlain);
  EXPECT_THAT(control_->State().guarded, ElementsAre(GuardedSize{4, 4}, GuardedSize{100'000, 4}));
  PrecisionControl next(Files(), &mesh_.overlay, &keys_, &mesh_.members);
  next.Restore(control_->State());
  EXPECT_EQ(next.RouteOf(KeyId(1)), kPlain) << "until nodes report";
  control_->OnReport(NodeId(2), fast);
  control_->Review(policy, view);
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(PrecisionControlTest, TheGuardCountsHalvesInTheirOwnWidth) {
  KeyTable keys(1000);
  for (const auto& [name, type] : {std::pair("w", DataType::kFloat16), {"w2", DataType::kFloat32}}) {
    ASSERT_TRUE(keys.Register({name, 100'000, {.parts = {}, .type = type}}).ok());
  }
  PrecisionFiles files = Files();
  const std::vector<SliceBinding> whole = {{0, 100'000, TensorRole::kEncoder, true, {}, ""}};
  files.binding = PrecisionBinding("model", {}, {{"w", 100'000, whole}, {"w2", 100'000, whole}});
  PrecisionControl control(files, &mesh_.overlay, &keys, &mesh_.members);
  const NetworkView view = MakeNetworkView(mesh_.overlay);
  PlannerConfig config;
  config.planner = "star";
  config.chunk_max_elements = 1000;
  Policy policy = *MakePolicy(view, config);
  policy.version = PolicyVersion(1);
  PrecisionReport fast;
  fast.services = {{ServiceKind::kCast, 1000, absl::Nanoseconds(100)},
                   {ServiceKind::kCount, 1000, absl::Nanoseconds(100)}};
  for (uint32_t node = 1; node <= 3; ++node) control.OnReport(NodeId(node), fast);
  control.Review(policy, view);
  RoundBook rounds(&keys, {"n1", "n2", "n3"}, absl::ZeroDuration(), 1);
  JsonWriter json;
  json.BeginObject();
  control.WriteTo(json, rounds, reports_);
  const std::string status = json.EndObject().text();
  EXPECT_THAT(status, HasSubstr(R"("elements":100000,"element_bytes":2,)"));
  EXPECT_THAT(status, HasSubstr(R"("elements":100000,"element_bytes":4,)"));
}

TEST_F(PrecisionControlTest, WithoutFilesAllIsPlain) {
  PrecisionControl none(std::nullopt, &mesh_.overlay, &keys_, &mesh_.members);
  EXPECT_FALSE(none.OnOrder({}).accepted);
  none.OnHealth(NodeId(1), {WorkerId(0), {.step = 1, .loss = 1}});
  EXPECT_EQ(none.RouteOf(KeyId(1)), kPlain);
  EXPECT_EQ(none.State(), PrecisionState());
}

}  // namespace
}  // namespace banyan
