#include "tracing/job_trace.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracing/clock_alignment.h"

namespace banyan {
namespace {

using Times = std::vector<Timestamp>;

// Returns the last of the sorted `times` that is not after `now`; `now` where there is none.
Timestamp LastUntil(const Times* times, Timestamp now) {
  if (times == nullptr) return now;
  const auto after = std::upper_bound(times->begin(), times->end(), now);
  return after == times->begin() ? now : *std::prev(after);
}

template <typename Key>
const Times* Find(const std::map<Key, Times>& table, const Key& key) {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : &found->second;
}

class Joiner {
 public:
  Joiner(const std::map<NodeId, RoundRecords>& records, int64_t scale)
      : records_(records), clocks_(records), scale_(scale) {
    for (const auto& [node, of_node] : records_) NoteReady(node, of_node);
    for (auto& [journey, times] : departures_) std::sort(times.begin(), times.end());
    for (auto& [journey, times] : arrivals_) std::sort(times.begin(), times.end());
  }

  void Fill(JobTrace& trace) const {
    for (const auto& [node, of_node] : records_) {
      trace.left_out += of_node.left_out;
      if (clocks_.Knows(node)) {
        AddHops(node, of_node, trace);
        AddMarks(node, of_node, trace);
      } else {
        trace.unaligned.insert(node);
      }
    }
    trace.clock_uncertainty = clocks_.uncertainty();
    std::stable_sort(trace.hops.begin(), trace.hops.end(),
                     [](const Hop& a, const Hop& b) { return a.received_at < b.received_at; });
    std::stable_sort(trace.marks.begin(), trace.marks.end(), [](const Mark& a, const Mark& b) { return a.at < b.at; });
  }

 private:
  using AtNode = std::pair<ChunkJourney, NodeId>;

  // Notes since when chunks could go on from the node, by its own clock.
  void NoteReady(NodeId node, const RoundRecords& of_node) {
    for (const RoundRecords::Departure& departure : of_node.departures) {
      departures_[departure.journey].push_back(departure.ready_at);
    }
    for (const RoundRecords::Arrival& arrival : of_node.arrivals) {
      arrivals_[{arrival.journey, node}].push_back(arrival.received_at);
    }
  }

  void AddHops(NodeId node, const RoundRecords& of_node, JobTrace& trace) const {
    for (const RoundRecords::Arrival& arrival : of_node.arrivals) {
      if (!clocks_.Knows(arrival.from)) continue;
      const Times* const ready = arrival.from == arrival.journey.source
                                     ? Find(departures_, arrival.journey)
                                     : Find(arrivals_, AtNode{arrival.journey, arrival.from});
      const Timestamp ready_at = LastUntil(ready, arrival.sent_at);
      const Timestamp sent_at = clocks_.ToCommon(arrival.from, arrival.sent_at);
      // Clocks that err must not let it come before it left.
      const Timestamp received_at = std::max(sent_at, clocks_.ToCommon(node, arrival.received_at));
      trace.hops.push_back({arrival.journey, arrival.from, node, arrival.size_bytes * scale_,
                            clocks_.ToCommon(arrival.from, ready_at), sent_at, received_at});
    }
  }

  void AddMarks(NodeId node, const RoundRecords& of_node, JobTrace& trace) const {
    for (const RoundRecords::Moment& moment : of_node.moments) {
      trace.marks.push_back({node, moment.step, moment.round, moment.key, clocks_.ToCommon(node, moment.at)});
    }
  }

  const std::map<NodeId, RoundRecords>& records_;
  ClockAlignment clocks_;
  int64_t scale_;
  std::map<ChunkJourney, Times> departures_;
  std::map<AtNode, Times> arrivals_;
};

}  // namespace

std::string JobTrace::NameOf(NodeId node) const {
  const auto found = names.find(node);
  return found == names.end() ? absl::StrCat("node ", node.value()) : found->second;
}

std::vector<Round> JobTrace::CompleteRounds() const {
  std::map<Round, std::set<NodeId>> nodes;
  std::set<Round> begun;
  for (const Mark& mark : marks) {
    if (mark.step == RoundRecords::Step::kContributed) begun.insert(mark.round);
    if (mark.step == RoundRecords::Step::kCompleted) nodes[mark.round].insert(mark.node);
  }
  std::vector<Round> complete;
  for (const auto& [round, who] : nodes) {
    if (begun.contains(round) && who.size() + unaligned.size() == names.size()) complete.push_back(round);
  }
  return complete;
}

JobTrace MakeJobTrace(const std::map<NodeId, RoundRecords>& records, std::map<NodeId, std::string> names,
                      int64_t scale) {
  JobTrace trace;
  trace.names = std::move(names);
  Joiner(records, scale).Fill(trace);
  return trace;
}

}  // namespace banyan
