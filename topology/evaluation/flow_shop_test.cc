#include "topology/evaluation/flow_shop.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Step = FlowShop::Step;

constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(FlowShopTest, ServersServeAsManyJobsAtOnce) {
  FlowShop shop;
  const size_t station = shop.AddStation(2, kEndless, 3);
  const size_t kind = shop.AddKind({{station, 0, {}}});
  const std::vector<FlowShop::Job> jobs(4, {kind, 10});
  EXPECT_DOUBLE_EQ(shop.Schedule(jobs).last_s, 10) << "the fourth waits for one of the three";
  EXPECT_DOUBLE_EQ(shop.LongestWork(jobs), 20.0 / 3);
}

TEST(FlowShopTest, AStationServesOneJobAfterTheOther) {
  FlowShop shop;
  const size_t station = shop.AddStation(2, kEndless);
  shop.AddKind({Step{station, 0, {}}});
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 4}, {0, 6}}).last_s, 5);
  EXPECT_DOUBLE_EQ(shop.LongestWork({{0, 4}, {0, 6}}), 5);
}

TEST(FlowShopTest, JobsPassStationsInAPipeline) {
  FlowShop shop;
  const size_t fast = shop.AddStation(2, kEndless);
  const size_t slow = shop.AddStation(1, kEndless);
  shop.AddKind({Step{fast, 3, {1}}, Step{slow, 1, {}}});
  // The first is at the slow one after 1 + 3 seconds, which then has work for 6.
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 2}, {0, 2}, {0, 2}}).last_s, 1 + 3 + 6 + 1);
  EXPECT_DOUBLE_EQ(shop.LongestWork({{0, 2}, {0, 2}, {0, 2}}), 6);
}

TEST(FlowShopTest, AStepWaitsForAllThatItNeeds) {
  FlowShop shop;
  const size_t near = shop.AddStation(1, kEndless);
  const size_t far = shop.AddStation(1, kEndless);
  const size_t root = shop.AddStation(1, kEndless);
  shop.AddKind({Step{near, 1, {2}}, Step{far, 5, {2}}, Step{root, 0, {}}});
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 1}}).last_s, 1 + 5 + 1);
}

// The first job comes to the shared station when the two others, which begin there, have waited for long.
double MakespanWithWindow(double window_bits) {
  FlowShop shop;
  const size_t before = shop.AddStation(1, kEndless);
  const size_t shared = shop.AddStation(1, window_bits);
  const size_t behind = shop.AddStation(1, kEndless);
  shop.AddKind({Step{before, 0, {1}}, Step{shared, 0, {2}}, Step{behind, 100, {}}});
  shop.AddKind({Step{shared, 0, {}}});
  return shop.Schedule({{0, 1}, {1, 1}, {1, 1}, {1, 1}}).last_s;
}

TEST(FlowShopTest, AnEarlierJobOvertakesWhatIsNotInTheWindowYet) {
  EXPECT_DOUBLE_EQ(MakespanWithWindow(1), 1 + 1 + 1 + 100);
  EXPECT_DOUBLE_EQ(MakespanWithWindow(kEndless), 3 + 1 + 1 + 100);
}

TEST(FlowShopTest, AJobLeavesTheWindowWhenItsAnswerIsBack) {
  FlowShop shop;
  const size_t station = shop.AddStation(1, 1);
  shop.AddKind({Step{station, 10, {}}});
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 1}, {0, 1}}).last_s, (1 + 10 + 10) + 1 + 10);
}

TEST(FlowShopTest, TellsWhenTheLastJobOfEachKindIsDone) {
  FlowShop shop;
  const size_t fast = shop.AddStation(2, kEndless);
  const size_t slow = shop.AddStation(1, kEndless);
  shop.AddKind({Step{fast, 3, {}}});
  shop.AddKind({Step{slow, 0, {}}});
  shop.AddKind({Step{fast, 0, {}}});
  const FlowShop::Ends ends = shop.Schedule({{0, 2}, {1, 9}, {0, 2}});
  EXPECT_DOUBLE_EQ(ends.last_s, 9);
  EXPECT_EQ(ends.of_kinds_s, (std::vector<double>{1 + 1 + 3, 9, 0}));
}

TEST(FlowShopTest, TheSameShopSchedulesAgain) {
  FlowShop shop;
  const size_t station = shop.AddStation(1, 2);
  shop.AddKind({Step{station, 1, {}}});
  const double once = shop.Schedule({{0, 1}, {0, 2}}).last_s;
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 1}, {0, 2}}).last_s, once);
}

TEST(FlowShopTest, NothingTakesNoTime) {
  FlowShop shop;
  shop.AddKind({});
  EXPECT_DOUBLE_EQ(shop.Schedule({}).last_s, 0);
  EXPECT_DOUBLE_EQ(shop.Schedule({{0, 1}}).last_s, 0);
  EXPECT_DOUBLE_EQ(shop.LongestWork({}), 0);
}

}  // namespace
}  // namespace banyan
