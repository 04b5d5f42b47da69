#include "scheduler/policy/link_table.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr NodeId kA(1), kB(2), kC(3);

// Three nodes; a to b is believed to have 10 Mbit/s.
class LinkTableTest : public ::testing::Test {
 protected:
  LinkTableTest() : table_(TriangleNetwork()) {}

  static LinkMeasurement Sample(double mbps, bool is_backlogged = true, absl::Duration age = absl::ZeroDuration()) {
    LinkMeasurement measurement;
    measurement.rate_bps = mbps * 1e6;
    measurement.is_backlogged = is_backlogged;
    measurement.delay = absl::Milliseconds(7);
    measurement.age = age;
    return measurement;
  }
  absl::Status Report(const LinkMeasurement& measurement, NodeId from = kA, NodeId to = kB) {
    NodeReport::Link link;
    link.to = to;
    link.measurement = measurement;
    return table_.Accept(now_, from, {link});
  }
  double Mbps() const { return table_.View().FindLink(kA, kB)->throughput_bps / 1e6; }
  const LinkTable::Entry& Entry() const { return table_.entries().front(); }

  LinkTable table_;
  Timestamp now_ = Timestamp::FromNanoseconds(1'000'000'000);
};

TEST_F(LinkTableTest, BeliefsHoldUntilSomebodyMeasures) {
  EXPECT_EQ(Mbps(), 10);
  EXPECT_EQ(Entry().link.source, LinkSource::kBelieved);
  EXPECT_FALSE(table_.AgeOf(Entry(), now_).has_value());
  EXPECT_FALSE(table_.IsOld(Entry(), now_));
  EXPECT_THAT(MeasuredLinks(table_.View(), TriangleNetwork()), IsEmpty());
  EXPECT_FALSE(table_.ChangedBeyond(0));
}

TEST_F(LinkTableTest, BackloggedSamplesReplaceTheValueAndAge) {
  ASSERT_TRUE(Report(Sample(4, true, absl::Milliseconds(500))).ok());
  EXPECT_EQ(Mbps(), 4);
  EXPECT_EQ(table_.View().FindLink(kA, kB)->delay, absl::Milliseconds(7));
  EXPECT_EQ(table_.View().FindLink(kA, kB)->source, LinkSource::kPrimary);
  EXPECT_EQ(table_.View().FindLink(kB, kA)->throughput_bps, 10e6);
  EXPECT_EQ(table_.AgeOf(Entry(), now_ + absl::Seconds(1)), absl::Milliseconds(1500));
  EXPECT_THAT(MeasuredLinks(table_.View(), TriangleNetwork()), SizeIs(1));
  // Much later the value is the same, and said to be old.
  EXPECT_TRUE(table_.IsOld(Entry(), now_ + kOldAfter));
  EXPECT_EQ(Mbps(), 4);
}

TEST_F(LinkTableTest, IdleSamplesRaiseAndNeverLower) {
  ASSERT_TRUE(Report(Sample(4, false)).ok());
  EXPECT_EQ(Mbps(), 10);
  EXPECT_EQ(Entry().link.source, LinkSource::kBelieved);
  EXPECT_EQ(Entry().link.delay, absl::Milliseconds(7));
  LinkMeasurement faster = Sample(20, false);
  faster.source = LinkMeasurement::Source::kAuxiliary;
  ASSERT_TRUE(Report(faster).ok());
  EXPECT_EQ(Mbps(), 20);
  EXPECT_EQ(Entry().link.source, LinkSource::kAuxiliary);
}

TEST_F(LinkTableTest, AnyBoundFarAboveTheBeliefIsTakenAtOnce) {
  // The filter's mean of one sample may differ from it in the last bit.
  for (int step = 0; step < 1000; ++step) {
    table_ = LinkTable(TriangleNetwork());
    const double mbps = 100 + 17.3 * step;
    ASSERT_TRUE(Report(Sample(mbps, false)).ok());
    ASSERT_NEAR(Mbps(), mbps, 1e-9 * mbps);
    ASSERT_EQ(Entry().link.source, LinkSource::kPrimary) << mbps;
    ASSERT_TRUE(table_.AgeOf(Entry(), now_).has_value()) << mbps;
  }
}

TEST_F(LinkTableTest, WhatACapHoldsBackMayBeFaster) {
  table_.SetCappedRates({{{kA, kB}, 8e6}});
  ASSERT_TRUE(Report(Sample(4.5)).ok());
  EXPECT_EQ(Mbps(), 10);
  // Slower than the cap leaves it: that is the link itself.
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(2)).ok());
  EXPECT_EQ(Mbps(), 2);
  // It gets faster again, and the cap hides by how much.
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(5)).ok());
  EXPECT_EQ(Mbps(), 5);
  table_.SetCappedRates({});
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(3)).ok());
  EXPECT_LT(Mbps(), 5);
}

