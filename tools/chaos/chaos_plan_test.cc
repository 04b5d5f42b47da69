#include "tools/chaos/chaos_plan.h"

#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

using Times = std::vector<absl::Duration>;

// The times of the first faults of a kind.
Times TimesOf(ChaosKind kind, ChaosPlan plan, size_t count) {
  Times times;
  while (times.size() < count) {
    const absl::Duration time = plan.NextTime();
    if (plan.Take() == kind) times.push_back(time);
  }
  return times;
}

const std::vector<ChaosInterval> kKills = {{ChaosKind::kKillNode, absl::Seconds(15)}};
const std::vector<ChaosInterval> kKillsAndCuts = {{ChaosKind::kCutLink, absl::Seconds(60)},
                                                  {ChaosKind::kKillNode, absl::Seconds(15)}};

TEST(ChaosPlanTest, FaultsOfAKindAreApartAsAskedFor) {
  const Times times = TimesOf(ChaosKind::kKillNode, ChaosPlan(kKills, 7), 1000);
  absl::Duration last;
  for (const absl::Duration time : times) {
    EXPECT_THAT(time - last, AllOf(Ge(absl::Seconds(7.5)), Le(absl::Seconds(22.5))));
    last = time;
  }
  EXPECT_THAT(times.back(), AllOf(Ge(absl::Seconds(14500)), Le(absl::Seconds(15500))));
}

TEST(ChaosPlanTest, TimesDependOnTheSeedAlone) {
  const Times times = TimesOf(ChaosKind::kKillNode, ChaosPlan(kKills, 7), 20);
  EXPECT_EQ(TimesOf(ChaosKind::kKillNode, ChaosPlan(kKillsAndCuts, 7), 20), times);
  ChaosPlan drawn(kKills, 7);
  for (int i = 0; i < 5; ++i) drawn.Draw(9);
  EXPECT_EQ(TimesOf(ChaosKind::kKillNode, drawn, 20), times);
  EXPECT_NE(TimesOf(ChaosKind::kKillNode, ChaosPlan(kKills, 8), 20), times);
}

TEST(ChaosPlanTest, TheNextFaultIsTheFirstOfAllKinds) {
  ChaosPlan plan(kKillsAndCuts, 1);
  std::set<ChaosKind> kinds;
  absl::Duration last;
  for (int i = 0; i < 50; ++i) {
    EXPECT_GE(plan.NextTime(), last);
    last = plan.NextTime();
    kinds.insert(plan.Take());
  }
  EXPECT_EQ(kinds.size(), 2u);
}

TEST(ChaosPlanTest, EveryCandidateIsHit) {
  ChaosPlan plan(kKills, 1);
  std::set<size_t> hit;
  for (int i = 0; i < 200; ++i) hit.insert(plan.Draw(9));
  EXPECT_EQ(hit.size(), 9u);
  EXPECT_EQ(*hit.rbegin(), 8u);
}

TEST(ChaosPlanTest, WithoutKindsNothingComes) { EXPECT_EQ(ChaosPlan({}, 1).NextTime(), absl::InfiniteDuration()); }

}  // namespace
}  // namespace banyan
