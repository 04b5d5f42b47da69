// Real traffic through an emulated WAN, beside what its links promise: delay, rate, loss, changes of rate. Each
// measurement has three tries, because the machine may do something else meanwhile; what a try found is printed.
// Skipped where the system lets nobody make namespaces or TUN devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "posix/steady_clock.h"
#include "wan/testing/testing_traffic.h"
#include "wan/testing/testing_wan.h"

namespace banyan {
namespace {

constexpr int kTries = 3;
constexpr double kTolerance = 0.1;
constexpr absl::Duration kWarmUp = absl::Seconds(2);
constexpr absl::Duration kMeasured = absl::Seconds(3);

// What a measurement has found.
struct Finding {
  bool good = false;
  std::string text;
};

void Calibrate(const std::function<Finding()>& measure) {
  Finding finding;
  for (int i = 1; i <= kTries && !finding.good; ++i) {
    finding = measure();
    std::printf("try %d: %s: %s\n", i, finding.good ? "good" : "bad", finding.text.c_str());
  }
  EXPECT_TRUE(finding.good) << finding.text;
}

class CalibrationTest : public ::testing::Test {
 protected:
  // Whether there is something to measure.
  bool Start(NetworkView view) {
    wan_.options.view = std::move(view);
    const absl::Status status = wan_.Start();
    if (status.ok()) return true;
    if (IsForbidden(status)) {
      std::printf("skipped: %s\n", std::string(status.message()).c_str());
    } else {
      ADD_FAILURE() << status;
    }
    return false;
  }

  // How well flows use the rates that they are to have, in the worst case.
  Finding UseOfRates(const std::vector<FlowSpec>& specs, const std::vector<double>& mbps) {
    TcpFlows flows(wan_.client(), specs);
    flows.Run(kWarmUp);
    const std::vector<int64_t> before = flows.received_bytes();
    const Timestamp start = SteadyNow();
    flows.Run(kMeasured);
    const double seconds = absl::ToDoubleSeconds(SteadyNow() - start);
    Finding finding = {true, "goodput of the links' rates"};
    for (size_t i = 0; i < specs.size(); ++i) {
      const double bits = static_cast<double>(flows.received_bytes()[i] - before[i]) * 8;
      Judge(bits / seconds / 1e6 / mbps[i], finding);
    }
    return finding;
  }

  // Likewise, all flows over one link.
  Finding UseOfOneLink(const std::vector<FlowSpec>& specs, double mbps) {
    TcpFlows flows(wan_.client(), specs);
    flows.Run(kWarmUp);
    const int64_t before = flows.TotalBytes();
    const Timestamp start = SteadyNow();
    flows.Run(kMeasured);
    const double seconds = absl::ToDoubleSeconds(SteadyNow() - start);
    Finding finding = {true, "goodput of the link's rate"};
    Judge(static_cast<double>(flows.TotalBytes() - before) * 8 / seconds / 1e6 / mbps, finding);
    return finding;
  }

  static void Judge(double use, Finding& finding) {
    absl::StrAppendFormat(&finding.text, " %.3f", use);
    if (use < 1 - kTolerance || use > 1) finding.good = false;
  }

