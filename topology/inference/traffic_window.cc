#include "topology/inference/traffic_window.h"

#include <algorithm>
#include <array>
#include <functional>

namespace banyan {

void TrafficWindow::Add(absl::Span<const LinkTraffic> interval) {
  const bool is_full = intervals_ == kIntervals;
  for (auto& [link, series] : links_) {
    if (is_full) series.erase(series.begin());
    series.emplace_back();
  }
  if (!is_full) ++intervals_;
  for (const LinkTraffic& traffic : interval) {
    if (traffic.rate_bps <= 0) continue;
    links_.try_emplace(traffic.link, intervals_).first->second.back() = {traffic.rate_bps, traffic.is_busy,
                                                                         traffic.reached_bps};
  }
  std::erase_if(links_, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](const Sample& s) { return s.rate_bps == 0; });
  });
}

const TrafficWindow::Series* TrafficWindow::Find(size_t link) const {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : &found->second;
}

double TrafficWindow::ReachedBps(size_t link) const {
  const Series* const series = Find(link);
  if (series == nullptr) return 0;
  std::array<double, 3> best_bps = {0, 0, 0};
  for (const Sample& sample : *series) {
    if (sample.reached_bps <= best_bps.back()) continue;
    best_bps.back() = sample.reached_bps;
    std::sort(best_bps.begin(), best_bps.end(), std::greater<>());
  }
  return best_bps.back() > 0 ? best_bps.back() : best_bps.front();
}

}  // namespace banyan
