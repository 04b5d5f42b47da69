// The storage that several schedulers of a simulated job share, with the lease by which one of them leads: what etcd is
// to real ones. Thread-compatible; outlives the processes that use it.
//
// While it is away nobody is answered and no lease ends. When it is back, the lease begins anew.
//
// Invariants:
// - One process at most has the lease.
// - Each write names the lease under which it was made. A lease that somebody else has had since changes nothing.
#ifndef BANYAN_SIM_LEADERSHIP_SHARED_STORAGE_H_
#define BANYAN_SIM_LEADERSHIP_SHARED_STORAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "protocol/record_store.h"
#include "sim/agenda.h"
#include "sim/violations.h"

namespace banyan {

// How two schedulers of a simulated job share it. Value.
struct StandbyOptions {
  absl::Duration lease = absl::Seconds(2);
  // What real ones do. Tests of the checkers break these rules.
  bool heeds_lease = true;  // a leader stops when its lease may have ended
  bool is_fenced = true;    // the storage refuses writes of a lease that has ended
};

class SharedStorage {
 public:
  using LeaseId = uint64_t;

  // Both pointers outlive this.
  SharedStorage(const StandbyOptions& options, Agenda* agenda, Violations* violations)
      : options_(options), agenda_(agenda), violations_(violations) {}

  // Faults. Several of a kind end when the last of them does.
  void SetAway(bool is_away);
  void SetCutOff(NodeId process, bool is_cut_off);

  // Returns whether the process gets an answer now. REQUIRED by all that follow.
  bool Answers(NodeId process) const;

  // Gives the process the lease unless somebody has it.
  std::optional<LeaseId> Campaign(NodeId process);
  // Makes the lease as long as at first; false when it has ended.
  bool Renew(LeaseId lease);
  void GiveBack(LeaseId lease);

  const StoredRecords& records() const { return records_; }
  // FAILED_PRECONDITION when the lease has been somebody else's since.
  absl::Status Append(LeaseId lease, const std::vector<std::string>& records);
  absl::Status Replace(LeaseId lease, const std::string& snapshot);

 private:
  bool IsHeld() const { return holder_.has_value() && (away_ > 0 || agenda_->now() < ends_at_); }
  absl::Status CheckWrite(LeaseId lease);

  const StandbyOptions options_;
  Agenda* const agenda_;
  Violations* const violations_;
  int away_ = 0;                   // faults that keep it away
  std::map<NodeId, int> cut_off_;  // likewise
  LeaseId last_lease_ = 0;         // that was given
  std::optional<LeaseId> holder_;  // the lease that somebody has, until it ends
  Timestamp ends_at_;              // that lease
  LeaseId last_writer_ = 0;
  StoredRecords records_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_LEADERSHIP_SHARED_STORAGE_H_
