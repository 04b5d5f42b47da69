#include "tools/chaos/chaos_plan.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

using Times = std::vector<absl::Duration>;

// The times of the first faults of a kind.
Times TimesOf(ChaosKind kind, ChaosPlan plan, size_t count) {
  Times times;
  while (times.size() < count) {
    const absl::Duration time = plan.NextTime();
    if (plan.Take().kind == kind) times.push_back(time);
  }
  return times;
}

const std::vector<PlannedFault> kKills = {{.kind = ChaosKind::kKillNode, .every = absl::Seconds(15)}};
const std::vector<PlannedFault> kKillsAndCuts = {{.kind = ChaosKind::kCutLink, .every = absl::Seconds(60)},
                                                 {.kind = ChaosKind::kKillNode, .every = absl::Seconds(15)}};

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
    kinds.insert(plan.Take().kind);
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

TEST(ChaosPlanTest, FaultsOfAScheduleComeOnceAtTheirTimes) {
  const auto faults = ReadChaosSchedule(R"(
faults:
  - {at: 40s, fault: stop_node, sites: [n3], for: 20s}
  - {at: 0, fault: kill_scheduler}
  - {at: 1m, fault: slow_link, sites: [n1, n2], rate: 5Mbit/s, for: 30s, one_way: true}
  - {every: 15s, fault: kill_node}
)",
                                        "storm.yaml");
  ASSERT_TRUE(faults.ok()) << faults.status();
  std::vector<std::pair<absl::Duration, ChaosKind>> came;
  ChaosPlan plan(*faults, 7);
  for (int kills = 0; plan.NextTime() < absl::Minutes(10);) {
    const absl::Duration time = plan.NextTime();
    const PlannedFault& fault = plan.Take();
    if (fault.kind == ChaosKind::kKillNode) {
      ++kills;
      continue;
    }
    came.emplace_back(time, fault.kind);
    if (fault.kind == ChaosKind::kSlowLink) {
      EXPECT_THAT(fault.sites, ::testing::ElementsAre("n1", "n2"));
      EXPECT_EQ(fault.rate_bps, 5e6);
      EXPECT_TRUE(fault.one_way);
      EXPECT_EQ(fault.lasts, absl::Seconds(30));
    }
  }
  EXPECT_THAT(came, ::testing::ElementsAre(std::pair(absl::ZeroDuration(), ChaosKind::kKillScheduler),
                                           std::pair(absl::Seconds(40), ChaosKind::kStopNode),
                                           std::pair(absl::Minutes(1), ChaosKind::kSlowLink)));
  EXPECT_EQ(TimesOf(ChaosKind::kKillNode, ChaosPlan(*faults, 7), 20),
            TimesOf(ChaosKind::kKillNode, ChaosPlan(kKills, 7), 20));
}

TEST(ChaosPlanTest, AScheduleThatMakesNoSenseIsRefusedWithItsPlace) {
  const auto refused = [](const std::string& line) {
    return std::string(ReadChaosSchedule(absl::StrCat("faults:\n  - ", line, "\n"), "storm.yaml").status().message());
  };
  EXPECT_THAT(refused("{fault: kill_node}"), HasSubstr("storm.yaml:2:5: faults[0]: expected either `at` or `every`"));
  EXPECT_THAT(refused("{at: 1s, every: 2s, fault: kill_node}"), HasSubstr("expected either `at` or `every`"));
  EXPECT_THAT(refused("{at: 1s, fault: kil_node}"), HasSubstr("kill_node"));
  EXPECT_THAT(refused("{at: 1s, fault: cut_link, sites: [n1]}"), HasSubstr("two ends of a link"));
  EXPECT_THAT(refused("{at: 1s, fault: kill_node, for: 3s}"), HasSubstr("lasts no time"));
  EXPECT_THAT(refused("{at: 1s, fault: kill_node, rate: 3}"), HasSubstr("belongs to slow_link"));
  EXPECT_THAT(refused("{at: 1s, fault: kill_scheduler, sites: [n1]}"), HasSubstr("takes no `sites`"));
  EXPECT_THAT(refused("{at: 1s, fault: share_link}"), HasSubstr("use slow_link"));
}

}  // namespace
}  // namespace banyan
