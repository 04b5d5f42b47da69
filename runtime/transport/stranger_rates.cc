#include "runtime/transport/stranger_rates.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr absl::Duration kDecideEvery = absl::Seconds(1);
// Rises to 1 within ten seconds.
constexpr double kLeastShare = 1.0 / 1024;
// Hosts counted one by one between two decisions; what others do counts in all.
constexpr size_t kMostCounted = 4096;

}  // namespace

void StrangerRates::CountStranger(const HostPrefix& host) {
  if (known_.contains(host)) return;
  ++strangers_;
  if (by_host_.contains(host) || by_host_.size() < kMostCounted) ++by_host_[host];
}

void StrangerRates::CountKnown(const HostPrefix& host) {
  known_[host] = next_known_++;
  if (known_.size() <= kMostKnown) return;
  known_.erase(
      std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.second < b.second; }));
}

Timestamp StrangerRates::next_deadline() const { return IsIdle() ? kNever : decided_at_ + kDecideEvery; }

double StrangerRates::NextShare(double share, double rate_hz, int64_t most_hz) {
  const double wanted = rate_hz > 0 ? share * static_cast<double>(most_hz) / rate_hz : 1;
  return std::clamp(std::min(wanted, 2 * share), kLeastShare, 1.0);
}

void StrangerRates::DecideOn(const HostPrefix& host, double seconds) {
  const auto counted = by_host_.find(host);
  const double rate_hz = counted == by_host_.end() ? 0 : static_cast<double>(counted->second) / seconds;
  const auto held = shares_.find(host);
  const double share = NextShare(held == shares_.end() ? 1 : held->second, rate_hz, most_of_host_hz_);
  if (share >= 1 || known_.contains(host)) {
    shares_.erase(host);
  } else if (held != shares_.end()) {
    held->second = share;
  } else if (shares_.size() < kMostLimited) {
    shares_[host] = share;
    held_back_.push_back(absl::StrCat("more than ", most_of_host_hz_, " connections a second from ", host.Text(),
                                      " prove no key: a part of them is let in"));
  }
}

bool StrangerRates::Decide(Timestamp now) {
  if (IsIdle()) {
    decided_at_ = now;
    return false;
  }
  if (now < decided_at_ + kDecideEvery) return false;
  const double seconds = absl::ToDoubleSeconds(now - decided_at_);
  decided_at_ = now;
  std::vector<HostPrefix> hosts;
  for (const auto& [host, count] : by_host_) hosts.push_back(host);
  for (const auto& [host, share] : shares_) {
    if (!by_host_.contains(host)) hosts.push_back(host);
  }
  for (const HostPrefix& host : hosts) DecideOn(host, seconds);
  const bool was_whole = admission_.share_of_others >= 1;
  Admission next;
  next.share_of_others =
      NextShare(admission_.share_of_others, static_cast<double>(strangers_) / seconds, most_of_all_hz_);
  if (was_whole && next.share_of_others < 1) {
    held_back_.push_back(
        absl::StrCat("more than ", most_of_all_hz_,
                     " connections a second prove no key: a part of those from unknown hosts is let in"));
  }
  for (const auto& [host, share] : shares_) next.shares.emplace_back(host, share * next.share_of_others);
  std::sort(next.shares.begin(), next.shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool changes = !next.IsWhole() || !admission_.IsWhole();
  for (const auto& [host, last] : known_) next.known.push_back(host);
  admission_ = std::move(next);
  strangers_ = 0;
  by_host_.clear();
  return changes;
}

}  // namespace banyan