// A member that claims more than its host can have draws no more traffic than the overlay allows.
TEST_F(LinkTableTest, NobodyIsFasterThanTheCapsOfTheOverlay) {
  const NetworkView triangle = TriangleNetwork();
  std::vector<NetworkNode> nodes(triangle.nodes().begin(), triangle.nodes().end());
  nodes[0].up_cap_bps = 50e6;
  nodes[1].down_cap_bps = 20e6;
  table_ = LinkTable(*NetworkView::Create(nodes, {triangle.links().begin(), triangle.links().end()}));
  ASSERT_TRUE(Report(Sample(1e6, false)).ok());
  EXPECT_EQ(Mbps(), 20);
  ASSERT_TRUE(Report(Sample(1e6, false), kA, kC).ok());
  EXPECT_EQ(table_.View().FindLink(kA, kC)->throughput_bps, 50e6);
}

TEST_F(LinkTableTest, NoiseIsAveragedAndChangesAreTaken) {
  for (int i = 0; i < 40; ++i) {
    now_ = now_ + absl::Seconds(1);
    ASSERT_TRUE(Report(Sample(i % 2 == 0 ? 11 : 9)).ok());
    EXPECT_NEAR(Mbps(), 10, 0.51);
    // The same sample again.
    const double before_mbps = Mbps();
    ASSERT_TRUE(Report(Sample(i % 2 == 0 ? 11 : 9, true, absl::Milliseconds(1))).ok());
    EXPECT_EQ(Mbps(), before_mbps);
  }
  EXPECT_NEAR(Mbps(), 10, 0.1);
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(3)).ok());
  EXPECT_NEAR(Mbps(), 3, 0.1);
}

TEST_F(LinkTableTest, OlderSamplesChangeNothing) {
  ASSERT_TRUE(Report(Sample(4)).ok());
  ASSERT_TRUE(Report(Sample(8, true, absl::Milliseconds(1))).ok());
  EXPECT_EQ(Mbps(), 4);
}

TEST_F(LinkTableTest, AbsurdMeasurementsAreRefusedAndTheRestIsTaken) {
  for (const double mbps : {0.0, -1.0, 1e-4, 2e6, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(std::string(Report(Sample(mbps)).message()), HasSubstr("the link from n1 to n2: a rate from"));
  }
  EXPECT_FALSE(Report(Sample(5, true, -absl::Seconds(1))).ok());
  EXPECT_FALSE(Report(Sample(5, true, absl::InfiniteDuration())).ok());
  LinkMeasurement far = Sample(5);
  far.delay = absl::Seconds(11);
  EXPECT_FALSE(Report(far).ok());
  EXPECT_THAT(std::string(Report(Sample(5), kA, NodeId(9)).message()), HasSubstr("no such link"));
  EXPECT_EQ(Mbps(), 10);
  NodeReport::Link bad, good;
  bad.to = kC;
  bad.measurement = Sample(-1);
  good.to = kB;
  good.measurement = Sample(5);
  EXPECT_FALSE(table_.Accept(now_, kA, {bad, good}).ok());
  EXPECT_EQ(Mbps(), 5);
}

TEST_F(LinkTableTest, ChangesCountAgainstTheLastPlan) {
  ASSERT_TRUE(Report(Sample(5)).ok());
  EXPECT_TRUE(table_.ChangedBeyond(0));
  EXPECT_TRUE(table_.ChangedBeyond(0.99));
  EXPECT_FALSE(table_.ChangedBeyond(1));
  table_.MarkPlanned();
  EXPECT_FALSE(table_.ChangedBeyond(0));
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(10)).ok());
  EXPECT_TRUE(table_.ChangedBeyond(0.99));
  EXPECT_FALSE(table_.ChangedBeyond(1));
}

