#include "tracing/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace banyan {
namespace {

// A reading that is so many times less certain than the best one only adds noise.
constexpr double kMuchWorse = 2;
constexpr absl::Duration kSlack = absl::Microseconds(50);
// Where chunks went one way only, the time that they took is taken for the difference.
constexpr absl::Duration kOneWay = absl::Seconds(10);

}  // namespace

void ClockAlignment::AddSamples(const std::map<NodeId, RoundRecords>& nodes, Pairs& pairs) {
  for (const auto& [node, records] : nodes) {
    for (const RoundRecords::ClockSample& sample : records.clocks) {
      if (!nodes.contains(sample.peer) || sample.peer == node) continue;
      const Timestamp there = sample.at + sample.offset;
      pairs[node][sample.peer].push_back({sample.at, there, sample.uncertainty});
      pairs[sample.peer][node].push_back({there, sample.at, sample.uncertainty});
    }
  }
}

void ClockAlignment::AddChunks(const std::map<NodeId, RoundRecords>& nodes, Pairs& pairs) {
  // The fastest chunk from the one to the other.
  std::map<std::pair<NodeId, NodeId>, const RoundRecords::Arrival*> fastest;
  const auto under_way = [](const RoundRecords::Arrival& arrival) { return arrival.received_at - arrival.sent_at; };
  for (const auto& [node, records] : nodes) {
    for (const RoundRecords::Arrival& arrival : records.arrivals) {
      if (!nodes.contains(arrival.from) || arrival.from == node || pairs[node].contains(arrival.from)) continue;
      const RoundRecords::Arrival*& best = fastest[{arrival.from, node}];
      if (best == nullptr || under_way(arrival) < under_way(*best)) best = &arrival;
    }
  }
  for (const auto& [ends, there] : fastest) {
    const auto& [from, to] = ends;
    const auto back = fastest.find({to, from});
    if (back != fastest.end() && to < from) continue;
    absl::Duration delay = kOneWay;
    absl::Duration ahead = under_way(*there);  // the clock of `to` is
    if (back != fastest.end()) {
      delay = (under_way(*there) + under_way(*back->second)) / 2;
      ahead = ahead - delay;
    }
    pairs[from][to].push_back({there->sent_at, there->sent_at + ahead, absl::AbsDuration(delay)});
    pairs[to][from].push_back({there->sent_at + ahead, there->sent_at, absl::AbsDuration(delay)});
  }
}

ClockAlignment::ClockAlignment(const std::map<NodeId, RoundRecords>& nodes) {
  if (nodes.empty()) return;
  Pairs pairs;
  AddSamples(nodes, pairs);
  AddChunks(nodes, pairs);
  const auto earlier = [](const Reading& a, const Reading& b) { return a.own < b.own; };
  const auto surer = [](const Reading& a, const Reading& b) { return a.uncertainty < b.uncertainty; };
  // Dijkstra's shortest paths, under the uncertainties.
  using Entry = std::pair<absl::Duration, NodeId>;
  std::map<NodeId, Place> found = {{nodes.begin()->first, Place{}}};
  std::set<Entry> open = {{absl::ZeroDuration(), nodes.begin()->first}};
  while (!open.empty()) {
    const auto [distance, node] = *open.begin();
    open.erase(open.begin());
    places_[node] = std::move(found.at(node));
    for (auto& [other, readings] : pairs[node]) {
      const absl::Duration best = std::min_element(readings.begin(), readings.end(), surer)->uncertainty;
      const auto known = found.find(other);
      if (places_.contains(other)) continue;
      if (known != found.end() && known->second.uncertainty <= distance + best) continue;
      if (known != found.end()) open.erase({known->second.uncertainty, other});
      Readings back = pairs[other][node];
      std::erase_if(back, [&](const Reading& r) { return r.uncertainty > best * kMuchWorse + kSlack; });
      std::sort(back.begin(), back.end(), earlier);
      found[other] = {node, std::move(back), distance + best};
      open.insert({distance + best, other});
    }
  }
}

Timestamp ClockAlignment::Convert(const Readings& readings, Timestamp own) {
  const auto after = std::lower_bound(readings.begin(), readings.end(), own,
                                      [](const Reading& reading, Timestamp time) { return reading.own < time; });
  if (after == readings.begin()) return after->other + (own - after->own);
  const auto before = std::prev(after);
  if (after == readings.end() || after->own == before->own) return before->other + (own - before->own);
  const double share = absl::FDivDuration(own - before->own, after->own - before->own);
  return before->other + (after->other - before->other) * share;
}

Timestamp ClockAlignment::ToCommon(NodeId node, Timestamp local) const {
  for (const Place* place = &places_.at(node); !place->readings.empty(); place = &places_.at(place->next)) {
    local = Convert(place->readings, local);
  }
  return local;
}

absl::Duration ClockAlignment::uncertainty() const {
  absl::Duration most = absl::ZeroDuration();
  for (const auto& [node, place] : places_) most = std::max(most, place.uncertainty);
  return most;
}

}  // namespace banyan
