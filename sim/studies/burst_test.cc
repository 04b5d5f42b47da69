// Rounds while others send bursts over the links that carry most, with trimming and without.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "sim/runs/simulation.h"
#include "sim/testing/sample_simulations.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int64_t kModelBytes = 46'000'000;
constexpr uint64_t kRounds = 30;
constexpr size_t kLoadedLinks = 3;
constexpr double kPartOfTheRate = 0.7;
constexpr absl::Duration kOn = absl::Seconds(2);
constexpr absl::Duration kOff = absl::Seconds(3);
// By then the job knows how long its rounds take, and then it meets its first bursts.
constexpr size_t kQuietRounds = 8;
constexpr size_t kFirstBursts = 3;

double Quantile(std::vector<double> seconds, double part) {
  std::sort(seconds.begin(), seconds.end());
  return seconds.at(static_cast<size_t>(part * static_cast<double>(seconds.size() - 1)));
}

SimulationReport Run(SimulationOptions options, TrimPolicyKind policy) {
  options.overlay.compression.rules = {{.codec = CodecId::kTrimRht}};
  options.overlay.trimming.policy = policy;
  absl::StatusOr<SimulationReport> report = Simulate(options);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return {};
  EXPECT_TRUE(report->replicas_identical);
  return *std::move(report);
}

std::vector<double> Seconds(const SimulationReport& report, size_t first) {
  std::vector<double> seconds;
  for (size_t i = first; i < report.rounds.size(); ++i) {
    seconds.push_back(absl::ToDoubleSeconds(report.rounds[i].synchronisation));
  }
  return seconds;
}

using Links = std::vector<SimulationReport::LinkReport>;

// The links that were used most of the time.
Links MostLoaded(const SimulationReport& report) {
  Links links = report.links;
  std::sort(links.begin(), links.end(), [](const auto& a, const auto& b) {
    return static_cast<double>(a.bytes) / a.rate_bps > static_cast<double>(b.bytes) / b.rate_bps;
  });
  links.resize(kLoadedLinks);
  return links;
}

std::vector<CrossTraffic> Bursts(const Links& links, absl::Duration from, uint64_t seed) {
  Random random(seed);
  std::vector<CrossTraffic> traffic;
  for (const SimulationReport::LinkReport& link : links) {
    traffic.push_back(
        {link.from, link.to, kPartOfTheRate * link.rate_bps, kOn, kOff, from + random.Unit() * (kOn + kOff)});
  }
  return traffic;
}

// How many sequences of bursts are tried: `few`, or `many` with BANYAN_LONG.
uint64_t Sequences(uint64_t few, uint64_t many) { return std::getenv("BANYAN_LONG") == nullptr ? few : many; }

// What the rounds of all sequences of bursts took.
std::vector<double> InBursts(const SimulationOptions& quiet_options, const SimulationReport& quiet, const Links& links,
                             uint64_t sequences, TrimPolicyKind policy) {
  absl::Duration from;
  for (size_t i = 0; i < kQuietRounds; ++i) from += quiet.rounds[i].synchronisation;
  std::vector<double> all;
  for (uint64_t seed = 1; seed <= sequences; ++seed) {
    SimulationOptions options = quiet_options;
    options.cross_traffic = Bursts(links, from, seed);
    const std::vector<double> seconds = Seconds(Run(options, policy), kQuietRounds + kFirstBursts);
    all.insert(all.end(), seconds.begin(), seconds.end());
  }
  return all;
}

// `links_of` are those that others load.
void ExpectTrimmingHolds(const SimulationOptions& options, uint64_t sequences,
                         Links (*links_of)(const SimulationReport&)) {
  const SimulationReport quiet = Run(options, TrimPolicyKind::kOff);
  const Links links = links_of(quiet);
  const double median = Quantile(Seconds(quiet, 2), 0.5);
  const std::vector<double> trimmed = InBursts(options, quiet, links, sequences, TrimPolicyKind::kDeadline);
  const std::vector<double> whole = InBursts(options, quiet, links, sequences, TrimPolicyKind::kOff);
  std::printf("undisturbed median %.3f s; in bursts, over it: trimmed p50 %.2f p99 %.2f, whole p50 %.2f p99 %.2f\n",
              median, Quantile(trimmed, 0.5) / median, Quantile(trimmed, 0.99) / median, Quantile(whole, 0.5) / median,
              Quantile(whole, 0.99) / median);
  EXPECT_LE(Quantile(trimmed, 0.99), 1.25 * median);
  EXPECT_GT(Quantile(whole, 0.99), 1.25 * median) << "these bursts disturb nobody";
}

// The last node's contributions go over the one in the middle.
Links LinkOfTheRelay(const SimulationReport& report) {
  Links links = report.links;
  std::erase_if(links, [](const auto& link) { return link.from != NodeId(2) || link.to != NodeId(1); });
  return links;
}

TEST(BurstTest, RoundsOfInternet2KeepTheirTime) {
  ExpectTrimmingHolds(Internet2Simulation(kModelBytes, kRounds), Sequences(1, 3), MostLoaded);
}

// The relay in the middle trims what the last node has sent.
TEST(BurstTest, AForwardingHopTrimsWhatOthersSent) {
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(R"(
nodes: [{name: a}, {name: b}, {name: c}]
links:
  - {between: [a, b], mbps: 2.5, delay_ms: 10}
  - {between: [b, c], mbps: 6.25, delay_ms: 10}
topology: {planner: star, root: a}
chunks: {max_elements: 2048}
)",
                                                             "overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  SimulationOptions options;
  options.overlay = *overlay;
  options.tensor_elements = {125'000};
  options.rounds = kRounds;
  ExpectTrimmingHolds(options, Sequences(12, 50), LinkOfTheRelay);
}

}  // namespace
}  // namespace banyan
