// The schedulers of a simulated job that stand by for each other.
#ifndef BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_
#define BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "protocol/protocol.h"
#include "protocol/record_store.h"
#include "sim/agenda.h"
#include "sim/leadership/shared_storage.h"
#include "sim/processes/simulated_process.h"
#include "sim/simulator.h"

namespace banyan {

// One of several schedulers in simulated time: stands by until it gets the lease of the shared storage, and keeps the
// lease while its core runs, as the driver of a real one does. The storage of its process's records. Thread-compatible;
// outlives its process's run.
//
// Invariants:
// - It leads only while nobody else can have the lease.
class Candidate : public RecordStore {
 public:
  // `on_elected` starts the process's core. Pointers outlive this.
  Candidate(const StandbyOptions& options, SimulatedProcess* process, SharedStorage* storage, Agenda* agenda,
            std::function<void(Candidate*)> on_elected);

  SimulatedProcess* process() const { return process_; }
  bool is_up() const { return is_up_; }
  // By its own knowledge.
  bool Leads() const;

  // Stands by, `after` from now on. REQUIRES: its core does not run.
  void StandBy(absl::Duration after);
  // Neither campaigns nor renews any more; the lease ends by itself.
  void End();
  // Gives the lease back if it has one.
  void Resign();

  // RecordStore. UNAVAILABLE while the storage does not answer.
  absl::StatusOr<StoredRecords> Open() override { return storage_->records(); }
  absl::Status Append(const std::vector<std::string>& records) override;
  absl::Status Replace(const std::string& snapshot) override;

 private:
  void Campaign(uint32_t life);
  void Renew(uint32_t life);
  void Depose();
  absl::Status CheckAnswers() const;

  const StandbyOptions options_;
  SimulatedProcess* const process_;
  SharedStorage* const storage_;
  Agenda* const agenda_;
  const std::function<void(Candidate*)> on_elected_;
  bool is_up_ = false;
  uint32_t life_ = 0;  // what belonged to an earlier one is dropped
  SharedStorage::LeaseId lease_ = 0;
  Timestamp leads_until_;
};

// The schedulers of a simulated job of which one leads. Starts a core whenever one of them is elected, and lets it
// stand by again when its core has stopped, as a supervisor does. Thread-compatible; owned by the job's processes.
class StandbySchedulers {
 public:
  // Returns a core that goes on with the records, or nullptr when their job is over.
  using MakeCore = std::function<std::unique_ptr<Protocol>(const StoredRecords&)>;

  // `on_failed` is told when one has stopped that was not asked to, though it led. `simulator` outlives this.
  StandbySchedulers(const StandbyOptions& options, Simulator* simulator, MakeCore make_core,
                    std::function<void(const absl::Status&)> on_failed);

  // Adds one that stands by from `start` on.
  void Add(NodeId id, const std::string& address, const ProcessOptions& options, Timestamp start);

  SharedStorage* storage() { return &storage_; }
  std::vector<SimulatedProcess*> processes() const;
  // The one whose core runs; otherwise the one that was elected last.
  NodeId leader() const;

  void Kill(NodeId scheduler, bool silently);
  // Those that are down stand by again.
  void Start();
  // Asks all to end: those that stand by do at once.
  void Stop();

 private:
  void OnElected(Candidate* candidate);
  void OnStopped(Candidate* candidate, const absl::Status& status);

  const StandbyOptions options_;
  Simulator* const simulator_;
  const MakeCore make_core_;
  const std::function<void(const absl::Status&)> on_failed_;
  SharedStorage storage_;
  std::map<NodeId, std::unique_ptr<Candidate>> candidates_;
  NodeId last_elected_ = kSchedulerNode;
  bool is_asked_to_stop_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SIM_LEADERSHIP_STANDBY_SCHEDULERS_H_
