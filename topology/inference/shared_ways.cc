#include "topology/inference/shared_ways.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "core/check.h"

namespace banyan {
namespace {

// A way may be this much longer than the link: delays are measured one by one, and each has in it what processes take
// to read a message.
constexpr double kDetour = 0.06;
// Two links carry more together than one of them can: noise, queues, and rates that are still growing make up less.
constexpr double kMore = 1.4;
// So many intervals alone tell what a link can. In two, its rate may still have been growing.
constexpr size_t kLeastAlone = 3;
// Nothing else goes over a link when others carry less than this part of what it does.
constexpr double kAlone = 0.15;
// What was carried lately tells the rate.
constexpr size_t kSumsToFollow = 5;

// The delays between all nodes, by their positions; infinite where none is known.
class Delays {
 public:
  explicit Delays(const NetworkView& view)
      : nodes_(view.nodes().size()), delays_(nodes_ * nodes_, absl::InfiniteDuration()) {
    for (size_t i = 0; i < nodes_; ++i) At(i, i) = absl::ZeroDuration();
    for (const NetworkLink& link : view.links()) {
      if (link.delay > absl::ZeroDuration()) At(*view.IndexOf(link.from), *view.IndexOf(link.to)) = link.delay;
    }
  }

  absl::Duration& At(size_t from, size_t to) { return delays_[from * nodes_ + to]; }

  // Returns whether the way from `from` over the link from `by` to `next` is about as long as the link to `to`.
  bool IsOnWay(size_t from, size_t to, size_t by, size_t next) {
    const absl::Duration way = At(from, by) + At(by, next) + At(next, to);
    return way <= (1 + kDetour) * At(from, to);
  }

