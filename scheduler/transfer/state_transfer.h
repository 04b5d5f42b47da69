// The scheduler's part in giving the training state to workers that begin late: has the others held at one boundary,
// tells joiners who holds the state, and has an epoch begin in which they take part. A pure state machine: its owner
// sends what it says, and begins the epoch. Thread-compatible; owned by SchedulerCore.
//
// At most one transfer is under way. It goes through these phases:
//   kCollecting  members have been asked; the first that is held fixes the boundary
//   kServing     joiners know the holders, and fetch
//   kEnding      all joiners have the state; an epoch is to begin
// Joiners that come in the first two phases, before another one has all of it, take part; later ones wait for the next.
//
// All that are held are held at the same boundary: nobody gets past the next step without the contributions of those
// that are held. Whoever had passed the boundary before it heard waits in its rounds.
//
// What waits, and who ends it: members at their boundary wait for Release, joiners for an answer to their fetch. Both
// come when the phase is over. kCollecting ends when all members have answered or left, or a little after the first
// has. kServing ends when all joiners have the state or have given up, and when all holders have left. kEnding ends
// with the plan of an epoch. A joiner gives up by itself when nothing comes, and falls out with its node.
//
// Invariants:
// - Each fetch is answered by one StateReleased, unless its node falls out.
// - Members are let go when the transfer ends, however that is, and when it has no joiner any more.
// - Nothing of this is durable: with another start of the scheduler nodes let their workers go, and joiners ask again.
#ifndef BANYAN_SCHEDULER_TRANSFER_STATE_TRANSFER_H_
#define BANYAN_SCHEDULER_TRANSFER_STATE_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/message.h"
#include "proto/state_messages.h"

namespace banyan {

class StateTransfer {
 public:
  enum class Phase : uint8_t { kIdle, kCollecting, kServing, kEnding };

  struct Settings {
    Term term;
    // How long after the last holder joiners wait for another one. Those that come later are told to joiners as well.
    absl::Duration quiet = absl::Milliseconds(100);
  };
  // What the owner knows.
  struct Surroundings {
    std::function<std::string(NodeId)> name_of;
    // Returns paths from this node to all others that it can reach, as PathsFrom.
    std::function<std::map<NodeId, std::vector<NodeId>>(NodeId)> paths_from;
    // Says how far the job has trained on a state that only workers have; empty when there is no such state.
    std::function<std::string()> progress = [] { return std::string(); };
  };
  // What the owner is to do, in this order.
  struct Outcome {
    std::vector<std::string> log;
    std::vector<std::pair<NodeId, Message>> messages;
    // A change of epoch with the same members; one that is under way will do, unless its plan has been sent.
    bool begins_epoch = false;
  };

  StateTransfer(Settings settings, Surroundings surroundings)
      : settings_(settings), surroundings_(std::move(surroundings)) {}

  // Those who may hold a state, or want one: members that have not left, with their starts.
  using Members = std::map<NodeId, Incarnation>;
  // Takes the members as they are now. Those that were members, and are none any more or in another start, hold nothing
  // and want nothing.
  Outcome SetMembers(const Members& members);
  // Says again to a node what may have been lost with its connection.
  Outcome OnRejoined(NodeId node);
  // The plan of an epoch has gone to all members.
  Outcome OnEpochPlanned();

  Outcome OnWanted(NodeId node, const StateWanted& wanted);
  Outcome OnHeld(Timestamp now, NodeId node, const BoundaryHeld& held);
  Outcome OnNoState(NodeId node, const NoState& none);
  Outcome OnFetchEnded(NodeId node, const FetchEnded& ended);
  Outcome OnDeadline(Timestamp now);
  Timestamp NextDeadline() const { return phase_ == Phase::kCollecting && !holders_.empty() ? serve_at_ : kNever; }

  Phase phase() const { return phase_; }
  TransferId transfer() const { return transfer_; }
  // A worker of the node waits for the state, in this transfer or for the next one.
  bool IsFetching(NodeId node) const { return joiners_.count(node) > 0 || queued_.count(node) > 0; }
  // Says, for status, who fetches and what it waits for; empty while nobody does.
  std::string Describe() const;

 private:
  struct Joiner {
    uint64_t fetch = 0;
    bool has_state = false;
  };

  void Begin(std::map<NodeId, uint64_t> joiners);
  void AddJoiner(NodeId node, uint64_t fetch);
  void Serve();
  void SendHolders(NodeId joiner);
  void SendAllHolders();
  // Sees whether the phase is over, after somebody has answered, ended or gone.
  void Advance();
  void AdvanceCollecting();
  // Lets all go on, and begins the transfer of those that wait for the next one.
  void Release();
  // Lets a node go on. Whose fetch the transfer has ended well may begin.
  void Release(NodeId node);
  void Refuse(NodeId node, uint64_t fetch, absl::StatusCode code, std::string reason);
  void RefuseAll(absl::StatusCode code, const std::string& reason);
  void Send(NodeId node, Message message) { outcome_.messages.emplace_back(node, std::move(message)); }
  Outcome Take() { return std::exchange(outcome_, {}); }
  std::string NamesOf(const std::set<NodeId>& nodes) const;
  std::string JoinerNames() const;
  // Says what joiners wait for.
  std::string Awaited() const;

  const Settings settings_;
  const Surroundings surroundings_;
  Outcome outcome_;

  Members members_;
  Phase phase_ = Phase::kIdle;
  TransferId transfer_;  // the last one
  std::map<NodeId, Joiner> joiners_;
  std::map<NodeId, uint64_t> queued_;  // fetches that wait for the next transfer
  std::set<NodeId> awaited_;           // have not answered
  std::set<NodeId> holders_;
  bool had_holder_ = false;  // in this transfer
  uint64_t step_ = 0;
  std::vector<KeysPushed> pushed_;
  Timestamp serve_at_ = kNever;
  std::map<NodeId, uint64_t> last_joiners_;  // fetches that the last transfer has ended well
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TRANSFER_STATE_TRANSFER_H_