  TestingWan wan_;
};

// Nine nodes in a ring; the link after node i has kRingMbps[i].
constexpr std::array<double, 9> kRingMbps = {20, 38, 54, 71, 87, 108, 123, 142, 155};

NetworkView Ring(double loss) {
  std::vector<TestingWanLink> links;
  for (uint32_t i = 0; i < 9; ++i) links.push_back({i + 1, (i + 1) % 9 + 1, kRingMbps[i], 15, loss});
  return TestingView(9, links);
}

std::vector<FlowSpec> RingFlows(const std::string& congestion) {
  std::vector<FlowSpec> flows;
  for (int i = 0; i < 9; ++i)
    flows.push_back({absl::StrCat("n", i + 1), absl::StrCat("n", (i + 1) % 9 + 1), congestion});
  return flows;
}

TEST_F(CalibrationTest, RoundTripsTakeTwiceTheDelay) {
  if (!Start(TestingView(4, {{1, 2, 100, 2}, {2, 3, 20, 15}, {3, 4, 155, 40}}))) GTEST_SKIP();
  Calibrate([&] {
    Finding finding = {true, "ms beyond twice the delay"};
    for (const auto& [from, to, delay_ms] : std::vector<std::tuple<const char*, const char*, double>>{
             {"n1", "n2", 2}, {"n2", "n3", 15}, {"n1", "n4", 57}}) {
      const double beyond_ms = absl::ToDoubleMilliseconds(MedianRoundTrip(wan_.client(), from, to, 21)) - 2 * delay_ms;
      absl::StrAppendFormat(&finding.text, " %.3f", beyond_ms);
      if (beyond_ms < 0 || beyond_ms > 1) finding.good = false;
    }
    return finding;
  });
}

TEST_F(CalibrationTest, OneFlowFillsALinkWithoutLoss) {
  if (!Start(TestingView(2, {{1, 2, 100, 15}}))) GTEST_SKIP();
  Calibrate([&] { return UseOfOneLink({{"n1", "n2", "cubic"}}, 100); });
}

TEST_F(CalibrationTest, NineFlowsFillALinkWithoutLoss) {
  if (!Start(TestingView(2, {{1, 2, 100, 15}}))) GTEST_SKIP();
  Calibrate([&] { return UseOfOneLink(std::vector<FlowSpec>(9, {"n1", "n2", "cubic"}), 100); });
}

TEST_F(CalibrationTest, NineFlowsFillNineLinksWithoutLoss) {
  if (!Start(Ring(0))) GTEST_SKIP();
  Calibrate([&] { return UseOfRates(RingFlows("cubic"), {kRingMbps.begin(), kRingMbps.end()}); });
}

TEST_F(CalibrationTest, FlowsThatAreRoutedShareTheLinksBetween) {
  if (!Start(TestingView(3, {{1, 2, 100, 5}, {2, 3, 60, 5}}))) GTEST_SKIP();
  Calibrate([&] { return UseOfOneLink({{"n1", "n3", "cubic"}, {"n2", "n3", "cubic"}}, 60); });
}

TEST_F(CalibrationTest, BbrFillsLinksWithLoss) {
  if (!Start(Ring(2e-4))) GTEST_SKIP();
  try {
    TcpFlows probe(wan_.client(), {{"n1", "n2", "bbr"}});
  } catch (const std::exception& error) {
    GTEST_SKIP() << "the kernel has no BBR: " << error.what();
  }
  Calibrate([&] { return UseOfRates({{"n5", "n6", "bbr"}}, {kRingMbps[4]}); });
  Calibrate([&] { return UseOfOneLink(std::vector<FlowSpec>(9, {"n5", "n6", "bbr"}), kRingMbps[4]); });
  Calibrate([&] { return UseOfRates(RingFlows("bbr"), {kRingMbps.begin(), kRingMbps.end()}); });
}

TEST_F(CalibrationTest, LossIsWhatTheLinkSays) {
  constexpr double kLoss = 0.05;
  constexpr int kDatagrams = 20000;
  if (!Start(TestingView(2, {{1, 2, 1000, 1, kLoss}}))) GTEST_SKIP();
  const TestingDatagrams datagrams(wan_.client(), "n1", "n2");
  const double deviation = std::sqrt(kDatagrams * kLoss * (1 - kLoss));
  Calibrate([&] {
    const WanStatus::Link before = *wan_.Status().FindLink("n1", "n2");
    const int missing = kDatagrams - datagrams.SendAndCount(kDatagrams);
    const WanStatus::Link after = *wan_.Status().FindLink("n1", "n2");
    const auto lost = static_cast<int>(after.lost_packets - before.lost_packets);
    EXPECT_EQ(after.packets - before.packets, kDatagrams);
    return Finding{missing == lost && std::abs(lost - kDatagrams * kLoss) < 4 * deviation,
                   absl::StrFormat("%d of %d missing, %d lost on the link; expected %.0f, standard deviation %.1f",
                                   missing, kDatagrams, lost, kDatagrams * kLoss, deviation)};
  });
}

TEST_F(CalibrationTest, ARateChangeIsEffectiveWithin100Ms) {
  if (!Start(TestingView(2, {{1, 2, 100, 5}}))) GTEST_SKIP();
  const TestingDatagrams datagrams(wan_.client(), "n1", "n2");
  double former_mbps = 100;
  for (const double mbps : {20.0, 155.0, 40.0}) {
    Calibrate([&] {
      WanStatus::Link before, after;
      absl::Duration passed;
      // A machine that is too busy to send as much as the link carries says nothing of the link.
      for (int tries = 0; tries < 20 && after.dropped_packets == before.dropped_packets; ++tries) {
        EXPECT_TRUE(wan_.client().SetRate("n1", "n2", former_mbps * 1e6).ok());
        datagrams.Flood(absl::Milliseconds(300));
        EXPECT_TRUE(wan_.client().SetRate("n1", "n2", mbps * 1e6).ok());
        datagrams.Flood(absl::Milliseconds(100));
        const WanStatus first = wan_.Status();
        datagrams.Flood(absl::Milliseconds(500));
        const WanStatus second = wan_.Status();
        before = *first.FindLink("n1", "n2");
        after = *second.FindLink("n1", "n2");
        passed = absl::Seconds(second.uptime_seconds - first.uptime_seconds);
      }
      const double measured = static_cast<double>(after.bytes - before.bytes) * 8 / 1e6 / absl::ToDoubleSeconds(passed);
      return Finding{std::abs(measured / mbps - 1) < 0.05,
                     absl::StrFormat("%.1f Mbit/s from 0.1 s to 0.6 s after the change to %.0f", measured, mbps)};
    });
    former_mbps = mbps;
  }
}

TEST_F(CalibrationTest, RatesChangeBySchedule) {
  wan_.options.changes = {{absl::Seconds(0.5), NodeId(1), NodeId(2), 30e6}};
  wan_.options.redraw = LinkRedraw{absl::Seconds(1), 200e6, 300e6, 1, 3};
  if (!Start(TestingView(2, {{1, 2, 100, 5}}))) GTEST_SKIP();
  WanStatus status = wan_.Status();
  double scheduled = 0;
  for (; status.uptime_seconds < 1.1; status = wan_.Status()) {
    if (status.uptime_seconds > 0.6 && status.uptime_seconds < 0.9) scheduled = status.FindLink("n1", "n2")->mbps;
  }
  EXPECT_EQ(scheduled, 30);
  const std::vector<LinkChange> drawn = DrawLinkChanges(
      *wan_.options.redraw, 1, std::vector<std::pair<NodeId, NodeId>>{{NodeId(1), NodeId(2)}, {NodeId(2), NodeId(1)}});
  for (const LinkChange& change : drawn) {
    const NetworkView& view = wan_.options.view;
    EXPECT_NEAR(status.FindLink(view.NameOf(change.from), view.NameOf(change.to))->mbps, change.rate_bps / 1e6, 1e-3);
  }
}

}  // namespace
}  // namespace banyan
