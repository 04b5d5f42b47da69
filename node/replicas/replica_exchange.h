// A node's part in giving replicas to nodes that join, with a server-side optimizer: gives those of this node, and
// fetches what it lacks itself. Thread-compatible; owned by NodeCore.
//
// A node that has joined lacks the replica of each key that has been trained. It goes on with these keys as one that
// abstains: results pass through it and are read for nobody. It fetches the keys in groups. With each key of a group it
// abstains from no further round, so that no member gets past the round after the next; with the others all go on. All
// replicas are the same after the same round, so that the last round which is complete here is a boundary all agree on:
//   it has not abstained from the next round   nobody can complete that, and all who have this one can give the replica
//   it has                                     that round may still complete: then the fetch begins anew after it, and
//                                              nobody gets further
// The scheduler says at once by which paths it reaches the other members. Those that lack replicas themselves, or are
// elsewhere with a key, refuse.
//
// Each wait has an end: a group is held while its replicas come, and for at most the patience of the settings while
// nothing does, or until its fetch has failed kMostFailures times. Then rounds go on for a while before the next try.
// Members change only with an epoch, whose plan begins the fetch anew. Where no member has
// replicas any more, the scheduler ends the job.
#ifndef BANYAN_NODE_REPLICAS_REPLICA_EXCHANGE_H_
#define BANYAN_NODE_REPLICAS_REPLICA_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/replicas/replica_set.h"
#include "node/rounds/replicas.h"
#include "node/state/state_fetcher.h"
#include "node/state/state_mail.h"
#include "node/step_context.h"
#include "proto/message.h"
#include "proto/state_messages.h"

namespace banyan {

// Gives this node's replicas to nodes that have joined: says what they are made of, and sends what joiners ask for.
// Thread-compatible; owned by ReplicaExchange.
//
// Invariants:
// - Each message names the keys, and the rounds after which they are wanted. Nothing is kept from one to the next, but
//   hashes of replicas too large to be read in one step: at most kMostManifests are being made.
// - What is given is read when no optimizer's step is under way, at most about kBytesPerStep in one step.
class ReplicaServer {
 public:
  // Of one request.
  static constexpr size_t kMostChunks = 8192;
  static constexpr size_t kMostManifests = 64;
  static constexpr int64_t kBytesPerStep = int64_t{64} << 20;

  // Both outlive this.
  ReplicaServer(const Replicas* replicas, StateMail* mail) : replicas_(replicas), mail_(mail) {}

  void OnManifestWanted(StepContext& step, const StateManifestWanted& wanted);
  void OnRequest(StepContext& step, const StateRequest& request);
  // Goes on with the hashes of large replicas.
  void OnDeadline(StepContext& step) {
    if (step.now >= NextDeadline()) MakeManifests();
  }
  Timestamp NextDeadline() const { return manifests_.empty() ? kNever : manifests_.front().since; }
  void Clear() { manifests_.clear(); }

 private:
  struct Manifest {
    Timestamp since;
    StateManifestWanted wanted;
    std::vector<uint64_t> hashes;  // so far
  };

  void MakeManifests();

  const Replicas* replicas_;
  StateMail* mail_;
  std::deque<Manifest> manifests_;
};

class ReplicaExchange {
 public:
  // Keys are fetched together up to about so much; a key that is larger is fetched alone.
  static constexpr int64_t kGroupBytes = int64_t{64} << 20;
  static constexpr int kMostFailures = 20;

  struct Settings {
    absl::Duration patience = absl::Seconds(5);
    absl::Duration retry = absl::Milliseconds(100);
  };

  // The pointers outlive this.
  ReplicaExchange(Settings settings, Replicas* replicas, StateMail* mail);

  // Takes the scheduler's answer with the paths to the other members.
  void OnHolders(StepContext& step, const StateHolders& holders);
  // Asks again what may have been lost, on a new connection to the scheduler.
  void OnSchedulerConnected(StepContext& step);
  // Takes what another node says of a replica.
  void OnPeerMessage(StepContext& step, const Message& message, const Payload& payload);
  void OnEpochBegin();
  void OnEpochPlan(StepContext& step);
  // A round is complete at this node.
  void OnRoundComplete(StepContext& step);
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const;
  // The job has ended.
  void Clear();

  // What has come so far, and is kept until all has.
  int64_t image_bytes() const { return static_cast<int64_t>(image_.size()); }

 private:
  void AskForPaths(StepContext& step);
  // Chooses which of the keys that are lacked come next. None is held until there are paths.
  void ChooseGroup(StepContext& step);
  // Holds the keys of the group, and fetches them as they are now.
  void Fetch(StepContext& step);
  // Takes what has been fetched, and goes on with the next keys; or sees to a fetch that has failed.
  void Settle(StepContext& step);
  void Finish(StepContext& step);
  void Retry(StepContext& step);
  // Rounds of these keys may go on as they are now.
  void NoteChanged(const std::vector<KeyId>& keys) {
    mail_->changed_replicas.insert(mail_->changed_replicas.end(), keys.begin(), keys.end());
  }
  // Lets rounds of the group's keys go on without their replicas.
  void Release(StepContext& step);

  const Settings settings_;
  Replicas* replicas_;
  StateMail* mail_;
  ReplicaServer server_;
  StateFetcher fetcher_;
  TransferId transfer_ = kReplicaTransfers;  // the last one
  std::vector<std::vector<NodeId>> paths_;   // to all other members
  std::vector<KeyId> keys_;                  // that come next
  ReplicaSet group_;                         // of these keys, as it is fetched; empty while nothing is
  std::vector<uint8_t> image_;               // of the group, as far as it has come
  bool is_changing_ = false;                 // an epoch has begun, and has no plan
  Timestamp held_until_ = kNever;            // these keys; kNever: they are not
  int failures_ = 0;                         // of fetches of them
  Timestamp try_at_ = kNever;
};

}  // namespace banyan

#endif  // BANYAN_NODE_REPLICAS_REPLICA_EXCHANGE_H_
