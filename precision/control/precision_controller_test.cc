#include "precision/control/precision_controller.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace banyan {
namespace {

SliceBinding Slice(int64_t first, int64_t elements, TensorRole role, bool is_candidate) {
  SliceBinding slice;
  slice.first = first;
  slice.elements = elements;
  slice.role = role;
  slice.is_candidate = is_candidate;
  slice.reason = "a test";
  return slice;
}

PrecisionBinding Binding() {
  SliceBinding other_family = Slice(0, 8, TensorRole::kEncoder, true);
  other_family.family = LowBitFamily::kTernary;
  return PrecisionBinding(
      "net", {},
      {{"conv", 100, {Slice(0, 100, TensorRole::kBackbone, true)}},
       {"bucket", 50, {Slice(0, 40, TensorRole::kEncoder, true), Slice(40, 10, TensorRole::kBias, false)}},
       {"ternary", 8, {other_family}},
       {"head", 30, {Slice(0, 30, TensorRole::kHead, false)}}});
}

OperatingProfile Profile(const char* controls) {
  OperatingProfile profile;
  profile.admission.warmup_steps = 5;
  profile.detector = {0.01, 0.1, 0.5};
  profile.controls = *NamedControls(controls);
  return profile;
}

// Runs a round; returns the routes of conv and of the bucket's first slice.
std::pair<PrecisionRoute, PrecisionRoute> Round(PrecisionController& controller, int64_t step, double loss) {
  const PrecisionBinding binding = Binding();
  controller.BeginRound();
  const std::pair<PrecisionRoute, PrecisionRoute> routes = {
      controller.RouteOf("conv", binding.Find("conv")->slices[0]),
      controller.RouteOf("bucket", binding.Find("bucket")->slices[0])};
  EXPECT_EQ(controller.RouteOf("bucket", binding.Find("bucket")->slices[1]), PrecisionRoute::kPlain);
  EXPECT_EQ(controller.RouteOf("ternary", binding.Find("ternary")->slices[0]), PrecisionRoute::kPlain);
  EXPECT_EQ(controller.RouteOf("head", binding.Find("head")->slices[0]), PrecisionRoute::kPlain);
  controller.Observe({step, loss, static_cast<double>(step) / 100, 1, std::nullopt});
  return routes;
}

TEST(PrecisionControllerTest, PlainThenLowBitThenFallbackThenLowBit) {
  PrecisionController controller(Profile("fixed-profile"), Binding());
  int64_t step = 0;
  for (; step < 5; ++step) {
    EXPECT_TRUE(controller.is_warming_up());
    EXPECT_EQ(Round(controller, step + 1, 3 - 0.1 * static_cast<double>(step)).first, PrecisionRoute::kPlain);
  }
  EXPECT_EQ(Round(controller, ++step, 2.4), std::make_pair(PrecisionRoute::kLowBit, PrecisionRoute::kLowBit));
  EXPECT_FALSE(controller.is_warming_up());
  controller.ForceVeto(true);
  EXPECT_EQ(Round(controller, ++step, 2.3), std::make_pair(PrecisionRoute::kFallback, PrecisionRoute::kFallback));
  EXPECT_EQ(controller.veto(), Veto::kForced);
  controller.ForceVeto(false);
  EXPECT_EQ(Round(controller, ++step, 2.2).first, PrecisionRoute::kLowBit);
}

TEST(PrecisionControllerTest, AScopeThatIsRefusedStaysPlain) {
  OperatingProfile profile = Profile("fixed-profile");
  profile.admission.least_cosine = 0.5;
  PrecisionController controller(profile, Binding());
  for (int64_t step = 1; step <= 5; ++step) {
    controller.ObserveScope("backbone", {1, 0, 0.9});
    controller.ObserveScope("encoder", {1, 0, 0.1});
    Round(controller, step, 3 - 0.1 * static_cast<double>(step));
  }
  EXPECT_EQ(Round(controller, 6, 2.4), std::make_pair(PrecisionRoute::kLowBit, PrecisionRoute::kPlain));
  EXPECT_TRUE(controller.admissions().at("backbone").is_admitted);
  EXPECT_FALSE(controller.admissions().at("encoder").is_admitted);
}

TEST(PrecisionControllerTest, StaticIsLowBitFromTheFirstRoundAndFp32Never) {
  PrecisionController always(Profile("static"), Binding());
  EXPECT_EQ(Round(always, 1, NAN).first, PrecisionRoute::kLowBit);
  EXPECT_EQ(Round(always, 2, NAN).first, PrecisionRoute::kLowBit);
  PrecisionController never(Profile("fp32"), Binding());
  for (int64_t step = 1; step < 50; ++step) EXPECT_EQ(Round(never, step, 1).first, PrecisionRoute::kPlain);
}

TEST(PrecisionControllerTest, WhateverComesTheRoutesKeepTheirInvariants) {
  Random random(5);
  for (const std::string& name : ControlSettingNames()) {
    for (int run = 0; run < 20; ++run) {
      PrecisionController controller(Profile(name.c_str()), Binding());
      for (int64_t step = 1; step <= 100; ++step) {
        if (random.Chance(0.05)) controller.ForceVeto(random.Chance(0.5));
        const double loss = random.Chance(0.01) ? NAN : 3 - 0.02 * static_cast<double>(step) + 0.1 * random.Unit();
        const auto [conv, encoder] = Round(controller, step, loss);
        EXPECT_EQ(conv, encoder);  // one scope's admission alone could part them, and both have the same
        EXPECT_EQ(conv == PrecisionRoute::kFallback, controller.veto() != Veto::kNone);
      }
    }
  }
}

TEST(PrecisionControllerTest, ScopesAreModelRoleOrTensor) {
  const SliceBinding slice = Slice(0, 1, TensorRole::kEncoder, true);
  EXPECT_EQ(ScopeOf(PrecisionScope::kModel, "fc", slice), "model");
  EXPECT_EQ(ScopeOf(PrecisionScope::kRole, "fc", slice), "encoder");
  EXPECT_EQ(ScopeOf(PrecisionScope::kTensor, "fc", slice), "fc");
}

}  // namespace
}  // namespace banyan
