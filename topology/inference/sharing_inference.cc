#include "topology/inference/sharing_inference.h"

#include <algorithm>
#include <optional>

#include "topology/inference/sum_evidence.h"

namespace banyan {
namespace {

// New groups are looked for after so many intervals again.
constexpr size_t kFindEvery = 2;

// A group is full when its sum is this close to its capacity.
constexpr double kFull = 0.92;
// A busy link is held back that is this much below the rate that it has reached.
constexpr double kHeldBack = 0.92;

// The last sums of a known group in which it held back links follow its capacity, among the last kRecent: what was
// longer ago tells nothing of today. All kToFollow of them lower it, when the highest is that much below it. This part
// of them raises it.
constexpr size_t kToFollow = 7;
constexpr size_t kRecent = 12;
constexpr double kLower = 0.07;
constexpr double kReached = 0.5;
// The mean of so many last sums, held back or not, raises it at once when it exceeds it by more than this part. Single
// sums exceed it by far more: bytes count when they are sent, and reports come late.
constexpr size_t kLastSums = 4;
constexpr double kExceeds = 0.1;

// A group is forgotten whose capacity is this part of what its links have reached by themselves.
constexpr double kIdle = 0.9;
// Evidence against a group is looked for in so many intervals.
constexpr size_t kIntervalsToForget = 60;

bool IsSame(const SharedGroup& a, const SharedGroup& b) {
  return a.kind == b.kind && a.host == b.host && a.links == b.links;
}

// The sums of fewer links hardly differ. Where these become slower at about the same time, as noisy measurements of
// changing links say, that would look like a cap.
constexpr size_t kLeastLinksOfHost = 5;

}  // namespace

std::vector<size_t> LinksOfHost(const NetworkView& view, NodeId host, SharedGroup::Kind kind) {
  std::vector<size_t> links;
  for (size_t i = 0; i < view.links().size(); ++i) {
    const NetworkLink& link = view.links()[i];
    if ((kind == SharedGroup::Kind::kSent ? link.from : link.to) == host) links.push_back(i);
  }
  return links;
}

std::vector<SharedGroup> FindHostGroups(const NetworkView& view, const TrafficWindow& window) {
  using Kind = SharedGroup::Kind;
  std::map<std::pair<NodeId, Kind>, std::vector<size_t>> candidates;
  for (const auto& [number, series] : window.links()) {
    const NetworkLink& link = view.links()[number];
    if (!view.FindNode(link.from)->up_cap_bps.has_value()) candidates[{link.from, Kind::kSent}].push_back(number);
    if (!view.FindNode(link.to)->down_cap_bps.has_value()) candidates[{link.to, Kind::kReceived}].push_back(number);
  }
  std::vector<SharedGroup> groups;
  for (const auto& [host, links] : candidates) {
    if (links.size() < kLeastLinksOfHost) continue;
    const std::optional<SumEvidence> evidence = FindSharing(window, links);
    if (!evidence.has_value()) continue;
    groups.push_back({host.second, host.first, LinksOfHost(view, host.first, host.second), evidence->reached_bps});
  }
  return groups;
}

void SharingInference::Add(absl::Span<const LinkTraffic> interval) {
  window_.Add(interval);
  ++intervals_;
  for (SharedGroup& group : groups_) Follow(group);
  std::erase_if(groups_, [this](const SharedGroup& group) { return IsContradicted(group); });
  if (intervals_ % kFindEvery == 0) Find();
  NoteRates();
}

bool SharingInference::Believe(NetworkView believed) {
  const auto has_same_ends = [](const NetworkLink& a, const NetworkLink& b) {
    return a.from == b.from && a.to == b.to;
  };
  const absl::Span<const NetworkLink> was = view_.links();
  const absl::Span<const NetworkLink> is = believed.links();
  const bool is_same = std::equal(was.begin(), was.end(), is.begin(), is.end(), has_same_ends);
  if (!is_same) *this = SharingInference(std::move(believed));
  if (is_same) view_ = std::move(believed);
  return is_same;
}

double SharingInference::SumBps(const SharedGroup& group, size_t age) const {
  double sum_bps = 0;
  for (const size_t link : group.links) {
    const TrafficWindow::Series* const series = window_.Find(link);
    if (series != nullptr) sum_bps += series->rbegin()[static_cast<std::ptrdiff_t>(age)].rate_bps;
  }
  return sum_bps;
}

double SharingInference::ReachedBps(size_t link) const {
  const auto known = rates_bps_.find(link);
  return std::max(window_.ReachedBps(link), known == rates_bps_.end() ? 0 : known->second);
}

bool SharingInference::IsHeldBackBy(const SharedGroup& group, size_t age) const {
  size_t held_back = 0;
  for (const size_t link : group.links) {
    const TrafficWindow::Series* const series = window_.Find(link);
    if (series == nullptr) continue;
    const TrafficWindow::Sample* const sample = &series->rbegin()[static_cast<std::ptrdiff_t>(age)];
    if (!sample->is_busy || sample->rate_bps >= kHeldBack * ReachedBps(link)) continue;
    const bool is_explained = std::any_of(groups_.begin(), groups_.end(), [&](const SharedGroup& other) {
      return &other != &group && other.Has(link) && SumBps(other, age) >= kFull * other.capacity_bps;
    });
    held_back += is_explained ? 0 : 1;
  }
  return held_back >= 2;
}

void SharingInference::Follow(SharedGroup& group) const {
  double last_bps = 0;
  for (size_t age = 0; age < std::min(kLastSums, window_.intervals()); ++age) last_bps += SumBps(group, age);
  last_bps /= kLastSums;
  if (last_bps > (1 + kExceeds) * group.capacity_bps) {
    group.capacity_bps = last_bps;
    return;
  }
  const std::vector<SumInterval> counted = CountedIntervals(window_, group.links, rates_bps_, kRecent);
  std::vector<double> sums_bps;
  for (auto interval = counted.rbegin(); interval != counted.rend() && sums_bps.size() < kToFollow; ++interval) {
    if (interval->is_held_back() && IsHeldBackBy(group, interval->age)) sums_bps.push_back(interval->carried_bps);
  }
  if (sums_bps.size() < kToFollow) return;
  std::sort(sums_bps.begin(), sums_bps.end());
  if (sums_bps.back() < (1 - kLower) * group.capacity_bps) group.capacity_bps = sums_bps.back();
  const double reached_bps = sums_bps[static_cast<size_t>(kReached * static_cast<double>(kToFollow - 1))];
  group.capacity_bps = std::max(group.capacity_bps, reached_bps);
}

bool SharingInference::IsContradicted(const SharedGroup& group) const {
  double alone_bps = 0;
  for (const size_t link : group.links) alone_bps += ReachedBps(link);
  if (group.capacity_bps > kIdle * alone_bps) return true;
  const SumEvidence evidence = WeighSums(CountedIntervals(window_, group.links, rates_bps_, kIntervalsToForget));
  return evidence.reached_bps >= kFull * group.capacity_bps && ShowsNoSharing(evidence);
}

void SharingInference::Find() {
  for (SharedGroup& group : FindHostGroups(view_, window_)) {
    const bool is_known =
        std::any_of(groups_.begin(), groups_.end(), [&](const SharedGroup& known) { return IsSame(known, group); });
    if (!is_known) groups_.push_back(std::move(group));
  }
}

void SharingInference::NoteRates() {
  std::map<size_t, double> rates_bps;
  for (const SharedGroup& group : groups_) {
    for (const size_t link : group.links) rates_bps[link] = ReachedBps(link);
  }
  rates_bps_ = std::move(rates_bps);
}

}  // namespace banyan