 private:
  size_t nodes_;
  std::vector<absl::Duration> delays_;
};

struct LinkEnds {
  size_t from = 0;
  size_t to = 0;
};

std::vector<LinkEnds> EndsOf(const NetworkView& view) {
  std::vector<LinkEnds> ends;
  for (const NetworkLink& link : view.links()) ends.push_back({*view.IndexOf(link.from), *view.IndexOf(link.to)});
  return ends;
}

bool HasDelay(const NetworkLink& link) { return link.delay > absl::ZeroDuration(); }

// Returns whether the link itself goes by way of some third node.
bool GoesByWay(const LinkEnds& link, size_t nodes, Delays& delays) {
  for (size_t by = 0; by < nodes; ++by) {
    if (by != link.from && by != link.to && delays.IsOnWay(link.from, link.to, by, by)) return true;
  }
  return false;
}

// Returns whether `link` may go over another straight link than `without`: over one that covers the same middle of its
// way.
bool HasAnotherWay(const LinkEnds& link, const LinkEnds& without, const std::vector<LinkEnds>& ends,
                   const std::vector<size_t>& straight, Delays& delays) {
  const absl::Duration middle = delays.At(link.from, without.from) + delays.At(without.from, without.to) / 2;
  return std::any_of(straight.begin(), straight.end(), [&](size_t number) {
    const LinkEnds& other = ends[number];
    if (other.from == without.from && other.to == without.to) return false;
    const absl::Duration begin = delays.At(link.from, other.from);
    return begin < middle && middle < begin + delays.At(other.from, other.to) &&
           delays.IsOnWay(link.from, link.to, other.from, other.to);
  });
}

// Returns the second highest: a single one may be a mistake of measuring.
double SecondOf(const std::vector<double>& rates_bps) {
  std::array<double, 2> best_bps = {0, 0};
  for (const double rate_bps : rates_bps) {
    best_bps[1] = std::max(best_bps[1], std::min(best_bps[0], rate_bps));
    best_bps[0] = std::max(best_bps[0], rate_bps);
  }
  return best_bps[1];
}

// Returns what these links carried together in each interval.
std::vector<double> SumsOf(const std::vector<size_t>& links, const TrafficWindow& window) {
  std::vector<double> sums_bps(window.intervals(), 0);
  for (const size_t link : links) {
    const TrafficWindow::Series* const series = window.Find(link);
    for (size_t i = 0; series != nullptr && i < sums_bps.size(); ++i) sums_bps[i] += (*series)[i].rate_bps;
  }
  return sums_bps;
}

// Returns the link's own rates while it was busy. It can carry what it carried, whatever went over it besides.
std::vector<double> RatesBusy(size_t link, const TrafficWindow& window) {
  std::vector<double> rates_bps;
  const TrafficWindow::Series* const series = window.Find(link);
  if (series == nullptr) return rates_bps;
  for (const TrafficWindow::Sample& sample : *series) {
    if (sample.is_busy) rates_bps.push_back(sample.rate_bps);
  }
  return rates_bps;
}

// Returns the rates of a way's link while it was busy and hardly anything else went over it.
std::vector<double> RatesAlone(const SharedWay& way, const TrafficWindow& window) {
  std::vector<double> rates_bps;
  const TrafficWindow::Series* const series = window.Find(way.link);
  if (series == nullptr) return rates_bps;
  const std::vector<double> others_bps = SumsOf(way.over, window);
  for (size_t i = 0; i < others_bps.size(); ++i) {
    const TrafficWindow::Sample& sample = (*series)[i];
    if (sample.is_busy && others_bps[i] <= kAlone * sample.rate_bps) rates_bps.push_back(sample.rate_bps);
  }
  return rates_bps;
}

// Returns what two links carried together at most: in an interval in which both were busy, or else in two.
double MostTogether(size_t a, size_t b, const TrafficWindow& window) {
  const TrafficWindow::Series* const first = window.Find(a);
  const TrafficWindow::Series* const second = window.Find(b);
  if (first == nullptr || second == nullptr) return 0;
  const std::vector<double> sums_bps = SumsOf({a, b}, window);
  double most_bps = SecondOf(sums_bps);
  for (size_t i = 0; i < sums_bps.size(); ++i) {
    if ((*first)[i].is_busy && (*second)[i].is_busy) most_bps = std::max(most_bps, sums_bps[i]);
  }
  return most_bps;
}

// Returns what went over the way's link together while it was busy lately, or at most when it never was.
double RateOfAll(const SharedWay& way, const TrafficWindow& window) {
  std::vector<size_t> all = way.surely_over;
  all.push_back(way.link);
  const std::vector<double> sums_bps = SumsOf(all, window);
  std::vector<double> busy_bps;
  const TrafficWindow::Series* const series = window.Find(way.link);
  for (size_t i = window.intervals(); series != nullptr && i > 0 && busy_bps.size() < kSumsToFollow; --i) {
    if ((*series)[i - 1].is_busy) busy_bps.push_back(sums_bps[i - 1]);
  }
  if (busy_bps.size() < 2) return std::max(way.rate_bps, SecondOf(sums_bps));
  std::sort(busy_bps.begin(), busy_bps.end());
  return std::max(way.rate_bps, busy_bps[busy_bps.size() / 2]);
}

void Weigh(const TrafficWindow& window, SharedWay& way) {
  way.is_known = RatesAlone(way, window).size() >= kLeastAlone;
  if (way.is_known) {
    const double most_bps = kMore * SecondOf(RatesBusy(way.link, window));
    const auto carried_more = [&](size_t other) { return MostTogether(way.link, other, window) > most_bps; };
    std::erase_if(way.over, carried_more);
    std::erase_if(way.surely_over, carried_more);
  }
  way.rate_bps = RateOfAll(way, window);
}

}  // namespace

std::vector<SharedWay> WaysByDelay(const NetworkView& view) {
  Delays delays(view);
  const std::vector<LinkEnds> ends = EndsOf(view);
  std::vector<size_t> roundabout;
  std::vector<size_t> straight;
  std::vector<SharedWay> ways;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!HasDelay(view.links()[i])) continue;
    if (GoesByWay(ends[i], view.nodes().size(), delays)) {
      roundabout.push_back(i);
    } else {
      straight.push_back(i);
      ways.push_back({i, {}, {}, view.links()[i].throughput_bps, false});
    }
  }
  for (SharedWay& way : ways) {
    const LinkEnds& link = ends[way.link];
    for (const size_t other : roundabout) {
      if (!delays.IsOnWay(ends[other].from, ends[other].to, link.from, link.to)) continue;
      way.over.push_back(other);
      if (!HasAnotherWay(ends[other], link, ends, straight, delays)) way.surely_over.push_back(other);
    }
  }
  std::erase_if(ways, [](const SharedWay& way) { return way.over.empty(); });
  return ways;
}

std::vector<SharedWay> FindSharedWays(const NetworkView& view, const TrafficWindow& window) {
  std::vector<SharedWay> ways = WaysByDelay(view);
  for (SharedWay& way : ways) Weigh(window, way);
  std::erase_if(ways, [](const SharedWay& way) { return way.over.empty(); });
  return ways;
}

NetworkView WithSharedWays(const NetworkView& view, const std::vector<SharedWay>& ways) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  std::vector<SharedCapacity> shared(view.shared().begin(), view.shared().end());
  for (const SharedWay& way : ways) {
    links[way.link].throughput_bps = way.rate_bps;
    SharedCapacity& capacity = shared.emplace_back(SharedCapacity{way.rate_bps, {}});
    capacity.links.emplace_back(links[way.link].from, links[way.link].to);
    for (const size_t other : way.over) capacity.links.emplace_back(links[other].from, links[other].to);
  }
  absl::StatusOr<NetworkView> made = NetworkView::Create(
      std::vector<NetworkNode>(view.nodes().begin(), view.nodes().end()), std::move(links), std::move(shared));
  BANYAN_CHECK(made.ok());
  return *std::move(made);
}

}  // namespace banyan
