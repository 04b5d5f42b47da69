// Leadership by a lease in etcd: the leader's key belongs to it, and goes with it. A thread of its own keeps the lease
// alive. Whoever finds no leader's key may make it, and only one can.
//
// Campaign is for one thread, the others for any. Its owner lets it end after all that acts as the leader.
//
// Invariants:
// - LeadsUntil rests on answers of etcd alone, and on the monotonic clock.
// - The lease is given back at the end, so that another process need not wait.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_LEADERSHIP_H_
#define BANYAN_RUNTIME_ETCD_ETCD_LEADERSHIP_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "protocol/leadership.h"
#include "runtime/etcd/etcd_api.h"

namespace banyan {

// How long a lease holds, by the clock of the process that has it: from the moment of asking on, less a margin for what
// is under way at its end. Thread-safe: one thread renews it, and any may ask.
//
// Invariants:
// - It ends before the one who grants it may think so.
// - Once it has ended it stays ended, whatever comes later.
class LeaderLease {
 public:
  // Takes note that the lease was granted or renewed for `length` on a request of `asked_at`. `now` tells whether it
  // had ended before.
  void Renew(Timestamp asked_at, absl::Duration length, Timestamp now);
  void End() { holds_until_ = 0; }

  Timestamp HoldsUntil() const { return Timestamp::FromNanoseconds(holds_until_); }
  bool Holds(Timestamp now) const { return now < HoldsUntil(); }

 private:
  std::atomic<int64_t> holds_until_ = 0;  // nanoseconds; before the first Renew it does not hold
  bool was_granted_ = false;
};

class EtcdLeadership : public Leadership {
 public:
  // `name` tells others who leads, such as an address. `lease` is in whole seconds.
  EtcdLeadership(std::unique_ptr<EtcdApi> api, std::string job, std::string name, absl::Duration lease);
  EtcdLeadership(const EtcdLeadership&) = delete;
  EtcdLeadership& operator=(const EtcdLeadership&) = delete;
  // Resigns.
  ~EtcdLeadership() override;

  absl::Status Campaign() override;
  Timestamp LeadsUntil() const override { return lease_.HoldsUntil(); }
  absl::Status WhyLost() const override;

  // Gives the leadership up for good; whoever still writes in its name ends with an error. REQUIRES: nothing acts as
  // the leader any more. For the thread that campaigned.
  void Resign();

  // REQUIRES: Campaign has returned OK.
  const LeaderFence& fence() const { return fence_; }

 private:
  // Makes the leader's key with a new lease; ALREADY_EXISTS when another process was faster.
  absl::Status MakeKey();
  absl::StatusOr<etcd::TxnResponse> PutKey() const;
  // Until the lease has ended or this does.
  void KeepAlive();
  // Renews the lease once; false when it has ended.
  bool RenewOnce();
  void GiveBack();

  const std::unique_ptr<EtcdApi> api_;  // Campaign's, later the thread's
  const std::string name_;
  const absl::Duration length_;
  LeaderFence fence_;
  LeaderLease lease_;
  int64_t lease_id_ = 0;  // 0: none

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;   // guarded by mutex_
  std::string why_silent_;  // what the last try to renew has met; guarded by mutex_
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_LEADERSHIP_H_
