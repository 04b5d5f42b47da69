#include "precision/control/supervisor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

constexpr int64_t kSteps = 1000;
constexpr int64_t kWarmup = 100;

OperatingProfile Profile(const char* controls) {
  OperatingProfile profile;
  profile.detector = {0.004, 0.1, 0.1};
  profile.admission.warmup_steps = kWarmup;
  profile.recovery = {40, 10, 50, 2};
  profile.exposure = {0.3, 0.03, 1};
  profile.controls = *NamedControls(controls);
  return profile;
}

struct Outcome {
  std::vector<Veto> vetoes;  // of each step after the warm-up
  Supervisor::Record record;
  double share = 0;

  // Steps from `step` until the first veto for a cooldown; -1 where none comes.
  int64_t StepsToCooldown(int64_t step) const {
    for (size_t i = static_cast<size_t>(step - kWarmup); i < vetoes.size(); ++i) {
      if (vetoes[i] == Veto::kCooldown) return static_cast<int64_t>(i) + kWarmup - step;
    }
    return -1;
  }
  int64_t Count(Veto veto) const { return std::count(vetoes.begin(), vetoes.end(), veto); }
};

// A loss that falls with noise; `damage` is added to it.
Outcome Train(const OperatingProfile& profile, uint64_t seed, const std::function<double(int64_t)>& damage) {
  Random random(seed);
  Supervisor supervisor(profile);
  Outcome run;
  for (int64_t step = 0; step < kSteps; ++step) {
    const double progress = static_cast<double>(step + 1) / kSteps;
    const double loss = 2 * std::exp(-3 * progress) + 0.03 * (random.Unit() - 0.5) + damage(step);
    const TrainingHealth health{step + 1, loss, progress, 1 - 0.9 * progress, std::nullopt};
    if (step == kWarmup) supervisor.Admit();
    if (step < kWarmup) {
      supervisor.ObserveWarmup(health);
      continue;
    }
    run.vetoes.push_back(supervisor.Decide());
    supervisor.Observe(health, run.vetoes.back() == Veto::kNone);
  }
  run.record = supervisor.record();
  run.share = supervisor.budget().share();
  return run;
}

double Nothing(int64_t) { return 0; }
double Spike(int64_t step) { return step >= 500 && step < 510 ? 1.5 : 0; }

TEST(SupervisorTest, AnUndisturbedRunHasNoTrigger) {
  for (const std::string& name : ControlSettingNames()) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      EXPECT_EQ(Train(Profile(name.c_str()), seed, Nothing).record.triggers, 0) << name << " seed " << seed;
    }
  }
}

TEST(SupervisorTest, EachInjectedDegradationIsDetectedWithinSteps) {
  const std::function<double(int64_t)> kinds[] = {
      Spike,                                                               // a learning rate that jumps
      [](int64_t step) { return step >= 500 && step < 530 ? 0.6 : 0.0; },  // shuffled labels for some steps
      [](int64_t step) { return step < 500 ? 0.0 : 0.02 * static_cast<double>(step - 500); },  // a poisoned worker
  };
  for (const auto& damage : kinds) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Outcome run = Train(Profile("fixed-profile"), seed, damage);
      EXPECT_GE(run.record.triggers, 1);
      const int64_t steps = run.StepsToCooldown(500);
      EXPECT_GE(steps, 1);
      EXPECT_LE(steps, 20);
    }
  }
}

TEST(SupervisorTest, ALossThatIsNotFiniteFallsBackInTheNextRound) {
  const Outcome run = Train(Profile("fixed-profile"), 1, [](int64_t step) { return step == 500 ? NAN : 0.0; });
  EXPECT_EQ(run.StepsToCooldown(500), 1);
}

TEST(SupervisorTest, RecoversThroughCooldownAndReadmission) {
  const Outcome run = Train(Profile("fixed-profile"), 1, [](int64_t step) { return step == 500 ? NAN : 0.0; });
  EXPECT_EQ(run.Count(Veto::kCooldown), 40);
  EXPECT_EQ(run.Count(Veto::kReadmission), 10);
  EXPECT_EQ(run.record.readmissions, 1);
  EXPECT_EQ(run.vetoes.back(), Veto::kNone);
}

TEST(SupervisorTest, ARepeatedTriggerDoublesTheCooldown) {
  const Outcome run =
      Train(Profile("fixed-profile"), 1, [](int64_t step) { return step == 300 || step == 360 ? NAN : 0.0; });
  EXPECT_EQ(run.record.triggers, 2);
  EXPECT_EQ(run.Count(Veto::kCooldown), 40 + 80);
}

