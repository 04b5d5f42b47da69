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
  if (!shares_.contains(host)) ++others_;
  if (by_host_.contains(host) || by_host_.size() < kMostCounted) ++by_host_[host];
}

void StrangerRates::CountKnown(const HostPrefix& host) {
  known_[host] = next_known_++;
  if (known_.size() <= kMostKnown) return;
  known_.erase(
      std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.second < b.second; }));
}

Timestamp StrangerRates::next_deadline() const { return IsIdle() ? kNever : decided_at_ + kDecideEvery; }

double StrangerRates::MostOfHostHz() const {
  const double of_each = static_cast<double>(most_of_all_hz_) / std::max(1.0, static_cast<double>(shares_.size()));
  return std::min(static_cast<double>(most_of_host_hz_), of_each);
}

double StrangerRates::NextShare(double share, double rate_hz, double most_hz) {
  const double wanted = rate_hz > 0 ? share * most_hz / rate_hz : 1;
  return std::clamp(std::min(wanted, 2 * share), kLeastShare, 1.0);
}

void StrangerRates::DecideOn(const HostPrefix& host, double seconds) {
  const auto counted = by_host_.find(host);
  const double rate_hz = counted == by_host_.end() ? 0 : static_cast<double>(counted->second) / seconds;
  const auto held = shares_.find(host);
  const double share = NextShare(held == shares_.end() ? 1 : held->second, rate_hz, MostOfHostHz());
  const bool was_too_fast = too_fast_.erase(host) > 0;
  if (share >= 1 || known_.contains(host)) {
    shares_.erase(host);
  } else if (held != shares_.end()) {
    held->second = share;
  } else if (!was_too_fast) {
    too_fast_.insert(host);
  } else if (shares_.size() < kMostLimited) {
    shares_[host] = share;
    held_back_.push_back(absl::StrCat("more than ", most_of_host_hz_, " connections a second from ", host.Text(),
                                      " prove no key: a part of them is let in"));
  }
}

void StrangerRates::DecideOnOthers(double seconds) {
  const double share =
      NextShare(share_of_others_, static_cast<double>(others_) / seconds, static_cast<double>(most_of_all_hz_));
  const bool begins = share < 1 && share_of_others_ >= 1;
  if (begins && !std::exchange(others_too_fast_, true)) return;
  if (begins) {
    held_back_.push_back(absl::StrCat("more than ", most_of_all_hz_,
                                      " connections a second prove no key: a part of those from unknown hosts is let "
                                      "in"));
  }
  others_too_fast_ = false;
  share_of_others_ = share;
}

bool StrangerRates::Decide(Timestamp now) {
  if (IsIdle()) {
    decided_at_ = now;
    return false;
  }
  if (now < decided_at_ + kDecideEvery) return false;
  const double seconds = absl::ToDoubleSeconds(now - decided_at_);
  decided_at_ = now;
  std::set<HostPrefix> hosts = too_fast_;
  for (const auto& [host, count] : by_host_) hosts.insert(host);
  for (const auto& [host, share] : shares_) hosts.insert(host);
  for (const HostPrefix& host : hosts) DecideOn(host, seconds);
  DecideOnOthers(seconds);
  others_ = 0;
  by_host_.clear();
  Admission next;
  next.share_of_others = share_of_others_;
  for (const auto& [host, share] : shares_) next.shares.emplace_back(host, share);
  std::sort(next.shares.begin(), next.shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [host, last] : known_) next.known.push_back(host);
  const bool changes = !next.IsWhole() || !admission_.IsWhole();
  admission_ = std::move(next);
  return changes;
}

}  // namespace banyan
