// A node's part in giving training states to workers that begin late: what its workers, the scheduler and other nodes
// say of it comes here. StateServer gives, StateFetcher fetches; this joins the two, and ends calls. Thread-compatible;
// owned by NodeCore.
//
// What waits here, for what, and who ends it:
//   a worker at its boundary   for the release of the transfer. The scheduler says so, a later start or transfer of it
//                              takes its place, the worker leaves, or the scheduler is silent for too long.
//   a call to fetch            first for holders, which the scheduler names; then for the state, or the fetcher fails;
//                              then for this node's own results of the rounds in the state, or the holders leave and
//                              the scheduler says so; then for the release, with a new epoch.
//   a call behind another one  for the end of that one.
// A call ends at its deadline in each of these, and with its worker or the job. Once holders are known, the members
// wait for this node in the rounds after the boundary. That ends with the call, and with the transfer: when the
// scheduler starts anew, names a later transfer, releases this one, or is silent for too long, the node abstains again
// and fetches anew.
//
// Invariants:
// - While a worker fetches, its node abstains from the rounds that the worker does not begin with. So it does after a
//   fetch that has failed, until another one ends well; one that has found no state at all lets the worker begin.
// - A worker that fetches begins only when the scheduler has released the transfer whose state it has.
// - It has a state only of rounds whose results its node has too: when those who gave it fall out, nobody can make
//   other ones.
// - What a worker of this node holds goes to another one of it without a message.
#ifndef BANYAN_NODE_STATE_STATE_EXCHANGE_H_
#define BANYAN_NODE_STATE_STATE_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/state/state_fetcher.h"
#include "node/state/state_mail.h"
#include "node/state/state_server.h"
#include "node/state/state_workers.h"
#include "node/step_context.h"
#include "proto/message.h"
#include "protocol/state_call.h"

namespace banyan {

class StateExchange {
 public:
  // The pointers outlive this.
  StateExchange(StateFetcher::Settings settings, StateMail* mail, StateWorkers* workers)
      : mail_(mail), workers_(workers), server_(mail, workers), fetcher_(settings, mail) {}

  void OnCall(StepContext& step, const StateCall& call);
  // Forgets a worker that has gone.
  void OnWorkerGone(StepContext& step, WorkerId worker);

  // A worker has done something else: it may have shown that it shares no state.
  void Review() { server_.Review(); }

  void OnSought(StepContext& step, const StateSought& sought);
  void OnHolders(StepContext& step, const StateHolders& holders);
  void OnReleased(StepContext& step, const StateReleased& released);
  // Says again what waits for an answer, on a new connection to the scheduler of this term.
  void OnSchedulerConnected(StepContext& step, Term term);
  // The scheduler is silent: what it holds up is held up no longer.
  void OnSchedulerSilent(StepContext& step);
  // A round is complete at this node.
  void OnRoundComplete(StepContext& step) { Settle(step); }

  // Takes what another node, or this one, says to this one of a state.
  void OnPeerMessage(StepContext& step, const Message& message, const Payload& payload = {});
  // The chunks on their way are lost.
  void OnEpochBegin() { fetcher_.Pause(); }
  void OnEpochPlan(StepContext& step);

  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const;
  // Ends all calls, as the job has ended.
  void FailAll(StepContext& step, const absl::Status& status);

  const StateServer& server() const { return server_; }
  const StateFetcher& fetcher() const { return fetcher_; }

 private:
  struct Fetching {
    RequestId request;
    Timestamp deadline;
  };
  struct Queued {
    WorkerFetchState call;
    Timestamp deadline;
  };

  void On(StepContext& step, const WorkerShareState& call);
  void On(StepContext& step, const WorkerPassBoundary& call) { server_.OnBoundary(step, call); }
  void On(StepContext& step, const WorkerLeaveBoundary& call) { server_.OnLeave(step, call.worker); }
  void On(StepContext& step, const WorkerFetchState& call) { Fetch(step, {call, step.now + call.timeout}); }
  void On(StepContext& step, const WorkerStateRead& read) { server_.OnRead(step, read); }
  void On(StepContext& step, const WorkerStateWritten& written) {
    // Its call waits no longer, whatever its deadline is here.
    if (!fetcher_.OnWritten(step, written) && fetching_.contains(written.worker)) OnTimeout(step, written.worker);
  }

  // Hands on what this node says to itself, and tells of a fetch that has ended.
  void Settle(StepContext& step);
  // Begins to fetch for a worker, takes part in the fetch of others, or waits for its end.
  void Fetch(StepContext& step, const Queued& wanted);
  // The transfer is over by which this node fetched: asks for the next one. False when there was none.
  bool FetchAnew(StepContext& step);
  // Tells the scheduler that the fetch needs no answer any more, and ends the calls that wait with `status`.
  void GiveUp(StepContext& step, const absl::Status& status);
  void EndCalls(StepContext& step, const absl::Status& status);
  void EndWell(StepContext& step);
  // Begins the fetch of workers that came while another one ended.
  void BeginQueued(StepContext& step);
  void OnTimeout(StepContext& step, WorkerId worker);

  StateMail* mail_;
  StateWorkers* workers_;
  StateServer server_;
  StateFetcher fetcher_;
  Term term_;
  uint64_t fetch_ = 0;  // the number of the last one
  std::map<WorkerId, Fetching> fetching_;
  std::vector<Queued> queued_;
  absl::Status failed_;        // of the job: every later call ends with it
  bool has_told_end_ = false;  // this node has the state, and waits for the release
  // Set when the last call has timed out: until then the scheduler may say what it waited for.
  std::optional<Timestamp> last_word_at_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_STATE_EXCHANGE_H_
