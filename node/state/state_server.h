// Gives the training state of this node's workers to joiners: holds the workers at their next boundary, and reads what
// joiners ask for out of the memory of one of them. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - A worker is held only for a transfer that the scheduler has named, and let go when that is released, replaced by
//   a later one, or of an earlier term.
// - What is read comes from a worker that waits at the boundary of the transfer, and waited when it was asked. When it
//   leaves, another one of this node takes its place, or the joiners are refused.
// - At most kMostReads chunks are being read, and at most kMostAsked wait for it, each for at most kMostJoiners. A
//   joiner waits for a chunk once, however often it asks.
#ifndef BANYAN_NODE_STATE_STATE_SERVER_H_
#define BANYAN_NODE_STATE_STATE_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ids.h"
#include "node/state/state_mail.h"
#include "node/state/state_workers.h"
#include "node/step_context.h"
#include "proto/state_layout.h"
#include "proto/state_messages.h"
#include "protocol/state_call.h"

namespace banyan {

class StateServer {
 public:
  static constexpr size_t kMostReads = 8;
  static constexpr size_t kMostAsked = 8192;
  static constexpr size_t kMostJoiners = 1024;

  // Both outlive this.
  StateServer(StateMail* mail, StateWorkers* workers) : mail_(mail), workers_(workers) {}

  // Notes that the worker shares a state of this shape. INVALID_ARGUMENT when it differs from that of another worker.
  absl::Status Share(WorkerId worker, StateShape shape);
  // Notes that the worker never shares any.
  void ShareNothing(WorkerId worker) {
    share_nothing_.insert(worker);
    Review();
  }
  // Tells the scheduler that nobody can be held, as soon as no worker may still share a state.
  void Review() {
    if (transfer_.has_value() && is_undecided_) Tell();
  }
  const StateShape* ShapeOf(WorkerId worker) const;
  // Notes that the worker fetches: it has no state to give until that has ended.
  void NoteFetching(WorkerId worker);
  // Notes that it fetches no longer: where it has a state, it has one at its next boundary.
  void NoteFetched(WorkerId worker) { fetching_.erase(worker); }
  // Takes a worker at its boundary: it is held, or may go on at once.
  void OnBoundary(StepContext& step, const WorkerPassBoundary& call);
  void OnLeave(StepContext& step, WorkerId worker);
  // Forgets a worker that has gone.
  void OnWorkerGone(StepContext& step, WorkerId worker);

  // Answers the scheduler, now or when a worker is held. Said again, the answer is repeated.
  void OnSought(StepContext& step, const StateSought& sought);
  // Lets the workers go, unless a later transfer holds them.
  void OnReleased(StepContext& step, TransferId transfer);
  // Lets all workers go: what an earlier start of the scheduler has asked for is over.
  void ReleaseAll(StepContext& step);
  // Lets those go that the silent scheduler holds at a boundary, and gives nothing of that transfer any more.
  void OnSchedulerSilent(StepContext& step);
  // Ends every waiting call.
  void FailAll(StepContext& step, const absl::Status& status);

  void OnManifestWanted(StepContext& step, const StateManifestWanted& wanted);
  void OnRequest(StepContext& step, const StateRequest& request);
  void OnRead(StepContext& step, const WorkerStateRead& read);

  bool is_holding() const { return transfer_.has_value(); }
  // The worker that gives the state; none while no worker is held.
  std::optional<WorkerId> giver() const { return giver_; }

 private:
  struct Waiting {
    RequestId request;
    uint64_t step = 0;
  };
  struct Asked {
    SourceRoute route;  // towards the joiner
    Attempt attempt;
  };

  bool CanStillHold() const;
  // Returns whether a worker that has begun with the job has not said yet whether it shares a state.
  bool MayYetShare() const;
  // Tells the scheduler who is held, or that nobody can be. Nothing while that is not known.
  void Tell();
  // Takes the first worker that waits at `boundary`, or at any.
  void ChooseGiver(std::optional<uint64_t> boundary);
  void Read(StepContext& step, std::optional<ChunkIndex> chunk);
  // What the giver has been asked to read is not wanted any more.
  void DropGiver();
  // Lets another worker give the state in the place of one that has left.
  void ReplaceGiver(StepContext& step, const std::string& reason);
  void Refuse(SourceRoute back, TransferId transfer, const std::string& reason);
  // Why nobody can be given the state of this transfer; empty when they can.
  std::string Obstacle(TransferId transfer) const;
  void ReadMore(StepContext& step);
  void SendManifest(SourceRoute back);
  void DropTransfer();

  StateMail* mail_;
  StateWorkers* workers_;
  std::map<WorkerId, StateShape> shapes_;
  std::set<WorkerId> share_nothing_;
  std::set<WorkerId> fetching_;
  bool is_undecided_ = false;           // nobody can be held yet, as the scheduler has not been told
  std::optional<TransferId> transfer_;  // that workers are held for
  TransferId given_up_;                 // the last one for which they are held no more, whatever is said
  std::map<WorkerId, Waiting> waiting_;
  std::optional<WorkerId> giver_;
  uint64_t boundary_ = 0;  // of the giver
  std::vector<uint64_t> hashes_;
  std::vector<SourceRoute> want_manifest_;
  bool is_hashing_ = false;
  std::map<ChunkIndex, std::vector<Asked>> asked_;  // by all joiners
  std::deque<ChunkIndex> unread_;                   // of these, not being read yet
  std::set<ChunkIndex> reading_;
  // Reads that have not been answered, of each worker, and how many of the first of them are of no use any more:
  // answers come in order.
  std::map<WorkerId, size_t> owed_;
  std::map<WorkerId, size_t> stale_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_STATE_SERVER_H_