TEST(SupervisorTest, WithoutAVetoItOnlyCounts) {
  const Outcome run = Train(Profile("no-veto"), 1, Spike);
  EXPECT_GE(run.record.triggers, 1);
  EXPECT_EQ(run.Count(Veto::kNone), kSteps - kWarmup);
}

TEST(SupervisorTest, TheBudgetHoldsTheShare) {
  const Outcome run = Train(Profile("calibrated"), 1, Nothing);
  EXPECT_LE(run.share, 0.33);
  EXPECT_GE(run.share, 0.3);
}

TEST(SupervisorTest, TheLaddersOrderTheirShares) {
  // As in Table 6: without a budget most, with one that is found little, and windows win some of it back.
  const double warmup_only = Train(Profile("warm-up-only"), 1, Spike).share;
  const double trust_region = Train(Profile("trust-region"), 1, Spike).share;
  const double auto_budget = Train(Profile("auto-budget"), 1, Spike).share;
  const double smoothed = Train(Profile("smoothed-budget"), 1, Spike).share;
  const double guarded = Train(Profile("late-phase-guard"), 1, Spike).share;
  EXPECT_GE(warmup_only, trust_region);
  EXPECT_GT(trust_region, smoothed);
  EXPECT_GT(smoothed, auto_budget);
  EXPECT_LE(guarded, smoothed);
  // As in Table 11: an absolute cooldown leaves little, one that knows what remains leaves more, no veto all.
  const auto share = [](const char* controls) {
    OperatingProfile profile = Profile(controls);
    profile.recovery.cooldown_steps = 400;
    return Train(profile, 1, Spike).share;
  };
  EXPECT_LT(share("fixed-profile"), share("run-aware-cooldown"));
  EXPECT_LT(share("run-aware-cooldown"), share("no-veto"));
}

TEST(SupervisorTest, ARestartGoesOnWithWhatTheProbeTaught) {
  const OperatingProfile profile = Profile("probe-guided");
  Supervisor first(profile);
  const auto health = [](int64_t step) {
    return TrainingHealth{step, 2 - 0.001 * static_cast<double>(step), static_cast<double>(step) / kSteps};
  };
  for (int64_t step = 1; step <= kWarmup; ++step) first.ObserveWarmup(health(step));
  EXPECT_FALSE(first.learned().has_value());
  first.Admit();
  Supervisor probing(profile);
  probing.Resume(false, first.learned());
  for (int64_t step = kWarmup + 1; step <= kWarmup + profile.controls.probe_steps; ++step) {
    for (Supervisor* const each : {&first, &probing}) {
      EXPECT_EQ(each->Decide(), Veto::kNone);
      each->Observe(health(step), true);
    }
  }
  ASSERT_TRUE(first.learned().has_value());
  EXPECT_TRUE(first.learned()->is_probed);
  EXPECT_TRUE(probing.learned()->is_probed) << "a probe that was not over begins anew";
  Supervisor next(profile);
  next.Resume(false, first.learned());
  EXPECT_EQ(next.learned(), first.learned());
  EXPECT_EQ(next.budget().target(), first.budget().target());
  EXPECT_EQ(next.record().cooldown_steps, first.record().cooldown_steps);
  EXPECT_EQ(next.detector().threshold(), first.detector().threshold());
  EXPECT_EQ(next.detector().slack(), first.detector().slack());
  EXPECT_LT(next.detector().slack(), profile.detector.slack);
}

TEST(SupervisorTest, ASettingThatLearnsNothingKeepsNothing) {
  Supervisor supervisor(Profile("calibrated"));
  supervisor.ObserveWarmup({1, 2, 0});
  supervisor.Admit();
  EXPECT_FALSE(supervisor.learned().has_value());
}

TEST(SupervisorTest, NoiseIsAnsweredShortly) {
  // A slow rise that the detector's slack nearly bears.
  const auto drift = [](int64_t step) { return step >= 500 ? 0.0075 * static_cast<double>(step - 500) : 0.0; };
  OperatingProfile profile = Profile("noise-aware");
  profile.exposure.bound = 1;
  profile.controls.detector = DetectorSource::kProfile;
  const Outcome aware = Train(profile, 1, drift);
  profile.controls.noise_aware = false;
  const Outcome unaware = Train(profile, 1, drift);
  EXPECT_GE(aware.record.noise_recoveries, 1);
  EXPECT_GT(aware.share, unaware.share);
}

