#include "node/peers/link_prober.h"

#include <algorithm>
#include <utility>

namespace banyan {

void LinkProber::AddPolicy(const PolicySlice& slice) {
  auto [entry, added] = policies_.try_emplace(slice.version);
  if (!added || !slice.transmission.uses_auxiliary_paths || !slice.transmission.measures) return;
  for (const RouteSlice& auxiliary_path : slice.auxiliary) {
    if (auxiliary_path.crosses_idle_link)
      entry->second[auxiliary_path.path.back()].push_back({auxiliary_path.path, auxiliary_path.rate_bps});
  }
}

void LinkProber::RetirePolicies(PolicyVersion oldest) {
  policies_.erase(policies_.begin(), policies_.lower_bound(oldest));
  probed_ = nullptr;
  // What no live policy names is never used again.
  std::map<Path, Timestamp> still_used;
  for (const auto& [version, auxiliary_paths] : policies_) {
    for (const auto& [destination, ways] : auxiliary_paths) {
      for (const AuxiliaryPath& auxiliary_path : ways) {
        const auto used = last_used_.find(auxiliary_path.path);
        if (used != last_used_.end()) still_used.insert(*used);
      }
    }
  }
  last_used_ = std::move(still_used);
}

absl::Duration LinkProber::Interval(const AuxiliaryPath& auxiliary_path, int64_t size_bytes) {
  if (auxiliary_path.rate_bps <= 0) return kLongestInterval;
  const double busy_seconds = 8.0 * kChunks * static_cast<double>(size_bytes) / auxiliary_path.rate_bps;
  return std::clamp(absl::Seconds(busy_seconds / kLargestShare), kShortestInterval, kLongestInterval);
}

const LinkProber::Path* LinkProber::Pick(PolicyVersion policy, NodeId destination, int64_t size_bytes,
                                         const HasRoom& has_room, Timestamp now) {
  // The chunks of one probe follow each other, so that their distance at the receiver tells the rate.
  const bool goes_on = chunks_left_ > 0 && probed_ != nullptr && probed_policy_ == policy;
  if (goes_on && probed_->back() == destination && has_room((*probed_)[1])) {
    --chunks_left_;
    return probed_;
  }
  if (now < next_probe_) return nullptr;
  const auto auxiliary_paths = policies_.find(policy);
  if (auxiliary_paths == policies_.end()) return nullptr;
  const auto ways = auxiliary_paths->second.find(destination);
  if (ways == auxiliary_paths->second.end()) return nullptr;
  const AuxiliaryPath* longest_idle = nullptr;
  Timestamp idle_since = now;
  for (const AuxiliaryPath& auxiliary_path : ways->second) {
    const Timestamp used = last_used_.try_emplace(auxiliary_path.path, now).first->second;
    if (now - used < Interval(auxiliary_path, size_bytes) || used >= idle_since || !has_room(auxiliary_path.path[1]))
      continue;
    longest_idle = &auxiliary_path;
    idle_since = used;
  }
  if (longest_idle == nullptr) return nullptr;
  next_probe_ = now + kShortestInterval;
  probed_policy_ = policy;
  probed_ = &longest_idle->path;
  chunks_left_ = kChunks - 1;
  return probed_;
}

}  // namespace banyan
