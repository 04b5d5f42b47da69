#include "scheduler/policy/traffic_log.h"

#include <algorithm>

namespace banyan {
namespace {

// Reports of an interval come up to one interval after its end, and messages take their time. After a longer time than
// that between two reports the node was silent.
constexpr double kLatest = 1.5;

constexpr size_t kMostIntervalsBehind = 100;

}  // namespace

void TrafficLog::Accept(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links,
                        const NetworkView& view) {
  if (!begin_.has_value()) begin_ = now;
  for (const NodeReport::Link& link : links) {
    const NetworkLink* const known = view.FindLink(from, link.to);
    if (known == nullptr) continue;
    std::deque<Report>& reports = reports_[static_cast<size_t>(known - view.links().data())];
    if (!reports.empty() && reports.back().sent_bytes > link.sent_bytes) reports.clear();
    Report& report = reports.emplace_back(Report{now, link.sent_bytes, std::nullopt, 0, false});
    if (!link.measurement.has_value()) continue;
    report.measured_at = now + -link.measurement->age;
    report.measured_bps = link.measurement->rate_bps;
    report.was_busy = link.measurement->is_backlogged;
  }
}

std::optional<std::vector<LinkTraffic>> TrafficLog::Next(Timestamp now) {
  if (!begin_.has_value()) return std::nullopt;
  // After a pause there is nothing to catch up with.
  if (now - *begin_ > static_cast<double>(kMostIntervalsBehind) * interval_) begin_ = now + -kLatest * interval_;
  const Timestamp end = *begin_ + interval_;
  if (now - end < kLatest * interval_) return std::nullopt;
  std::vector<LinkTraffic> interval;
  for (auto& [link, reports] : reports_) {
    if (!reports.empty()) interval.push_back(TrafficOf(link, reports, end));
    while (reports.size() > 1 && reports[1].at <= end) reports.pop_front();
  }
  begin_ = end;
  return interval;
}

void TrafficLog::Clear() {
  reports_.clear();
  begin_.reset();
}

double TrafficLog::BytesAt(const std::deque<Report>& reports, Timestamp at) const {
  const auto after = std::upper_bound(reports.begin(), reports.end(), at,
                                      [](Timestamp time, const Report& report) { return time < report.at; });
  if (after == reports.begin()) return static_cast<double>(reports.front().sent_bytes);
  const Report& before = *(after - 1);
  const auto bytes = static_cast<double>(before.sent_bytes);
  if (after == reports.end()) return bytes;
  const bool was_silent = after->at - before.at > kLatest * interval_;
  const Timestamp since = was_silent ? after->at + -interval_ : before.at;
  const double part = absl::FDivDuration(at - since, after->at - since);
  return bytes + std::max(0.0, part) * static_cast<double>(after->sent_bytes - before.sent_bytes);
}

LinkTraffic TrafficLog::TrafficOf(size_t link, const std::deque<Report>& reports, Timestamp end) const {
  const double bytes = BytesAt(reports, end) - BytesAt(reports, *begin_);
  LinkTraffic traffic{link, 8 * bytes / absl::ToDoubleSeconds(interval_), false, 0};
  const auto told =
      std::find_if(reports.begin(), reports.end(), [end](const Report& report) { return report.at >= end; });
  if (told == reports.end() || !told->measured_at.has_value() || *told->measured_at < *begin_) return traffic;
  traffic.reached_bps = told->measured_bps;
  traffic.is_busy = told->was_busy && traffic.rate_bps >= kBusyPart * told->measured_bps;
  if (traffic.is_busy) traffic.rate_bps = told->measured_bps;
  return traffic;
}

}  // namespace banyan
