#include "examples/fashion_mnist/accuracy/accuracy_scenario.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/random.h"
#include "core/units.h"

namespace banyan {
namespace {

constexpr int kNodes = 8;
constexpr double kReferenceElements = 46.2e6 / 4;  // ResNet18, as NetSenseML says
constexpr absl::Duration kLinkDelay = absl::Milliseconds(15);

// NetSenseML's second scenario: 2000, 1800, .. 200 Mbit/s.
constexpr uint64_t kDegradingSteps = 10;

// NetSenseML's third says neither how many iperf3 processes there are nor when: up to so many, drawn anew this often.
constexpr uint64_t kMostCompetitors = 4;
constexpr absl::Duration kCompetitionPeriod = absl::Seconds(10);

// DC2 shows a running average of its transfer speed, and no numbers of how it limits it: rates down to a tenth.
constexpr double kLeastPart = 0.1;
constexpr absl::Duration kDc2Period = absl::Seconds(10);

Random StepRandom(uint64_t seed, uint64_t step, uint64_t salt) { return Random((seed * 1000003 + step) * 64 + salt); }

}  // namespace

OverlayConfig MeshOverlay(int64_t model_elements) {
  OverlayConfig overlay;
  overlay.links.emplace();
  const double node_bps = kReferenceMbps * kBitsPerMegabit * static_cast<double>(model_elements) / kReferenceElements;
  for (int i = 1; i <= kNodes; ++i) {
    overlay.nodes.emplace_back().name = absl::StrCat("n", i);
    for (int j = 1; j < i; ++j) {
      LinkConfig& link = overlay.links->emplace_back();
      link.a = absl::StrCat("n", j);
      link.b = absl::StrCat("n", i);
      link.a_to_b_bps = link.b_to_a_bps = node_bps / (kNodes - 1);
      link.delay = kLinkDelay;
      link.has_rates = true;
    }
  }
  return overlay;
}

void ScaleRates(double mbps, OverlayConfig& overlay) {
  for (LinkConfig& link : *overlay.links) {
    link.a_to_b_bps *= mbps / kReferenceMbps;
    link.b_to_a_bps *= mbps / kReferenceMbps;
  }
}

RateProfile MakeRateProfile(AccuracyScenario scenario, uint64_t rounds, uint64_t seed) {
  RateProfile profile;
  switch (scenario) {
    case AccuracyScenario::kStatic:
      break;
    case AccuracyScenario::kDegrading:
      profile.rounds = std::max<uint64_t>(1, rounds / kDegradingSteps);
      profile.part = [](uint64_t step, NodeId) {
        return static_cast<double>(kDegradingSteps - std::min(step, kDegradingSteps - 1)) / kDegradingSteps;
      };
      break;
    case AccuracyScenario::kFluctuating:
      profile.period = kCompetitionPeriod;
      profile.part = [seed](uint64_t step, NodeId) {
        return 1.0 / static_cast<double>(1 + StepRandom(seed, step, 0).Below(kMostCompetitors + 1));
      };
      break;
    case AccuracyScenario::kDc2:
      profile.period = kDc2Period;
      profile.part = [seed](uint64_t step, NodeId from) {
        return kLeastPart + (1 - kLeastPart) * StepRandom(seed, step, from.value()).Unit();
      };
      break;
  }
  return profile;
}

}  // namespace banyan
