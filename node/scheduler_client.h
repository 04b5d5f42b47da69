// The node's side of its conversation with the scheduler: joins, keeps the heartbeat, and says each request again after
// a reconnect until it is answered. Thread-compatible; owned by NodeCore.
//
// Invariants:
// - Requests that come up at one moment leave together, however many keys they are about. A burst of events is one
//   moment: the deadline is now, and it is reached when all of them have been handled.
// - Results that are held here, for which no round waits, are collected until there is one of each key, or two of one
//   key, or none has come for kCollectClosed. None waits longer than kMostCollectClosed.
#ifndef BANYAN_NODE_SCHEDULER_CLIENT_H_
#define BANYAN_NODE_SCHEDULER_CLIENT_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "node/scheduler_connections.h"
#include "node/step_context.h"
#include "proto/message.h"

namespace banyan {

// Requests of one kind that are said until they are answered: once on each connection. Thread-compatible; owned by
// SchedulerClient.
//
// Invariants:
// - Its work grows with what changes and not with what waits: a node may wait for an answer for each of its keys.
//
// `Id` tells requests apart and orders them; `Request` is what else there is to say.
template <typename Id, typename Request>
class UnansweredRequests {
 public:
  // Adds a request that is to be said; true if there was none of its `id`, which stays as it was otherwise.
  bool Add(const Id& id, Request request) {
    const bool is_new = waiting_.emplace(id, std::move(request)).second;
    if (is_new) unsaid_.insert(id);
    return is_new;
  }
  void OnAnswered(const Id& id) {
    waiting_.erase(id);
    unsaid_.erase(id);
  }
  // Removes the requests from `first` to `last`.
  void OnAnswered(const Id& first, const Id& last) {
    waiting_.erase(waiting_.lower_bound(first), waiting_.upper_bound(last));
    unsaid_.erase(unsaid_.lower_bound(first), unsaid_.upper_bound(last));
  }
  // Has everything that waits said once more.
  void SayAgain() {
    for (const auto& [id, request] : waiting_) unsaid_.insert(unsaid_.end(), id);
  }
  // Returns what is to be said now, in the order of ids.
  std::vector<std::pair<Id, Request>> TakeUnsaid() {
    std::vector<std::pair<Id, Request>> unsaid;
    unsaid.reserve(unsaid_.size());
    for (const Id& id : std::exchange(unsaid_, {})) unsaid.emplace_back(id, waiting_.at(id));
    return unsaid;
  }
  bool has_unsaid() const { return !unsaid_.empty(); }

 private:
  std::map<Id, Request> waiting_;
  std::set<Id> unsaid_;  // a part of them
};

// Answers who takes this node for a scheduler, as somebody has given the wrong port: returns the answer to a `message`
// that begins a conversation with a scheduler, a refusal that names this node, called `name`, and `scheduler`, the
// address of its own. Empty for all other messages. Pure function.
std::optional<Message> AnswerAsNoScheduler(const Message& message, const std::string& name,
                                           const std::string& scheduler);

class SchedulerClient {
 public:
  static constexpr absl::Duration kCollectClosed = absl::Milliseconds(50);
  static constexpr absl::Duration kMostCollectClosed = absl::Milliseconds(500);

  // Until it is let in the node says so often that it still waits.
  static constexpr absl::Duration kSayWaitsEvery = absl::Minutes(1);

  // Early enough that a scheduler which only this connection fails does not lose the node.
  static constexpr double kRenewAfter = 0.5;

  // REQUIRES: 1 to kMostSchedulers addresses.
  SchedulerClient(Join join, std::vector<std::string> addresses);

  void Start(StepContext& step);
  // Returns whether the connection leads to a scheduler.
  bool Owns(ConnectionId connection) const { return connections_.Has(connection); }
  // Returns whether it leads to the scheduler that this node listens to.
  bool ListensTo(ConnectionId connection) const { return connections_.IsInUse(connection); }
  void OnConnectionUp(StepContext& step, ConnectionId connection);
  void OnConnectionDown(StepContext& step, ConnectionId connection);
  // Says why a scheduler is not reached, when that is news.
  void OnConnectFailed(StepContext& step, ConnectionId connection, const std::string& reason);
  // Sends a message on the connection in use, after the requests that were collected; it is lost while there is none.
  void Send(StepContext& step, Message message);
  void OnJoinAccepted(StepContext& step, const JoinAccepted& accepted);
  // Forgets the requests that a plan answers for a key, whose rounds before `first_open` are closed everywhere.
  void OnFrontier(KeyId key, Round first_open);
  void OnBound(KeyId key, Round first, Round last) { policies_.OnAnswered({key, first}, {key, last}); }
  // Says again what the scheduler needs in a new epoch: the policies that are wanted, and what is complete here.
  void OnNewEpoch();
  // Forgets all terms: a job that has not started may begin anew with a scheduler that knows nothing of it.
  void StartAnew() { term_ = Term(); }
  // Returns whether `accepted` comes from a scheduler that knows nothing of the one that this node has joined: it lost
  // its records. A new start that has them is of a higher term, and remembers this node. Where several share their
  // records, one of a lower term leads no more and says so late.
  bool IsForgetful(const JoinAccepted& accepted) const;
  // False when the message's term is lower than one seen before; counts as a sign of life otherwise.
  bool AcceptTerm(StepContext& step, Term term);

