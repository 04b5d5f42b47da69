#include "scheduler/precision/precision_control.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/field_json.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/overlay/overlay_network.h"
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
  files.profile.has_guard = false;
  files.binding = PrecisionBinding("model", {},
                                   {{"w", 100'000, {{0, 100'000, TensorRole::kEncoder, true, {}, ""}}},
                                    {"mixed", 8, {{0, 4, TensorRole::kEncoder, true, {}, ""}}},
                                    {"bias", 2, {{0, 2, TensorRole::kBias, false, {}, ""}}}});
  return files;
}

PrecisionFiles GuardedFiles() {
  PrecisionFiles files = Files();
  files.profile.has_guard = true;
  return files;
}

// Of a processor that takes this long for 1,000 bytes of votes.
PrecisionReport ReportOf(absl::Duration time, uint32_t threads = 1) {
  PrecisionReport report;
  report.threads = threads;
  report.services = {{ServiceKind::kCast, 1000, time}, {ServiceKind::kCount, 1000, time}};
  return report;
}
const PrecisionReport kFast = ReportOf(absl::Nanoseconds(100));
const PrecisionReport kSlow = ReportOf(absl::Seconds(1000));

class PrecisionControlTest : public testing::Test {
 protected:
  PrecisionControlTest() {
    mesh_.Start();
    control_.emplace(Files(), &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
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
    JobRounds rounds(&keys_, {"n1", "n2", "n3"}, absl::ZeroDuration(), 1);
    return JsonOf(control_->Status(rounds, reports_).value());
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

TEST_F(PrecisionControlTest, StepsCountAnewWhenTheTrainingGoesBack) {
  Step(1, 1);
  Step(2, 0.9);
  Step(100, 0.5);
  ASSERT_EQ(Route(), kLowBit);
  // All begin again from the state after step 50, and the loss explodes.
  for (int64_t step = 51; step <= 54; ++step) Step(step, 1000.0 * static_cast<double>(step));
  EXPECT_EQ(Route(), kFallback);
}

TEST_F(PrecisionControlTest, EachSliceFollowsItsOwnScope) {
  PrecisionFiles files = Files();
  std::vector<SliceBinding> slices = {{2, 3, TensorRole::kEncoder, true, {}, ""},
                                      {5, 3, TensorRole::kBackbone, true, {}, ""}};
  files.binding = PrecisionBinding("model", {}, {{"mixed", 8, slices}});
  KeyTable keys(1000);
  PrecisionControl control(files, &mesh_.overlay, &keys, &mesh_.members, &mesh_.context);
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
  PrecisionControl control(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
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
  PrecisionControl control(Files(), &mesh_.overlay, &keys, &mesh_.members, &mesh_.context);
  EXPECT_THAT(control.DescribeOtherSlices(), HasSubstr("'mixed' is divided nowhere, and the binding divides it at 4"));
  WarmUp(control);
  EXPECT_EQ(control.RouteOf(KeyId(1)), kPlain);
}

TEST_F(PrecisionControlTest, ARefusalIsNotForEver) {
  Step(1, 1);
  Step(2, 3);
  EXPECT_EQ(Route(), kPlain) << "the loss rose";
  EXPECT_THAT(Status(), HasSubstr(R"("state":"decided, not low-bit: encoder: the loss rose by )"));
  EXPECT_TRUE(mesh_.HasLog("low-bit rounds: decided, not low-bit: encoder: the loss rose by "));
  Step(3, 2);
  EXPECT_EQ(Route(), kPlain);
  Step(4, 1);
  EXPECT_EQ(Route(), kLowBit) << "it fell in as many steps as a warm-up has";
  EXPECT_THAT(Status(), HasSubstr(R"("state":"decided")"));
  EXPECT_TRUE(mesh_.HasLog("low-bit rounds: decided; detector slack 0.01, threshold 0.5 (confidence "));
}

TEST_F(PrecisionControlTest, ABindingOfAnotherModelIsToldOf) {
  PrecisionFiles files = Files();
  files.binding = PrecisionBinding("old", {},
                                   {{"gone", 8, {{0, 8, TensorRole::kEncoder, true, {}, ""}}},
                                    {"other", 4, {{0, 4, TensorRole::kEncoder, true, {}, ""}}},
                                    {"unbound", 2, {{0, 2, TensorRole::kBias, false, {}, ""}}}});
  control_.emplace(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  Step(1, 1);
  EXPECT_THAT(Status(), HasSubstr(R"("state":"warm-up",)")) << "tensors may still come";
  Step(2, 0.9);
  EXPECT_THAT(Status(), HasSubstr("decided, not low-bit: gone: the binding expects 8 elements, the job has no such "
                                  "tensor; write the binding anew (and 1 more)"));
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

TEST_F(PrecisionControlTest, AWorkerThatHasGoneIsAwaitedNoMore) {
  Step(1, 1);
  Step(2, 0.9);
  Report(1, 3, 0.8);
  Report(2, 3, 0.8);
  EXPECT_THAT(Status(), HasSubstr("\"step\":2"));
  control_->OnReport(NodeId(3), {}, /*workers_attached=*/0);
  EXPECT_THAT(Status(), HasSubstr("\"step\":3")) << "what waited for it is decided";
  Report(1, 4, 0.7);
  Report(2, 4, 0.7);
  EXPECT_THAT(Status(), HasSubstr("\"step\":4"));
  control_->OnReport(NodeId(3), {}, /*workers_attached=*/1);
  Report(1, 5, 0.7);
  Report(2, 5, 0.7);
  EXPECT_THAT(Status(), HasSubstr("\"step\":4")) << "another one has come";
}

TEST_F(PrecisionControlTest, WithoutReportsNothingGoesLowBit) {
  Step(1, 1);
  Step(2, 0.9);
  for (int64_t step = 3; step <= 6; ++step) Report(1, step, 0.8);
  EXPECT_EQ(Route(), kLowBit) << "workers may train ahead of others";
  Report(1, 7, 0.8);
  EXPECT_EQ(Route(), kFallback);
  EXPECT_TRUE(control_->State().is_vetoed);
  EXPECT_THAT(Status(), HasSubstr(R"("veto":"reports are missing","vetoes":0)"));
  Report(2, 7, 0.8);
  Report(3, 7, 0.8);
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_FALSE(control_->State().is_vetoed);
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
  PrecisionControl next(Files(), &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
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
  PrecisionControl next(Files(), &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  next.Restore(admitted);
  EXPECT_EQ(next.RouteOf(KeyId(1)), kLowBit);
  EXPECT_EQ(next.State(), admitted);
  PrecisionControl cooling(Files(), &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  cooling.Restore(vetoed);
  EXPECT_EQ(cooling.RouteOf(KeyId(1)), kFallback);
  EXPECT_EQ(cooling.State(), vetoed);
}

TEST_F(PrecisionControlTest, ARestartKeepsWhatWasLearnedUnlessTheProfileIsAnother) {
  PrecisionFiles files = Files();
  files.profile.digest = 7;
  files.profile.controls = *NamedControls("trust-region");
  control_.emplace(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  Step(1, 1);
  Step(2, 0.9);
  const PrecisionState state = control_->State();
  ASSERT_TRUE(state.learned.has_value());
  PrecisionControl next(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  next.Restore(state);
  EXPECT_EQ(next.State(), state);
  EXPECT_FALSE(mesh_.HasLog("has changed since this job judged its warm-up"));
  files.profile.digest = 8;
  PrecisionControl edited(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  edited.Restore(state);
  EXPECT_FALSE(edited.State().learned.has_value());
  EXPECT_TRUE(mesh_.HasLog("the file of profile 'small' has changed since this job judged its warm-up"));
}

// The guard asks for predictions, which the compute pool makes.
class GuardedControlTest : public PrecisionControlTest {
 protected:
  GuardedControlTest() {
    UseFiles();
    Step(1, 1);
    Step(2, 0.9);
    PlannerConfig config;
    config.planner = "star";
    config.chunk_max_elements = 1000;
    policy_ = *MakePolicy(view_, config);
    policy_.version = PolicyVersion(1);
  }
  void UseFiles() {
    control_.emplace(GuardedFiles(), &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
    keys_.UseRoutes(&*control_);
  }
  void AllReport(const PrecisionReport& report) {
    for (uint32_t node = 1; node <= 3; ++node) control_->OnReport(NodeId(node), report, 1);
  }
  // Returns the prediction that a review asks the pool for, if it does.
  std::optional<ComputationFinished> Review() {
    control_->Review(policy_, view_);
    std::optional<StartComputation> started = mesh_.TakeComputation();
    if (!started.has_value()) return std::nullopt;
    return ComputationFinished{started->id, std::move(started->computation)};
  }
  void Finish(std::optional<ComputationFinished> prediction) {
    ASSERT_TRUE(prediction.has_value());
    prediction->result->Run();
    EXPECT_TRUE(control_->OnComputation(*prediction));
  }

  const NetworkView view_ = MakeNetworkView(mesh_.overlay);
  Policy policy_;
};

TEST_F(GuardedControlTest, UntilTheFirstPredictionIsFinishedAllIsPlain) {
  EXPECT_FALSE(Review().has_value()) << "nobody has reported";
  EXPECT_EQ(Route(), kPlain);
  AllReport(kFast);
  std::optional<ComputationFinished> first = Review();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(Route(), kPlain);
  EXPECT_THAT(control_->State().guarded, ElementsAre(GuardedSize{4, 4}, GuardedSize{100'000, 4}));
  Finish(std::move(first));
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_THAT(control_->State().guarded, IsEmpty());
  EXPECT_THAT(Status(), HasSubstr(R"("guard":"endpoint","predicted":[{"elements":4,)"));
}

TEST_F(GuardedControlTest, WhereProcessorsAreWhatIsSlowTensorsStayPlain) {
  AllReport(kFast);
  Finish(Review());
  control_->OnReport(NodeId(2), kSlow, 1);
  std::optional<ComputationFinished> second = Review();
  EXPECT_EQ(Route(), kLowBit) << "the latest prediction that is finished counts";
  Finish(std::move(second));
  EXPECT_EQ(Route(), kPlain);
  EXPECT_THAT(control_->State().guarded, ElementsAre(GuardedSize{4, 4}, GuardedSize{100'000, 4}));
  control_->OnReport(NodeId(2), kFast, 1);
  Finish(Review());
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(GuardedControlTest, AProcessorThatBecomesSlowShowsHoweverLongItWasFast) {
  const auto report = [this](uint64_t bytes, absl::Duration time) {
    PrecisionReport total;
    total.services = {{ServiceKind::kCast, bytes, time}, {ServiceKind::kCount, bytes, time}};
    AllReport(total);
  };
  report(1'000'000'000'000, absl::Seconds(100));
  Finish(Review());
  EXPECT_EQ(Route(), kLowBit);
  report(1'000'000'000'100, absl::Seconds(1000));
  Finish(Review());
  report(1'000'000'000'200, absl::Seconds(2000));
  Finish(Review());
  report(1'000'000'000'300, absl::Seconds(9000));
  Finish(Review());
  EXPECT_EQ(Route(), kPlain) << "though it has done 100 MB a second since it began";
  report(100'000'000, absl::Milliseconds(10));
  Finish(Review());
  EXPECT_EQ(Route(), kLowBit) << "nodes that began anew";
}

TEST_F(GuardedControlTest, OtherThreadsArePredictedAnew) {
  AllReport(kFast);
  Finish(Review());
  EXPECT_FALSE(Review().has_value()) << "nothing has changed";
  control_->OnReport(NodeId(2), ReportOf(absl::Nanoseconds(100), 4), 1);
  EXPECT_TRUE(Review().has_value());
}

TEST_F(GuardedControlTest, WhatChangesWhileAPredictionIsMadeIsPredictedAfterIt) {
  AllReport(kFast);
  std::optional<ComputationFinished> first = Review();
  control_->OnReport(NodeId(2), kSlow, 1);
  EXPECT_FALSE(Review().has_value()) << "one at a time";
  Finish(std::move(first));
  EXPECT_EQ(Route(), kLowBit);
  Finish(Review());
  EXPECT_EQ(Route(), kPlain);
  EXPECT_FALSE(Review().has_value()) << "nothing has changed";
}

TEST_F(GuardedControlTest, ASizeThatComesLaterIsPlainUntilItIsPredicted) {
  KeyTable keys(1000);
  control_.emplace(GuardedFiles(), &mesh_.overlay, &keys, &mesh_.members, &mesh_.context);
  keys.UseRoutes(&*control_);
  Step(1, 1);
  Step(2, 0.9);
  ASSERT_TRUE(keys.Register({"w", 100'000}).ok());
  AllReport(kFast);
  Finish(Review());
  ASSERT_TRUE(keys.Register({"mixed", 8}).ok());
  EXPECT_EQ(control_->RouteOf(KeyId(2)), kPlain);
  std::optional<ComputationFinished> second = Review();
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_EQ(control_->RouteOf(KeyId(2)), kPlain);
  EXPECT_THAT(control_->State().guarded, ElementsAre(GuardedSize{4, 4}));
  Finish(std::move(second));
  EXPECT_EQ(control_->RouteOf(KeyId(2)).Text(), "low-bit") << "and the second slice is plain";
}

TEST_F(GuardedControlTest, ANewPolicyIsPredictedWhileRoutesGoOn) {
  AllReport(kFast);
  Finish(Review());
  EXPECT_FALSE(Review().has_value());
  policy_.version = PolicyVersion(2);
  std::optional<ComputationFinished> second = Review();
  EXPECT_TRUE(second.has_value());
  EXPECT_EQ(Route(), kLowBit);
}

TEST_F(GuardedControlTest, ARestartGoesOnWithTheRoutesUntilAllHaveReported) {
  AllReport(kFast);
  Finish(Review());
  const PrecisionState allowed = control_->State();
  UseFiles();
  control_->Restore(allowed);
  EXPECT_FALSE(Review().has_value());
  EXPECT_EQ(Route(), kLowBit);
  EXPECT_EQ(control_->State(), allowed);
  AllReport(kSlow);
  Finish(Review());
  const PrecisionState refused = control_->State();
  UseFiles();
  control_->Restore(refused);
  control_->OnReport(NodeId(1), kFast, 1);
  EXPECT_FALSE(Review().has_value());
  EXPECT_EQ(Route(), kPlain);
  EXPECT_EQ(control_->State(), refused);
}

TEST_F(GuardedControlTest, WhatIsNoPredictionIsNotTaken) {
  AllReport(kFast);
  std::optional<ComputationFinished> first = Review();
  ASSERT_TRUE(first.has_value());
  ComputationFinished other{ComputationId(1), nullptr};
  EXPECT_FALSE(control_->OnComputation(other));
  EXPECT_GT(first->result->size_bytes(), 0);
  const ComputationId id = first->computation;
  Finish(std::move(first));
  ComputationFinished again{id, nullptr};
  EXPECT_FALSE(control_->OnComputation(again));
}

TEST_F(GuardedControlTest, TheGuardCountsHalvesInTheirOwnWidth) {
  ASSERT_TRUE(keys_.Register({"half", 100'000, {.parts = {}, .type = DataType::kFloat16}}).ok());
  PrecisionFiles files = GuardedFiles();
  const std::vector<SliceBinding> whole = {{0, 100'000, TensorRole::kEncoder, true, {}, ""}};
  files.binding = PrecisionBinding("model", {}, {{"w", 100'000, whole}, {"half", 100'000, whole}});
  control_.emplace(files, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  AllReport(kFast);
  Finish(Review());
  EXPECT_THAT(Status(), HasSubstr(R"("elements":100000,"element_bytes":2,)"));
  EXPECT_THAT(Status(), HasSubstr(R"("elements":100000,"element_bytes":4,)"));
}

TEST_F(PrecisionControlTest, WithoutFilesAllIsPlain) {
  PrecisionControl none(std::nullopt, &mesh_.overlay, &keys_, &mesh_.members, &mesh_.context);
  EXPECT_FALSE(none.OnOrder({}).accepted);
  none.OnHealth(NodeId(1), {WorkerId(0), {.step = 1, .loss = 1}});
  EXPECT_EQ(none.RouteOf(KeyId(1)), kPlain);
  EXPECT_EQ(none.State(), PrecisionState());
}

}  // namespace
}  // namespace banyan
