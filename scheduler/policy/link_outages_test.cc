#include "scheduler/policy/link_outages.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const NodeId kA(1);
const NodeId kB(2);
const NodeId kC(3);

Timestamp At(absl::Duration time) { return Timestamp() + time; }

NetworkView Triangle() {
  std::vector<NetworkLink> links;
  for (const auto& [from, to] : {std::pair(kA, kB), {kB, kA}, {kA, kC}, {kC, kA}, {kB, kC}, {kC, kB}}) {
    NetworkLink& link = links.emplace_back();
    link.from = from;
    link.to = to;
    link.throughput_bps = 1e6;
  }
  return *NetworkView::Create({{kA, "a", {}, {}}, {kB, "b", {}, {}}, {kC, "c", {}, {}}}, links);
}

TEST(LinkOutagesTest, ALinkIsOutInBothDirectionsForAMinute) {
  LinkOutages outages;
  EXPECT_TRUE(outages.empty());
  outages.Cut(At(absl::ZeroDuration()), kB, kA, "silent");
  const NetworkView view = outages.Without(Triangle());
  EXPECT_THAT(view.links(), SizeIs(4));
  EXPECT_EQ(view.FindLink(kA, kB), nullptr);
  EXPECT_EQ(view.FindLink(kB, kA), nullptr);
  ASSERT_THAT(outages.All(), SizeIs(1));
  EXPECT_EQ(outages.All()[0].a, kA);
  EXPECT_THAT(outages.Lately(At(absl::Seconds(1))), SizeIs(0)) << "it is out";
  EXPECT_EQ(outages.NextDeadline(), At(kFirstOutage));
  EXPECT_FALSE(outages.TakeReturned(At(kFirstOutage / 2)));
  EXPECT_TRUE(outages.TakeReturned(At(kFirstOutage)));
  EXPECT_FALSE(outages.TakeReturned(At(kFirstOutage)));
  ASSERT_THAT(outages.Lately(At(kFirstOutage + kLately)), SizeIs(1));
  EXPECT_EQ(outages.Lately(At(kFirstOutage + kLately))[0].why, "silent");
  EXPECT_THAT(outages.Lately(At(kFirstOutage + 2 * kLately)), SizeIs(0));
  EXPECT_THAT(outages.Without(Triangle()).links(), SizeIs(6));
}

TEST(LinkOutagesTest, ANodeIsCutOffFromMostOthersWhenNoneOfItsLinksWorks) {
  LinkOutages outages;
  const NetworkView view = Triangle();
  outages.Cut(At(absl::ZeroDuration()), kA, kB, "silent");
  EXPECT_THAT(outages.CutOff(view, {kA, kB, kC}), IsEmpty()) << "they reach each other over c";
  EXPECT_THAT(outages.CutOff(view, {kA, kB}), IsEmpty()) << "neither is the greater part";
  outages.Cut(At(absl::ZeroDuration()), kA, kC, "silent");
  EXPECT_THAT(outages.CutOff(view, {kA, kB, kC}), ElementsAre(kA));
  outages.TakeReturned(At(kFirstOutage));
  EXPECT_THAT(outages.CutOff(view, {kA, kB, kC}), IsEmpty());
}

TEST(LinkOutagesTest, LinksThatAreNeededReturnEarlier) {
  LinkOutages outages;
  outages.Cut(At(absl::ZeroDuration()), kA, kB, "silent");
  outages.ReturnBy(At(2 * kFirstOutage));
  EXPECT_EQ(outages.NextDeadline(), At(kFirstOutage));
  outages.ReturnBy(At(kFirstOutage / 4));
  EXPECT_TRUE(outages.TakeReturned(At(kFirstOutage / 4)));
}

TEST(LinkOutagesTest, EachTimeItTakesTwiceAsLongUpToHalfAnHour) {
  LinkOutages outages;
  Timestamp now;
  for (const int minutes : {1, 2, 4, 8, 16, 30, 30}) {
    outages.Cut(now, kA, kB, "");
    EXPECT_EQ(outages.NextDeadline(), now + absl::Minutes(minutes));
    now = outages.NextDeadline();
    EXPECT_TRUE(outages.TakeReturned(now));
  }
  now = now + kLongestOutage;
  outages.TakeReturned(now);
  outages.Cut(now, kA, kB, "");
  EXPECT_EQ(outages.NextDeadline(), now + kFirstOutage) << "it was good for long";
}

}  // namespace
}  // namespace banyan
