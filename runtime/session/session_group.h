// One group of a session: tensors that are pushed and pulled one by one or all at once, and travel as a single one.
// Thread-safe; owned by SessionGroups.
//
// Invariants:
// - A part is in a round once, and a round goes out when all parts are in it: nothing is sent of one that is not full.
// - Rounds go out in the order in which they were begun.
// - Its mutex is not held while it calls the session.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_GROUP_H_
#define BANYAN_RUNTIME_SESSION_SESSION_GROUP_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/tensor_layout.h"
#include "core/tensor_view.h"
#include "proto/session_messages.h"
#include "runtime/session/operation.h"
#include "runtime/session/slot_lease.h"

namespace banyan {

// The operations on parts of a group that end together, as one operation on the whole group does. Thread-compatible.
struct GroupWork {
  // Where a part of the group's result goes.
  struct Target {
    int64_t first = 0;  // element of the group
    TensorView values;
    size_t operation = 0;  // whose result it is, in `operations`
  };

  std::vector<std::shared_ptr<Operation>> operations;  // shared with the callers' tickets
  std::vector<Target> targets;

  // Copies the result of `whole` to its targets if `status` is OK. Ends the operations with it, in the round of
  // `whole`.
  void Finish(const Operation& whole, const absl::Status& status) const;
};

// Returns an operation on a whole group that no ticket has. `done` runs with it at its end, on the thread that ends it;
// a shared result is there until then or until somebody abandons the operation.
std::shared_ptr<Operation> MakeWholeOperation(std::function<void(Operation& whole, const absl::Status&)> done);

class SessionGroup {
 public:
  using OperationPtr = std::shared_ptr<Operation>;  // shared with the caller's ticket
  // A free gradient slot of the group's key, and the round that is pushed next.
  struct Room {
    SlotLease gradient;
    uint64_t round = 0;
  };
  // What it does in its session with the key of its name. Both wait while there is no room.
  struct Session {
    std::function<absl::StatusOr<Room>(const std::string& group)> lend;
    // Starts a call of this kind, which takes `gradient` if it has one and leaves a result with `whole`.
    std::function<void(OperationPtr whole, const std::string& group, TensorCallKind kind, SlotLease* gradient,
                       int32_t priority)>
        start;
  };
  // A call on `count` parts from `first` on. Views that the kind does not have are none.
  struct Call {
    TensorCallKind kind = TensorCallKind::kPull;
    size_t first = 0;
    size_t count = 1;
    absl::Span<const ConstTensorView> gradients = {};
    absl::Span<const TensorView> results = {};
    int32_t priority = 0;
  };

  // `session` outlives this.
  SessionGroup(std::string name, TensorLayout layout, const Session* session);

  const std::string& name() const { return name_; }
  const TensorLayout& layout() const { return layout_; }
  // The first element of each part.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Starts a call, which ends `operation`: at once with an error, or when the whole group is done.
  void Start(const OperationPtr& operation, const Call& call);
  // Prepares for a call on the group as one tensor. FAILED_PRECONDITION for one that begins a round while parts have
  // been pushed alone.
  absl::Status BeginWhole(TensorCallKind kind);
  // Says whether parts have been pushed that wait for others.
  bool IsFilling() const;
  // Says for which parts `round` waits in this worker; empty when it waits for none.
  std::string DescribeMissing(uint64_t round) const;
  // Ends the round that is not full, and every later call, with `status`.
  void End(const absl::Status& status);

 private:
  // A round that is being filled.
  struct Gathering {
    TensorCallKind kind = TensorCallKind::kPush;
    bool is_open = false;  // it has its room
    SlotLease gradient;
    uint64_t round = 0;
    std::vector<bool> has;  // by part
    size_t missing = 0;     // none: it is about to leave
    int copying = 0;
    bool wants_result = false;
    int32_t priority = std::numeric_limits<int32_t>::min();
    GroupWork work;
  };
  // The result of the last round, from the first part that is pulled to the last.
  struct Pulled {
    ~Pulled() { whole->Abandon(); }
    OperationPtr whole;  // shared with the session, which ends it
    GroupWork work;      // until it is there
    bool is_there = false;
    size_t left = 0;  // parts
  };
  using GatheringPtr = std::shared_ptr<Gathering>;  // shared by those who copy into it
  using PulledPtr = std::shared_ptr<Pulled>;        // shared by those who copy out of it
  using Lock = std::unique_lock<std::mutex>;

  absl::Status CheckShapes(const Call& call) const;
  absl::Status Push(const OperationPtr& operation, const Call& call);
  absl::Status Pull(const OperationPtr& operation, const Call& call);
  // Waits until the call can be a part of the round that is being filled.
  absl::Status Enter(Lock& lock, const Call& call);
  // Begins to fill a round.
  absl::Status BeginGathering(Lock& lock, TensorCallKind kind);
  absl::Status CheckEntry(const Call& call) const;
  // Adds the operation, and where its results go.
  void Add(const OperationPtr& operation, const Call& call, GroupWork& work) const;
  void SendOut(const GatheringPtr& gathering);
  // Finds what a pull may join: the round that is being filled, or null. Waits while that is about to leave.
  absl::StatusOr<GatheringPtr> FindPushed(Lock& lock, const Call& call);
  void StartPull(const OperationPtr& operation, const Call& call, Lock lock);
  void OnPulled(const PulledPtr& pulled, const absl::Status& status);
  // Counts parts that have been pulled; forgets the result with the last one. The mutex is held.
  void CountPulled(const PulledPtr& pulled, size_t parts);
  // "k17, k18 and 210 others". The mutex is held, and there is a gathering.
  std::string Missing() const;
  size_t CountIn(const Gathering& gathering, const Call& call) const;

  const std::string name_;
  const TensorLayout layout_;
  std::vector<int64_t> offsets_;
  const Session* const session_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  GatheringPtr gathering_;  // null between rounds
  PulledPtr pulled_;        // null when nobody has pulled a part of the last round
  absl::Status ended_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_GROUP_H_
