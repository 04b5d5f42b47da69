#include "wan/gather_time.h"

#include <algorithm>

namespace banyan {
namespace {

constexpr int kPartsOfDelay = 16;

}  // namespace

absl::Duration GatherTime(const NetworkView& view) {
  absl::Duration shortest = absl::InfiniteDuration();
  for (const NetworkLink& link : view.links()) shortest = std::min(shortest, link.delay);
  return std::clamp(shortest / kPartsOfDelay, kLeastGatherTime, kMostGatherTime);
}

}  // namespace banyan
