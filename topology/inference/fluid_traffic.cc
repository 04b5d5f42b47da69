#include "topology/inference/fluid_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace banyan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMuch = 0.75;     // the chance that a link has much to send
constexpr double kLittle = 0.15;   // the chance that it has little
constexpr double kChanges = 0.15;  // the chance that this changes in an interval
constexpr double kWanders = 0.15;  // by so much weights change in an interval
constexpr double kNoise = 0.01;    // of what is measured

}  // namespace

FluidTraffic::FluidTraffic(std::vector<double> rates_bps, std::vector<Shared> shared, uint64_t seed)
    : rates_bps_(std::move(rates_bps)),
      shared_(std::move(shared)),
      random_(seed),
      weights_(rates_bps_.size(), 1),
      wants_bps_(rates_bps_.size(), kInfinite) {}

void FluidTraffic::Wander() {
  for (size_t i = 0; i < rates_bps_.size(); ++i) {
    weights_[i] = std::clamp(weights_[i] * std::exp(kWanders * (2 * random_.Unit() - 1)), 0.3, 3.0);
    if (!random_.Chance(kChanges)) continue;
    const double draw = random_.Unit();
    wants_bps_[i] = draw < kMuch ? kInfinite : draw < kMuch + kLittle ? random_.Unit() * rates_bps_[i] : 0;
  }
}

// Fills all links alike, by their weights, until something of theirs is full.
std::vector<double> FluidTraffic::Divide() const {
  std::vector<double> given(rates_bps_.size(), 0);
  std::vector<bool> is_done(rates_bps_.size(), false);
  while (true) {
    double step = kInfinite;
    for (size_t i = 0; i < given.size(); ++i) {
      if (!is_done[i]) step = std::min(step, (std::min(rates_bps_[i], wants_bps_[i]) - given[i]) / weights_[i]);
    }
    for (const Shared& shared : shared_) {
      double left = shared.capacity_bps;
      double weights = 0;
      for (const size_t link : shared.links) {
        left -= given[link];
        weights += is_done[link] ? 0 : weights_[link];
      }
      if (weights > 0) step = std::min(step, std::max(0.0, left) / weights);
    }
    if (step == kInfinite) return given;
    for (size_t i = 0; i < given.size(); ++i) given[i] += is_done[i] ? 0 : step * weights_[i];
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] >= std::min(rates_bps_[i], wants_bps_[i]) * (1 - 1e-9)) is_done[i] = true;
    }
    for (const Shared& shared : shared_) {
      double sum = 0;
      for (const size_t link : shared.links) sum += given[link];
      if (sum < shared.capacity_bps * (1 - 1e-9)) continue;
      for (const size_t link : shared.links) is_done[link] = true;
    }
  }
}

std::vector<LinkTraffic> FluidTraffic::Next() {
  Wander();
  const std::vector<double> given = Divide();
  std::vector<LinkTraffic> interval;
  for (size_t i = 0; i < given.size(); ++i) {
    const double measured = given[i] * (1 + kNoise * (2 * random_.Unit() - 1));
    const bool is_busy = given[i] < wants_bps_[i] * (1 - 1e-9);
    interval.push_back({i, measured, is_busy, is_busy ? measured : 0});
  }
  return interval;
}

}  // namespace banyan
