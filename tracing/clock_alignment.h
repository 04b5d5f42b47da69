// Turns the times of all nodes' clocks into times of one clock, that of the lowest node. Thread-compatible value.
//
// Clocks are compared by what neighbours have found out with heartbeats (awareness/clock_offset.h), and by chunks where
// two nodes exchanged no heartbeats: of the least times under way there and back, the mean is taken. Each node goes by
// the chain of neighbours whose uncertainties add up to the least. Between two comparisons clocks part evenly.
//
// Nobody can tell which part of a round trip belongs to which direction: where the two differ, a clock errs by half the
// difference.
#ifndef BANYAN_TRACING_CLOCK_ALIGNMENT_H_
#define BANYAN_TRACING_CLOCK_ALIGNMENT_H_

#include <map>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/tracing/round_records.h"

namespace banyan {

class ClockAlignment {
 public:
  // Of the nodes with these records.
  explicit ClockAlignment(const std::map<NodeId, RoundRecords>& nodes);

  // False for a node that nothing compares with the others.
  bool Knows(NodeId node) const { return places_.contains(node); }
  // Returns the common time at which the clock of `node` shows `local`. REQUIRES: Knows(node).
  Timestamp ToCommon(NodeId node, Timestamp local) const;
  // Returns the most by which the clock of a known node may err.
  absl::Duration uncertainty() const;

 private:
  // Two clocks at one moment.
  struct Reading {
    Timestamp own;
    Timestamp other;
    absl::Duration uncertainty;
  };
  using Readings = std::vector<Reading>;
  struct Place {
    NodeId next;        // towards the lowest node
    Readings readings;  // against it, in order of time; empty for the lowest node
    absl::Duration uncertainty;
  };
  using Pairs = std::map<NodeId, std::map<NodeId, Readings>>;

  static void AddSamples(const std::map<NodeId, RoundRecords>& nodes, Pairs& pairs);
  static void AddChunks(const std::map<NodeId, RoundRecords>& nodes, Pairs& pairs);
  static Timestamp Convert(const Readings& readings, Timestamp own);

  std::map<NodeId, Place> places_;
};

}  // namespace banyan

#endif  // BANYAN_TRACING_CLOCK_ALIGNMENT_H_
