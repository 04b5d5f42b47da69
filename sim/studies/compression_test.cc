// What compressed rounds take when links change, and that every node still gets the same.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

constexpr int64_t kElements = 250000;  // 1 MB
constexpr double kRateBps = 20e6;
constexpr absl::Duration kComputeTime = absl::Milliseconds(100);

// Three nodes with links of 20 Mbit/s and 15 ms, on which a round of 1 MB takes most of a second.
SimulationOptions ThreeNodes(CompressionRule rule) {
  SimulationOptions options;
  options.overlay.nodes.resize(3);
  options.overlay.links.emplace();
  const char* const names[] = {"n1", "n2", "n3"};
  for (int i = 0; i < 3; ++i) {
    options.overlay.nodes[i].name = names[i];
    for (int j = i + 1; j < 3; ++j) {
      LinkConfig& link = options.overlay.links->emplace_back();
      link.a = names[i];
      link.b = names[j];
      link.a_to_b_bps = link.b_to_a_bps = kRateBps;
      link.delay = absl::Milliseconds(15);
    }
  }
  options.tensor_elements = {kElements};
  options.compute_time = kComputeTime;
  options.overlay.compression.rules = {std::move(rule)};
  return options;
}

void ChangeAllRates(absl::Duration at, double rate_bps, SimulationOptions* options) {
  for (uint32_t from = 1; from <= 3; ++from) {
    for (uint32_t to = 1; to <= 3; ++to) {
      if (from != to) options->link_changes.push_back({at, NodeId(from), NodeId(to), rate_bps});
    }
  }
}

// The rounds that began between these times, in seconds.
std::vector<double> RoundsBetween(const SimulationReport& report, absl::Duration begin, absl::Duration end) {
  std::vector<double> seconds;
  absl::Duration now;
  for (const SimulationReport::RoundReport& round : report.rounds) {
    if (now >= begin && now < end) seconds.push_back(absl::ToDoubleSeconds(round.synchronisation));
    now += round.synchronisation + kComputeTime;
  }
  return seconds;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

CompressionRule NetSense() { return {.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}; }

// Returns something that asks the scheduler for its status at each report of a node, and notes the last prediction.
std::function<std::unique_ptr<Protocol>(std::unique_ptr<Protocol>)> NotePrediction(double* predicted_s) {
  TamperingProtocol::Tampering watching;
  watching.repeat = [](const Event& event, Event* second) {
    const auto* const received = std::get_if<MessageReceived>(&event);
    if (received == nullptr || !std::holds_alternative<NodeReport>(received->message)) return false;
    *second = MessageReceived{ConnectionId(kInboundConnection.value() + 99), StatusRequest{}, {}};
    return true;
  };
  watching.on_action = [predicted_s](Action* action) {
    const auto* const send = std::get_if<Send>(action);
    const auto* const reply = send == nullptr ? nullptr : std::get_if<StatusReply>(&send->message);
    if (reply == nullptr) return true;
    if (reply->status->plan.has_value()) *predicted_s = reply->status->plan->predicted_round_seconds.value_or(0);
    return false;  // it has nowhere to go
  };
  return [watching](std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    return std::make_unique<TamperingProtocol>(std::move(core), watching);
  };
}

// The scheduler plans again when links have become slower.
TEST(CompressionTest, TheSchedulerPredictsRoundsOfWhatNodesSend) {
  for (const double ratio : {0.0, 0.1}) {
    SimulationOptions options = ThreeNodes({.codec = CodecId::kFp32});
    if (ratio > 0) options.overlay.compression.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", ratio}}}};
    options.rounds = 60;
    ChangeAllRates(absl::Seconds(5), kRateBps / 2, &options);
    double predicted_s = 0;
    options.wrap_scheduler = NotePrediction(&predicted_s);
    const absl::StatusOr<SimulationReport> report = Simulate(options);
    ASSERT_TRUE(report.ok()) << report.status();
    const double takes_s = report->rounds.empty() ? 0 : RoundSeconds(*report).back();
    EXPECT_GT(predicted_s, 0.7 * takes_s) << ratio;
    EXPECT_LT(predicted_s, 1.3 * takes_s) << ratio;
  }
}

TEST(CompressionTest, ASmallerRatioMakesRoundsShorter) {
  SimulationOptions options = ThreeNodes({.codec = CodecId::kFp32});
  options.rounds = 6;
  const absl::StatusOr<SimulationReport> plain = Simulate(options);
  ASSERT_TRUE(plain.ok()) << plain.status();
  options.overlay.compression.rules = {{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.1}}}};
  const absl::StatusOr<SimulationReport> compressed = Simulate(options);
  ASSERT_TRUE(compressed.ok()) << compressed.status();
  EXPECT_TRUE(compressed->replicas_identical);
  // 4.6 bytes for each of a tenth of the elements, and the delay of the links.
  EXPECT_LT(compressed->synchronisation_p50, plain->synchronisation_p50 / 3);
}

// A chain whose last link is slow. Its first node is the root, which has a fast link only: the result must fit the slow
// one that it takes later.
TEST(CompressionTest, AResultIsAsSparseAsTheSlowestLinkOfItsTreeNeeds) {
  SimulationOptions options =
      ThreeNodes({.codec = CodecId::kTopK, .controller = RatioControllerKind::kBudget, .numbers = {{"seconds", 0.5}}});
  std::vector<LinkConfig>& links = *options.overlay.links;
  links.erase(links.begin() + 1);  // n1 to n3
  links.back().a_to_b_bps = kRateBps / 20;
  options.overlay.topology.planner = "mst";
  options.overlay.topology.root = "n1";
  options.overlay.awareness.enabled = false;
  options.rounds = 60;
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  std::vector<double> seconds = RoundsBetween(*report, absl::ZeroDuration(), absl::Hours(1));
  seconds.erase(seconds.begin(), seconds.begin() + 30);
  // With what the fast link can carry it would be many times that.
  EXPECT_LT(Median(seconds), 0.5);
  EXPECT_GT(Median(seconds), 0.25);
}

// NetSenseML on links that drop to a tenth of their rate and come back: ten rounds later rounds take at most half
// longer than before, and afterwards as little.
TEST(CompressionTest, NetSenseKeepsRoundTimesThroughADropToATenth) {
  constexpr absl::Duration kDrop = absl::Seconds(30);
  constexpr absl::Duration kRecovery = absl::Seconds(60);
  constexpr size_t kSettling = 10;
  SimulationOptions options = ThreeNodes(NetSense());
  options.rounds = 400;
  ChangeAllRates(kDrop, kRateBps / 10, &options);
  ChangeAllRates(kRecovery, kRateBps, &options);
  const absl::StatusOr<SimulationReport> report = Simulate(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->replicas_identical);
  const double before = Median(RoundsBetween(*report, kDrop / 2, kDrop));
  std::vector<double> during = RoundsBetween(*report, kDrop, kRecovery);
  ASSERT_GT(during.size(), 2 * kSettling);
  during.erase(during.begin(), during.begin() + kSettling);
  EXPECT_LT(Median(during), 1.5 * before);
  const std::vector<double> after = RoundsBetween(*report, kRecovery + absl::Seconds(10), absl::Seconds(1000));
  ASSERT_GT(after.size(), kSettling);
  EXPECT_LT(Median(after), 1.5 * before);
}

}  // namespace
}  // namespace banyan
