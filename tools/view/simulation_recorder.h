// What is recorded of a simulation: statuses of its job, and traces of some of its rounds.
#ifndef BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_
#define BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/status.h"
#include "proto/tracing/round_records.h"
#include "protocol/protocol.h"
#include "tools/reports/round_chart.h"
#include "tools/view/recording.h"
#include "tracing/round_recorder.h"

namespace banyan {

// Takes the traces of a simulation's rounds out of its nodes' recorders while it runs: of the first kFirst rounds, and
// of others evenly over the rest. Thread-compatible; the recorders outlive it. Invariants:
// - At most kMost rounds are chosen, however long the simulation is.
// - Records of other rounds are not kept, and of a node at most Options::most_records. Beyond that no more rounds are
//   taken: one in part would look like another one.
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

// Returns the status of a job whose simulated elements stand for `scale` each, as that of the job at full size: rates,
// bytes and elements are so many times as large. Times are the same.
JobStatus AtFullSize(JobStatus status, int64_t scale);

// Records a simulated job: asks its scheduler for the status each second of simulated time, at full size, and writes
// the traces of some of its rounds. Thread-compatible; outlives the cores that it wraps. Invariants:
// - A recording grows with the logarithm of the simulated time: statuses come half as often after each kStatusesOfPace.
class SimulationRecorder {
 public:
  static constexpr int64_t kStatusesOfPace = 2000;

  // The pointers outlive this; `traces` is nullptr for none. `scale` as above.
  SimulationRecorder(RecordingWriter* writer, SimulatedTraces* traces, int64_t scale)
      : writer_(writer), traces_(traces), scale_(scale) {}

  // Puts the recorder around the scheduler's core.
  std::unique_ptr<Protocol> Wrap(std::unique_ptr<Protocol> core);
  // Writes the traces that are left at the end of the simulation.
  void Finish() { WriteTraces(); }
  // The first error of the writer.
  const absl::Status& status() const { return status_; }

 private:
  void Take(Timestamp now, JobStatus status);
  void WriteTraces();

  RecordingWriter* const writer_;
  SimulatedTraces* const traces_;
  const int64_t scale_;
  std::optional<Timestamp> start_;
  Timestamp now_;  // of the last status
  Timestamp next_;
  absl::Duration interval_ = absl::Seconds(1);
  int64_t statuses_ = 0;
  absl::Status status_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_