TEST_F(LinkTableTest, KnowledgeSurvivesARestart) {
  ASSERT_TRUE(Report(Sample(4)).ok());
  LinkTable after(TriangleNetwork());
  after.Restore(MeasuredLinks(table_.View(), TriangleNetwork()));
  EXPECT_EQ(after.View().FindLink(kA, kB)->throughput_bps, 4e6);
  EXPECT_FALSE(after.AgeOf(after.entries().front(), now_).has_value());
  EXPECT_TRUE(after.IsOld(after.entries().front(), now_));
  EXPECT_FALSE(after.ChangedBeyond(0));
  EXPECT_EQ(
      WithMeasured(TriangleNetwork(), MeasuredLinks(table_.View(), TriangleNetwork())).FindLink(kA, kB)->throughput_bps,
      4e6);
}

// Measurements do not know them.
TEST_F(LinkTableTest, PricesAreTheOverlays) {
  ASSERT_TRUE(Report(Sample(4)).ok());
  const NetworkView free = TriangleNetwork();
  const std::vector<NetworkLink> measured = MeasuredLinks(table_.View(), free);
  std::vector<NetworkLink> links(free.links().begin(), free.links().end());
  for (NetworkLink& link : links) link.price_per_gb = 0.02;
  const NetworkView priced = *free.WithLinks(links);
  table_.Believe(priced);
  EXPECT_EQ(table_.View().FindLink(kA, kB)->price_per_gb, 0.02);
  EXPECT_EQ(WithMeasured(priced, measured).FindLink(kA, kB)->price_per_gb, 0.02);
}

TEST_F(LinkTableTest, DelaysSurviveARestartWithoutARate) {
  LinkMeasurement sample = Sample(4, false);
  sample.delay = absl::Milliseconds(9);
  ASSERT_TRUE(Report(sample).ok());
  ASSERT_EQ(Entry().link.source, LinkSource::kBelieved) << "a lower bound below the rate says nothing of it";
  const NetworkView restored = WithMeasured(TriangleNetwork(), MeasuredLinks(table_.View(), TriangleNetwork()));
  EXPECT_EQ(restored.links()[0], table_.View().links()[0]);
  EXPECT_EQ(restored.FindLink(kA, kB)->delay, absl::Milliseconds(9));
}

TEST_F(LinkTableTest, LinksThatAreLeftOutAreKnownByTheirEnds) {
  const std::vector<std::pair<NodeId, NodeId>> ends = {{kA, kB}, {kC, kA}};
  const NetworkView without = WithoutLinks(TriangleNetwork(), ends);
  EXPECT_EQ(without.FindLink(kA, kB), nullptr);
  EXPECT_NE(without.FindLink(kB, kA), nullptr);
  EXPECT_EQ(MissingLinks(without, TriangleNetwork()), ends);
  EXPECT_THAT(MissingLinks(TriangleNetwork(), TriangleNetwork()), IsEmpty());
}

TEST_F(LinkTableTest, NewBeliefsReplaceWhatTheyContradict) {
  ASSERT_TRUE(Report(Sample(4)).ok());
  ASSERT_TRUE(Report(Sample(2), kA, kC).ok());
  std::vector<SampleLink> links = {{1, 2, 30}, {2, 1, 10}, {2, 3, 10}, {3, 2, 10}, {1, 3, 4.9}, {3, 1, 4.9}};
  table_.Believe(SampleNetwork(3, links));
  EXPECT_EQ(Mbps(), 30);
  EXPECT_EQ(Entry().link.source, LinkSource::kBelieved);
  EXPECT_EQ(table_.View().FindLink(kA, kC)->throughput_bps, 2e6);
}

TEST_F(LinkTableTest, AGuessIsReplacedByTheFirstSampleOfTheBusyLink) {
  const NetworkView triangle = TriangleNetwork();
  std::vector<NetworkLink> links(triangle.links().begin(), triangle.links().end());
  for (NetworkLink& link : links) link.is_guessed = true;
  table_ = LinkTable(*NetworkView::Create({triangle.nodes().begin(), triangle.nodes().end()}, std::move(links)));
  ASSERT_TRUE(Report(Sample(20, false)).ok());
  EXPECT_EQ(Mbps(), 20) << "a lower bound raises it";
  EXPECT_TRUE(Entry().link.is_guessed);
  now_ = now_ + absl::Seconds(1);
  ASSERT_TRUE(Report(Sample(8)).ok());
  EXPECT_EQ(Mbps(), 8);
  EXPECT_FALSE(Entry().link.is_guessed);
  EXPECT_EQ(table_.last_change(), now_);
}

}  // namespace
}  // namespace banyan
