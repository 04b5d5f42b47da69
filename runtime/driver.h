// Steps one protocol core: waits for sockets, posted events and deadlines, and carries out what the core asks, in
// order. Thread-compatible: everything happens on the thread that calls Run.
#ifndef BANYAN_RUNTIME_DRIVER_H_
#define BANYAN_RUNTIME_DRIVER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "protocol/action.h"
#include "protocol/event.h"
#include "protocol/leadership.h"
#include "protocol/protocol.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"
#include "runtime/records/record_writer.h"
#include "runtime/transport/transport.h"
#include "runtime/workers/worker_gate.h"

namespace banyan {

class Driver {
 public:
  // The parts that the core's actions reach; all outlive the driver. Without `record_writer`, records count as
  // persisted at once. Without `leadership` nobody else may lead.
  struct Surroundings {
    std::shared_ptr<EventQueue> queue;  // shared with threads that may post late
    Transport* transport = nullptr;
    ComputePool* pool = nullptr;
    WorkerGate* gate = nullptr;
    RecordWriter* record_writer = nullptr;
    const Leadership* leadership = nullptr;
    std::function<void(LogLevel, absl::string_view)> log;
    // Computations on at most so many bytes run on this thread, some of them between any two looks at the sockets.
    int64_t brief_bytes = 0;
    absl::Duration stop_timeout = absl::Seconds(10);
  };

  Driver(Protocol& protocol, Surroundings surroundings);

  // Until the core's Stop action, whose status it returns; until `stop_timeout` after a requested stop; until the
  // leadership is lost; or until the runtime itself fails, or has no memory left.
  absl::Status Run();

 private:
  absl::Status RunToEnd();
  void Step(Event event);
  void StepAll(std::vector<Event>& events);
  void RunBriefComputations();
  bool IsStale(const Event& event) const;
  Timestamp LeadsUntil() const;
  void RequestStop(Timestamp now);

  void Carry(Connect action);
  void Carry(Disconnect action);
  void Carry(Send action);
  void Carry(Renew action);
  void Carry(Pace action);
  void Carry(StartComputation action);
  void Carry(WriteResult action);
  void Carry(CompleteRequest action);
  void Carry(TellRoundComplete action);
  void Carry(TellJobEnded action);
  void Carry(AskWorker action);
  void Carry(PersistRecord action);
  void Carry(LogLine action);
  void Carry(Stop action);
  void Carry(Admit action);

  Protocol& protocol_;
  const Surroundings surroundings_;
  Timestamp now_;  // of the last Step
  std::deque<StartComputation> brief_;
  Timestamp stop_deadline_ = kNever;
  bool told_to_stop_ = false;
  std::optional<absl::Status> stopped_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_DRIVER_H_
