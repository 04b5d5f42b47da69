#include "topology/inference/sum_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace banyan {
namespace {

// Busy links must carry this part of the sum.
constexpr double kLeastBusyPart = 0.5;
// Links are held back that carry less than this part of what they could.
constexpr double kSumHeldBack = 0.8;
// Sums of measurements vary: what links carry at most is what they carry in this part of the intervals, or less.
constexpr double kSumReached = 0.8;
constexpr double kClose = 0.1;

// What it takes to show sharing. Two errors of the slope are as good as certain.
constexpr size_t kLeastIntervals = 15;
constexpr size_t kLeastHeldBack = 12;
constexpr double kLeastSteadyPart = 0.6;
constexpr double kMostSlope = 0.5;
constexpr double kErrors = 2;
constexpr double kLeastSpread = 0.08;
// What it takes to show that there is none.
constexpr double kSlopeAlone = 0.7;

// Returns the median of what a link carried while it was busy.
double MostlyCarriedBps(const TrafficWindow::Series& series) {
  std::vector<double> busy_bps;
  for (const TrafficWindow::Sample& sample : series) {
    if (sample.is_busy) busy_bps.push_back(sample.rate_bps);
  }
  if (busy_bps.empty()) return 0;
  const auto middle = busy_bps.begin() + static_cast<std::ptrdiff_t>(busy_bps.size() / 2);
  std::nth_element(busy_bps.begin(), middle, busy_bps.end());
  return *middle;
}

struct LinkSeries {
  const TrafficWindow::Series* series;
  std::vector<double> reached_bps;  // the rate that the link is taken to reach, by interval
};

// Returns the rates that a link has reached both until and since each interval. So a link that became slower or faster
// for good counts as such.
std::vector<double> ReachedBeforeAndAfter(const TrafficWindow::Series& series) {
  std::vector<double> reached_bps;
  double most_bps = 0;
  for (const TrafficWindow::Sample& sample : series) {
    most_bps = std::max(most_bps, sample.reached_bps);
    reached_bps.push_back(most_bps);
  }
  most_bps = 0;
  for (size_t t = series.size(); t-- > 0;) {
    most_bps = std::max(most_bps, series[t].reached_bps);
    reached_bps[t] = std::min(reached_bps[t], most_bps);
  }
  return reached_bps;
}

// Returns the intervals that count, from one to before another.
std::vector<SumInterval> Count(const std::vector<LinkSeries>& links, size_t from, size_t to) {
  std::vector<SumInterval> counted;
  for (size_t t = from; t < to; ++t) {
    SumInterval interval{to - 1 - t, 0, 0};
    size_t busy = 0;
    double busy_bps = 0;
    for (const LinkSeries& link : links) {
      const TrafficWindow::Sample& sample = (*link.series)[t];
      interval.carried_bps += sample.rate_bps;
      interval.could_bps += sample.is_busy ? std::max(link.reached_bps[t], sample.rate_bps) : sample.rate_bps;
      busy += sample.is_busy ? 1 : 0;
      busy_bps += sample.is_busy ? sample.rate_bps : 0;
    }
    if (busy >= 2 && busy_bps >= kLeastBusyPart * interval.carried_bps) counted.push_back(interval);
  }
  return counted;
}

// Least squares over the points at which the links could carry more than they ever do.
void FitSlope(SumEvidence& evidence) {
  std::vector<std::pair<double, double>> points;
  double mean_x = 0;
  double mean_y = 0;
  for (const SumInterval& interval : evidence.intervals) {
    if (interval.could_bps <= evidence.reached_bps) continue;
    points.emplace_back(std::log(interval.could_bps), std::log(interval.carried_bps));
    mean_x += points.back().first;
    mean_y += points.back().second;
  }
  const auto count = static_cast<double>(points.size());
  if (points.size() < kLeastIntervals) return;
  mean_x /= count;
  mean_y /= count;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const auto& [x, y] : points) {
    xx += (x - mean_x) * (x - mean_x);
    xy += (x - mean_x) * (y - mean_y);
    yy += (y - mean_y) * (y - mean_y);
  }
  evidence.spread = std::sqrt(xx / count);
  if (evidence.spread < kLeastSpread) return;
  evidence.slope = xy / xx;
  evidence.slope_error = std::sqrt(std::max(0.0, yy - evidence.slope * xy) / (count - 2) / xx);
}

}  // namespace

bool SumInterval::is_held_back() const { return carried_bps < kSumHeldBack * could_bps; }

std::vector<SumInterval> CountedIntervals(const TrafficWindow& window, absl::Span<const size_t> links,
                                          const std::map<size_t, double>& rates_bps, size_t most) {
  std::vector<LinkSeries> series;
  for (const size_t link : links) {
    const TrafficWindow::Series* const found = window.Find(link);
    if (found == nullptr) continue;
    const auto known = rates_bps.find(link);
    const double reached_bps = std::max(window.ReachedBps(link), known == rates_bps.end() ? 0 : known->second);
    series.push_back({found, std::vector<double>(window.intervals(), reached_bps)});
  }
  return Count(series, window.intervals() - std::min(most, window.intervals()), window.intervals());
}

SumEvidence WeighSums(std::vector<SumInterval> intervals) {
  SumEvidence evidence;
  evidence.intervals = std::move(intervals);
  if (evidence.intervals.empty()) return evidence;
  std::vector<double> carried_bps;
  for (const SumInterval& interval : evidence.intervals) {
    carried_bps.push_back(interval.carried_bps);
    evidence.held_back += interval.is_held_back() ? 1 : 0;
  }
  std::sort(carried_bps.begin(), carried_bps.end());
  evidence.reached_bps = carried_bps[static_cast<size_t>(kSumReached * static_cast<double>(carried_bps.size() - 1))];
  const auto close = std::count_if(carried_bps.begin(), carried_bps.end(), [&](double sum_bps) {
    return std::abs(sum_bps / evidence.reached_bps - 1) <= kClose;
  });
  evidence.steady_part = static_cast<double>(close) / static_cast<double>(carried_bps.size());
  FitSlope(evidence);
  return evidence;
}

std::optional<SumEvidence> FindSharing(const TrafficWindow& window, absl::Span<const size_t> links) {
  std::vector<LinkSeries> series;
  for (const size_t link : links) {
    const TrafficWindow::Series* const found = window.Find(link);
    if (found != nullptr) series.push_back({found, ReachedBeforeAndAfter(*found)});
  }
  SumEvidence evidence = WeighSums(Count(series, 0, window.intervals()));
  if (!ShowsSharing(evidence)) return std::nullopt;
  for (LinkSeries& doubted : series) {
    std::vector<double> reached_bps(window.intervals(), MostlyCarriedBps(*doubted.series));
    std::swap(doubted.reached_bps, reached_bps);
    const std::vector<SumInterval> counted = Count(series, 0, window.intervals());
    std::swap(doubted.reached_bps, reached_bps);
    if (std::none_of(counted.begin(), counted.end(), [](const SumInterval& one) { return one.is_held_back(); })) {
      return std::nullopt;
    }
  }
  return evidence;
}

bool ShowsSharing(const SumEvidence& evidence) {
  return evidence.held_back >= kLeastHeldBack && evidence.steady_part >= kLeastSteadyPart &&
         evidence.slope + kErrors * evidence.slope_error <= kMostSlope;
}

bool ShowsNoSharing(const SumEvidence& evidence) {
  return evidence.intervals.size() >= kLeastIntervals && evidence.slope - kErrors * evidence.slope_error >= kSlopeAlone;
}

}  // namespace banyan