TEST(SupervisorTest, AForcedVetoHoldsInEverySetting) {
  for (const std::string& name : ControlSettingNames()) {
    Supervisor supervisor(Profile(name.c_str()));
    supervisor.Admit();
    supervisor.Force(true);
    EXPECT_EQ(supervisor.Decide(), Veto::kForced) << name;
    supervisor.Force(false);
    EXPECT_NE(supervisor.Decide(), Veto::kForced) << name;
  }
}

TEST(SupervisorTest, NothingIsLowBitWhileItCoolsDownWhateverComes) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::string> names = ControlSettingNames();
    OperatingProfile profile = Profile(names[random.Below(names.size())].c_str());
    profile.controls.probe = false;
    if (!profile.controls.veto) continue;
    Supervisor supervisor(profile);
    supervisor.Admit();
    int64_t quiet_until = -1;
    for (int64_t step = 0; step < 300; ++step) {
      const bool is_low_bit = supervisor.Decide() == Veto::kNone;
      EXPECT_FALSE(is_low_bit && step <= quiet_until);
      const int64_t triggers = supervisor.record().triggers;
      const double loss = random.Chance(0.02) ? NAN : 10 * random.Unit();
      supervisor.Observe({step + 1, loss, static_cast<double>(step + 1) / 300, 1, std::nullopt}, is_low_bit);
      if (supervisor.record().triggers > triggers) quiet_until = step + 1;
      if (!profile.controls.budget) continue;
      EXPECT_LE(supervisor.budget().share(), profile.exposure.bound + 0.03 + 1e-9);
    }
  }
}

TEST(SupervisorTest, AHoldoutThatGetsWorseIsATriggerAlthoughTheLossFalls) {
  OperatingProfile profile = Profile("calibrated");
  profile.controls.budget = false;
  profile.controls.probe = false;
  profile.detector.most_metric_drop = 0.05;
  Supervisor supervisor(profile);
  supervisor.ObserveWarmup({1, 2.0, 0, 1, 0.8});
  supervisor.Admit();
  double loss = 2;
  int64_t step = 1;
  const auto observe = [&](std::optional<double> metric) {
    const bool is_low_bit = supervisor.Decide() == Veto::kNone;
    supervisor.Observe({++step, loss -= 0.001, 0, 1, metric}, is_low_bit);
    return is_low_bit;
  };
  EXPECT_TRUE(observe(std::nullopt)) << "not every step has one";
  EXPECT_TRUE(observe(0.76));
  EXPECT_EQ(supervisor.record().triggers, 0) << "a drop that is borne";
  EXPECT_TRUE(observe(0.74));
  EXPECT_EQ(supervisor.record().triggers, 1);
  for (int64_t quiet = 0; quiet < profile.recovery.cooldown_steps; ++quiet) EXPECT_FALSE(observe(std::nullopt));
  EXPECT_FALSE(observe(0.7)) << "it has not recovered: readmission begins anew";
  for (int64_t quiet = 0; quiet < profile.recovery.readmission_steps; ++quiet) EXPECT_FALSE(observe(0.79));
  EXPECT_TRUE(observe(0.81));
}

TEST(TrainingHealthTest, MeanOfAllReports) {
  const TrainingHealth mean = MeanHealth({{7, 1.0, 0.5, 1.0, 0.8}, {7, 3.0, 0.5, 0.5, std::nullopt}});
  EXPECT_EQ(mean.step, 7);
  EXPECT_EQ(mean.loss, 2.0);
  EXPECT_EQ(mean.progress, 0.5);
  EXPECT_EQ(mean.learning_rate_fraction, 0.75);
  EXPECT_EQ(mean.metric, 0.8);
  EXPECT_FALSE(std::isfinite(MeanHealth({{1, 1.0}, {1, NAN}}).loss));
}

TEST(TrainingHealthTest, RemainingStepsFollowFromProgress) {
  EXPECT_EQ(RemainingSteps({25, 0, 0.25}), 75);
  EXPECT_EQ(RemainingSteps({100, 0, 1.0}), 0);
  EXPECT_EQ(RemainingSteps({25, 0, 0.0}), std::nullopt);
}

}  // namespace
}  // namespace banyan
