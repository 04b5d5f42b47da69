#include "topology/inference/sharing_inference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/inference/fluid_traffic.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using Kind = SharedGroup::Kind;
using Shared = FluidTraffic::Shared;

constexpr double kMega = 1e6;
constexpr int kSeeds = 20;
constexpr int kLongEnough = 120;  // intervals

std::vector<double> RatesOf(const NetworkView& view, uint64_t seed) {
  Random random(seed);
  std::vector<double> rates_bps;
  for (size_t i = 0; i < view.links().size(); ++i) rates_bps.push_back((40 + 110 * random.Unit()) * kMega);
  return rates_bps;
}

double SumOf(const std::vector<double>& rates_bps, const std::vector<size_t>& links) {
  double sum_bps = 0;
  for (const size_t link : links) sum_bps += rates_bps[link];
  return sum_bps;
}

// A job on a mesh of six nodes and what is inferred of it.
struct Job {
  explicit Job(uint64_t seed, std::vector<Shared> shared = {})
      : view(CompleteNetwork(6, 100)), traffic(RatesOf(view, seed), std::move(shared), seed), inference(view) {}

  // Returns whether a group was known after any of the intervals.
  bool Run(int intervals) {
    bool has_found = false;
    for (int i = 0; i < intervals; ++i) {
      inference.Add(traffic.Next());
      has_found |= !inference.groups().empty();
    }
    return has_found;
  }
  const SharedGroup* Find(Kind kind, NodeId host) const {
    const auto found = std::find_if(inference.groups().begin(), inference.groups().end(),
                                    [&](const SharedGroup& group) { return group.kind == kind && group.host == host; });
    return found == inference.groups().end() ? nullptr : &*found;
  }
  std::string Text() const {
    std::string text;
    for (const SharedGroup& group : inference.groups()) {
      text += std::to_string(static_cast<int>(group.kind)) + ":" + std::to_string(group.host.value()) + "=" +
              std::to_string(group.capacity_bps / kMega);
      for (const size_t link : group.links) text += " " + std::to_string(link);
      text += "; ";
    }
    return text;
  }

  NetworkView view;
  FluidTraffic traffic;
  SharingInference inference;
};

Shared OfHost(Job& job, NodeId host, Kind kind, double part) {
  const std::vector<size_t> links = LinksOfHost(job.view, host, kind);
  return {part * SumOf(job.traffic.rates_bps(), links), links};
}

TEST(SharingInferenceTest, InventsNothingWhereNothingIsShared) {
  int invented = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Job job(seed);
    job.Run(kLongEnough);
    // Some links become slower by themselves.
    for (size_t link = 0; link < 30; link += 4) job.traffic.rates_bps()[link] *= 0.4;
    if (!job.Run(kLongEnough)) continue;
    std::cout << "seed " << seed << ": " << job.Text() << "\n";
    ++invented;
  }
  EXPECT_LE(invented, 1);
}

TEST(SharingInferenceTest, OneLinkWhoseRateIsOverstatedSharesNothing) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Job job(seed);
    for (int i = 0; i < kLongEnough; ++i) {
      std::vector<LinkTraffic> interval = job.traffic.Next();
      if (i > kLongEnough / 2) interval[0].reached_bps *= 10;
      job.inference.Add(interval);
      EXPECT_TRUE(job.inference.groups().empty()) << "seed " << seed << ", interval " << i << ": " << job.Text();
    }
  }
}

TEST(SharingInferenceTest, FindsTheCapsOfHosts) {
  int found = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Job job(seed);
    const std::set<std::pair<Kind, NodeId>> capped = {{Kind::kSent, NodeId(1)}, {Kind::kReceived, NodeId(2)}};
    for (const auto& [kind, host] : capped) job.traffic.shared().push_back(OfHost(job, host, kind, 0.5));
    job.Run(kLongEnough);
    bool is_right = job.inference.groups().size() == capped.size();
    for (size_t i = 0; i < capped.size(); ++i) {
      const auto& [kind, host] = *std::next(capped.begin(), static_cast<std::ptrdiff_t>(i));
      const SharedGroup* const group = job.Find(kind, host);
      is_right = is_right && group != nullptr &&
                 std::abs(group->capacity_bps / job.traffic.shared()[i].capacity_bps - 1) < 0.05;
    }
    if (!is_right) std::cout << "seed " << seed << ": " << job.Text() << "\n";
    found += is_right ? 1 : 0;
  }
  // Both caps of a job, that is. A sum that stays for long while always the same links are busy shows none.
  EXPECT_GE(found, 18);
}

TEST(SharingInferenceTest, FollowsACapThatChanges) {
  for (const double factor : {0.5, 1.6}) {
    int found = 0;
    int followed = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Job job(seed);
      job.traffic.shared().push_back(OfHost(job, NodeId(1), Kind::kSent, 0.4));
      job.Run(kLongEnough);
      if (job.Find(Kind::kSent, NodeId(1)) == nullptr) continue;
      ++found;
      job.traffic.shared()[0].capacity_bps *= factor;
      job.Run(10);
      const SharedGroup* const group = job.Find(Kind::kSent, NodeId(1));
      const bool is_right =
          group != nullptr && std::abs(group->capacity_bps / job.traffic.shared()[0].capacity_bps - 1) < 0.1;
      if (!is_right) {
        std::cout << "factor " << factor << " seed " << seed << ": " << job.traffic.shared()[0].capacity_bps / kMega
                  << " is " << job.Text() << "\n";
      }
      followed += is_right ? 1 : 0;
    }
    EXPECT_GE(found, 18) << factor;
    // A higher cap shows only when so many links are busy that they reach it, which not all do within ten intervals.
    EXPECT_GE(followed, found - (factor > 1 ? 4 : 1)) << factor;
  }
}

TEST(SharingInferenceTest, ForgetsACapThatIsGone) {
  int found = 0;
  int forgotten = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Job job(seed);
    job.traffic.shared().push_back(OfHost(job, NodeId(1), Kind::kSent, 0.5));
    job.Run(kLongEnough);
    if (job.inference.groups().empty()) continue;
    ++found;
    job.traffic.shared().clear();
    job.Run(kLongEnough);
    forgotten += job.inference.groups().empty() ? 1 : 0;
  }
  EXPECT_GE(found, 18);
  EXPECT_GE(forgotten, found - 1);
}

TEST(SharingInferenceTest, KnownCapsStayAsTheyAre) {
  Job job(1);
  job.traffic.shared().push_back(OfHost(job, NodeId(1), Kind::kSent, 0.5));
  std::vector<NetworkNode> nodes(job.view.nodes().begin(), job.view.nodes().end());
  nodes[0].up_cap_bps = 77e6;
  job.inference = SharingInference(*NetworkView::Create(nodes, {job.view.links().begin(), job.view.links().end()}));
  job.Run(kLongEnough);
  EXPECT_EQ(job.Find(Kind::kSent, NodeId(1)), nullptr);
}

}  // namespace
}  // namespace banyan
