// Records a simulated job: asks its scheduler for the status each second of simulated time, at full size, and writes
// the traces of some of its rounds. Thread-compatible; outlives the cores that it wraps. Invariants:
// - A recording grows with the logarithm of the simulated time: statuses come half as often after each kStatusesOfPace.
#ifndef BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_
#define BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "protocol/protocol.h"
#include "tools/view/recording_writer.h"
#include "tools/view/simulated_traces.h"

namespace banyan {

// Returns the status of a job whose simulated elements stand for `scale` each, as that of the job at full size: rates,
// bytes and elements are so many times as large. Times are the same. REQUIRES: `json` is JSON.
std::string AtFullSize(const std::string& json, int64_t scale);

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
  class Timed;
  void Take(const std::string& json);
  void WriteTraces();

  RecordingWriter* const writer_;
  SimulatedTraces* const traces_;
  const int64_t scale_;
  std::optional<Timestamp> start_;
  Timestamp now_;
  Timestamp next_;
  absl::Duration interval_ = absl::Seconds(1);
  int64_t statuses_ = 0;
  absl::Status status_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_SIMULATION_RECORDER_H_
