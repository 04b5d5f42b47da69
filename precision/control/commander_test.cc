#include "precision/control/commander.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace banyan {
namespace {

using ::testing::HasSubstr;

OperatingProfile Profile() {
  OperatingProfile profile;
  profile.admission.warmup_steps = 10;
  profile.detector = {0.01, 0.1, 0.5};
  return profile;
}

Commander AfterWarmup(const OperatingProfile& profile, double rise_per_step) {
  Commander commander(profile);
  for (int step = 1; step <= 10; ++step) {
    EXPECT_FALSE(commander.is_warm());
    commander.ObserveHealth({step, 5 + rise_per_step * step});
  }
  EXPECT_TRUE(commander.is_warm());
  return commander;
}

TEST(CommanderTest, AdmitsAfterAWarmupWhoseLossFalls) {
  EXPECT_TRUE(AfterWarmup(Profile(), -0.1).Judge("encoder").is_admitted);
  EXPECT_THAT(AfterWarmup(Profile(), 0.1).Judge("encoder").reason, HasSubstr("the loss rose"));
  EXPECT_FALSE(AfterWarmup(Profile(), 0.1).Judge("encoder").is_admitted);
  EXPECT_THAT(AfterWarmup(Profile(), NAN).Judge("encoder").reason, HasSubstr("not finite"));
}

TEST(CommanderTest, AProfileWithoutAModeAdmitsNothing) {
  OperatingProfile profile = Profile();
  profile.has_low_bit = false;
  EXPECT_FALSE(AfterWarmup(profile, -0.1).Judge("encoder").is_admitted);
}

TEST(CommanderTest, ScopesAreHeldAgainstTheLimits) {
  OperatingProfile profile = Profile();
  profile.admission.least_sign_agreement = 0.6;
  profile.admission.most_near_zero = 0.5;
  profile.admission.least_cosine = 0.4;
  Commander commander = AfterWarmup(profile, -0.1);
  commander.ObserveScope("good", {0.7, 0.4, 0.5});
  commander.ObserveScope("good", {0.6, 0.5, 0.4});
  commander.ObserveScope("quarrelling", {0.55, 0.4, 0.5});
  commander.ObserveScope("sparse", {0.7, 0.6, 0.5});
  commander.ObserveScope("crooked", {0.7, 0.4, 0.3});
  commander.ObserveScope("broken", {0.7, 0.4, NAN});
  EXPECT_TRUE(commander.Judge("good").is_admitted);
  EXPECT_THAT(commander.Judge("quarrelling").reason, HasSubstr("signs agree by 0.550, expected at least 0.600"));
  EXPECT_THAT(commander.Judge("sparse").reason, HasSubstr("near zero"));
  EXPECT_THAT(commander.Judge("crooked").reason, HasSubstr("cosine of 0.300"));
  EXPECT_FALSE(commander.Judge("broken").is_admitted);
  EXPECT_THAT(commander.Judge("unseen").reason, HasSubstr("no diagnostics"));
}

}  // namespace
}  // namespace banyan
