// The conversation with members about barriers: takes their entries, and releases each barrier when all members that
// are there have entered. Thread-compatible; owned by the core.
//
// Whoever fetches the training state is left out of a barrier in which all others wait: they would not come to the
// boundary at which it gets the state.
//
// Invariants:
// - A release is durable before any member hears of it.
// - Members count their own barriers; the job's count is that plus Member::barriers_before.
#ifndef BANYAN_SCHEDULER_ROUNDS_JOB_BARRIERS_H_
#define BANYAN_SCHEDULER_ROUNDS_JOB_BARRIERS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

// Barriers, one after the other: released when every member that is awaited has entered. A member counts its own
// barriers from 0, whenever it has joined. Thread-compatible; owned by JobBarriers.
class Barrier {
 public:
  enum class Outcome {
    kWaiting,    // it counts as entered; Release tells whether others are awaited
    kWasBefore,  // released long ago: tell the asker again
    kTooFar,     // the node cannot have passed the barriers before: refused
  };

  // `next` is the barrier that comes next; above 0 after a restart.
  explicit Barrier(uint64_t next = 0) : next_(next) {}

  // Notes that a node has entered.
  Outcome Enter(NodeId node, uint64_t barrier);
  // Releases the next barrier if somebody has entered it and all of `awaited` have. True when it is released.
  bool Release(const std::vector<NodeId>& awaited);
  // Forgets that the node has entered the next one.
  void Drop(NodeId node) { entered_.erase(node); }

  uint64_t next() const { return next_; }
  // Returns the barrier with which a member begins that joins now. It takes no part in one that others wait in: they
  // would wait for all that it has to do before.
  uint64_t FirstOfJoiner() const { return next_ + (entered_.empty() ? 0 : 1); }
  // Returns the nodes that have entered the next one and wait for the others.
  const std::set<NodeId>& entered() const { return entered_; }

 private:
  uint64_t next_;
  std::set<NodeId> entered_;
};

class JobBarriers {
 public:
  using IsFetching = std::function<bool(NodeId)>;

  // The pointers must outlive this.
  JobBarriers(const JobState* job, JobMembers* members, SchedulerContext* context, IsFetching is_fetching)
      : job_(job), members_(members), context_(context), is_fetching_(std::move(is_fetching)) {}

  // Goes on after `next` barriers of earlier starts.
  void Restore(uint64_t next) { barrier_ = Barrier(next); }
  // Takes the entry of a node, by its own count.
  void Enter(NodeId node, const BarrierEntered& message);
  // Releases the next barrier if everybody who is there and does not fetch has entered it.
  void Review();
  // Forgets that the node has entered the next one.
  void Drop(NodeId node) { barrier_.Drop(node); }
  // The barriers that a member leaves out which joins now.
  uint64_t BeforeJoiner() const { return barrier_.FirstOfJoiner(); }
  // Returns the members for whom those wait who have entered; none when nobody has.
  std::vector<NodeId> Missing() const;

 private:
  // Returns the members that take part in the next barrier.
  std::vector<NodeId> Participants() const;
  void SendRelease(NodeId node, uint64_t barrier);

  const JobState* job_;
  JobMembers* members_;
  SchedulerContext* context_;
  IsFetching is_fetching_;
  Barrier barrier_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_JOB_BARRIERS_H_
