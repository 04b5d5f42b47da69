// One of several schedulers in simulated time: stands by until it gets the lease of the shared storage, and keeps the
// lease while its core runs, as the driver of a real one does. The storage of its process's records. Thread-compatible;
// outlives its process's run.
//
// Invariants:
// - It leads only while nobody else can have the lease.
#ifndef BANYAN_SIM_LEADERSHIP_CANDIDATE_H_
#define BANYAN_SIM_LEADERSHIP_CANDIDATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "protocol/record_store.h"
#include "sim/agenda.h"
#include "sim/leadership/shared_storage.h"
#include "sim/processes/simulated_process.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_SIM_LEADERSHIP_CANDIDATE_H_