  // Requests, each idempotent, said until answered.
  void RegisterKey(RegisterKeys::Key key);
  void WantPolicy(KeyId key, Round round);
  // The job has `keys` keys.
  void ReportClosed(KeyId key, Round round, uint64_t hash, size_t keys);
  void EnterBarrier(uint64_t barrier);
  // The workers have pushed the round, and have pushed others of the key before. Said of the last one once, and again
  // to another scheduler and in another epoch.
  void ReportPushed(KeyId key, Round round) {
    pushed_.OnAnswered(key);
    pushed_.Add(key, round);
  }
  // Their answers.
  void OnKeyAnswered(const std::string& name) { registering_.OnAnswered(name); }
  void OnPolicyAnswered(const PolicyAnswer::Binding& binding);
  void OnClosedEverywhere(KeyId key, Round round) { closed_.OnAnswered({key, round}); }
  void OnBarrierReleased(uint64_t barrier) { barriers_.OnAnswered(barrier); }

  // What was announced of rounds that other members broke is said no more.
  void TakeBackComplaints();
  // Said at once, after all that was collected, and again with every join: the scheduler decides what follows.
  void Announce(StepContext& step, Message message);

  // Looks for requests that have not been sent on this connection: OnDeadline sends them.
  void Collect(StepContext& step);
  // Sends what was collected, and a heartbeat when it is due; true when one was sent, which is when a report is due as
  // well. Joins again when nobody has answered for long, in the end on a new connection: the scheduler lets a join wait
  // while another start of this node is a member, or has never got it. When the one in use is silent its connection is
  // made anew, which may carry nothing any more; when it stays silent this node turns to another scheduler.
  bool OnDeadline(StepContext& step);
  Timestamp NextDeadline() const {
    return std::min({next_heartbeat_, next_join_, flush_at_, flush_closed_at_, say_waits_at_});
  }
  // How long the scheduler has been silent; zero before it has ever answered.
  absl::Duration Silence(Timestamp now) const;

  bool joined() const { return joined_; }
  Term term() const { return term_; }
  std::string address() const { return connections_.address(); }
  // Why no connection was made, lastly; empty since one was.
  const std::string& connect_reason() const { return connect_reason_; }
  // Returns the addresses of all schedulers that are known, also those that one of them has named.
  const std::vector<std::string>& addresses() const { return connections_.addresses(); }

 private:
  struct Nothing {};

  // Sends the requests that have not been sent on this connection, but for results.
  void Flush(StepContext& step);
  void FlushClosed(StepContext& step);
  void FlushPushed(StepContext& step);
  // Decides when the results go that were collected.
  void CollectClosed(Timestamp now);
  // Sends a message without a look at what was collected.
  void Transmit(StepContext& step, Message message) const;
  // Joins on the connection that is in use now.
  void JoinAgain(StepContext& step);
  // Notes that this node is not in the job, as far as it knows.
  void Wait(Timestamp now);
  void SayWaits(StepContext& step);
  void OnUnansweredJoin(StepContext& step);
  // Has the connection in use made anew when the scheduler has been silent on it for kRenewAfter of `lost_after`.
  void RenewSilent(StepContext& step);
  // Joins another scheduler that is up when the one in use has been silent for `lost_after`.
  void TurnAwayFromSilence(StepContext& step);

  Join join_;
  SchedulerConnections connections_;
  Term term_;
  StartId start_;            // of the last JoinAccepted
  Term joined_term_;         // likewise
  bool has_joined_ = false;  // ever
  bool joined_ = false;
  absl::Duration heartbeat_ = absl::Seconds(1);
  absl::Duration lost_after_ = absl::Seconds(5);
  Timestamp next_heartbeat_ = kNever;
  Timestamp next_join_ = kNever;  // while one waits for its answer
  int unanswered_joins_ = 0;      // on this connection
  Timestamp waits_since_;
  Timestamp say_waits_at_ = kNever;  // while it waits
  Timestamp flush_at_ = kNever;
  Timestamp flush_closed_at_ = kNever;
  std::optional<Timestamp> collects_closed_since_;
  std::set<KeyId> collected_;         // since then
  bool has_collected_ = false;        // one since the last Collect
  bool closed_goes_at_once_ = false;  // what has to be said again, or is as much as is collected
  std::optional<Timestamp> last_heard_;
  std::string connect_reason_;
  std::string connect_failure_;                                     // as logged last; empty since a connection was made
  Timestamp renewed_at_;                                            // the connection in use
  Timestamp turned_at_;                                             // to the one in use
  UnansweredRequests<std::string, RegisterKeys::Key> registering_;  // by name
  UnansweredRequests<std::pair<KeyId, Round>, Nothing> policies_;
  UnansweredRequests<std::pair<KeyId, Round>, uint64_t> closed_;  // hashes
  UnansweredRequests<uint64_t, Nothing> barriers_;
  UnansweredRequests<KeyId, Round> pushed_;  // nobody answers
  std::vector<Message> announcements_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_SCHEDULER_CLIENT_H_
