// Takes the traces of a simulation's rounds out of its nodes' recorders while it runs: of the first kFirst rounds, and
// of others evenly over the rest. Thread-compatible; the recorders outlive it. Invariants:
// - At most kMost rounds are chosen, however long the simulation is.
// - Records of other rounds are not kept, and of a node at most Options::most_records. Beyond that no more rounds are
//   taken: one in part would look like another one.
#ifndef BANYAN_TOOLS_VIEW_SIMULATED_TRACES_H_
#define BANYAN_TOOLS_VIEW_SIMULATED_TRACES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "proto/tracing/round_records.h"
#include "tools/reports/round_chart.h"
#include "tracing/round_recorder.h"

namespace banyan {

class SimulatedTraces {
 public:
  static constexpr uint64_t kFirst = 8;
  static constexpr uint64_t kMost = 64;

  struct Options {
    std::map<NodeId, RoundRecorder>* recorders =
        nullptr;                                        // of the nodes that are simulated, which note from round 1 on
    std::map<NodeId, std::string> names;                // of the same nodes
    uint64_t rounds = 0;                                // that are noted
    size_t keys = 0;                                    // that a round pushes
    int64_t scale = 1;                                  // of the simulated bytes
    size_t most_records = RoundRecorder::kMostRecords;  // that a recorder holds
    bool keeps_records = false;                         // the recorders are somebody else's to empty
  };

  explicit SimulatedTraces(Options options);

  // The rounds that are chosen out of `rounds`, in order.
  static std::vector<Round> Choose(uint64_t rounds);

  // Returns the chosen rounds that have been completed since the last call, in order.
  std::vector<RoundChart> Take();
  // The first chosen round that found no room; none so far.
  std::optional<Round> too_large() const { return too_large_; }

 private:
  // How much of a recorder that keeps its records has been read.
  struct Place {
    size_t arrivals = 0;
    size_t departures = 0;
    size_t moments = 0;
  };

  bool IsWanted(Round round) const;
  void Read(NodeId node, RoundRecorder& recorder);
  void Add(NodeId node, const RoundRecords& records, const Place& from);
  bool IsComplete(Round round) const;
  // Forgets rounds up to `last`, but for its end.
  void Forget(Round last);
  void GiveUp();

  const Options options_;
  const std::vector<Round> chosen_;
  size_t next_ = 0;  // of the chosen ones
  std::map<NodeId, Place> places_;
  std::map<NodeId, RoundRecords> records_;  // of the chosen rounds from the next on
  std::map<Round, std::set<std::pair<NodeId, KeyId>>> completed_;
  std::optional<Round> too_large_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_SIMULATED_TRACES_H_
