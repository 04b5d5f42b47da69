// Messages between a node and the scheduler, on the connection that the node opens. Every message of the scheduler
// carries its term; nodes refuse lower ones. Values; thread-compatible.
#ifndef BANYAN_PROTO_SCHEDULER_MESSAGES_H_
#define BANYAN_PROTO_SCHEDULER_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/digest.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "core/time.h"
#include "core/version.h"
#include "proto/chunk_message.h"
#include "proto/job_config.h"
#include "proto/peer_messages.h"
#include "proto/policy_slice.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/precision_report.h"

namespace banyan {

// Node to scheduler, first on the connection and again after each ConnectionUp.
struct Join {
  uint32_t protocol_version = kProtocolVersion;
  std::string job;  // empty: whichever job the scheduler runs
  std::string name;
  std::string address;  // where other nodes reach it, tcp://host:port
  Incarnation incarnation;
  std::string version = kVersion;  // of Banyan, for people to read; empty from builds that do not say it
  friend bool operator==(const Join&, const Join&) = default;
};

struct JoinAccepted {
  Term term;
  NodeId node;
  JobConfig config;
  StartId start;               // of the scheduler
  bool is_first_join = false;  // no start of the scheduler whose records it has ever accepted this start of the node
  friend bool operator==(const JoinAccepted&, const JoinAccepted&) = default;
};

// Refuses the node for good: it stops and says why.
struct JoinRefused {
  Term term;
  std::string reason;
  bool fell_out = false;     // this start of the node was a member and is none any more; a new start may join
  bool job_is_over = false;  // all members have finished their work: the node has nothing left to do, which is no error
  friend bool operator==(const JoinRefused&, const JoinRefused&) = default;
};

// To every joined node whenever membership changes.
struct MembershipUpdate {
  Term term;
  Epoch epoch;
  uint32_t joined = 0;
  uint32_t expected = 0;  // what membership.start_with asks for
  bool started = false;
  std::vector<std::string> waiting_for;  // names, 16 at most
  friend bool operator==(const MembershipUpdate&, const MembershipUpdate&) = default;
};

struct Heartbeat {  // node to scheduler
  Timestamp sent_at;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

struct HeartbeatReply {
  Term term;
  Timestamp sent_at;  // echoed
  friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

// Node to scheduler: its workers have called Init for these.
struct RegisterKeys {
  struct Key {
    std::string name;
    int64_t elements = 0;
    TensorLayout layout = {};
    friend bool operator==(const Key&, const Key&) = default;
  };
  std::vector<Key> keys;
  friend bool operator==(const RegisterKeys&, const RegisterKeys&) = default;
};

// To every member: new rows of the key table, in rising order of KeyId and without gaps.
struct KeysAssigned {
  Term term;
  KeyTableVersion version;
  std::vector<KeySlice> keys;
  friend bool operator==(const KeysAssigned&, const KeysAssigned&) = default;
};

struct KeyRefused {
  Term term;
  std::string name;
  std::string reason;
  friend bool operator==(const KeyRefused&, const KeyRefused&) = default;
};

// The topology request (TRP): which policy governs these rounds?
struct PolicyRequest {
  struct Entry {
    KeyId key;
    Round round;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;
  friend bool operator==(const PolicyRequest&, const PolicyRequest&) = default;
};

// The same answer for all members, durable before the first of them gets it.
struct PolicyAnswer {
  struct Binding {
    KeyId key;
    Round first_round;
    Round last_round;  // inclusive: the lease
    PolicyVersion policy;
    Attempt attempt;
    int64_t chunk_max_elements = 0;  // of their first attempt; 0: those of the policy
    KeyRoutes route = {};
    friend bool operator==(const Binding&, const Binding&) = default;
  };
  Term term;
  Epoch epoch;
  std::vector<Binding> bindings;
  friend bool operator==(const PolicyAnswer&, const PolicyAnswer&) = default;
};

// To every member: leases under policies before this one are to end early. Answered by CutBound; a PolicyAnswer with
// what is left of them, and with the policy of the rounds after, follows when all have answered.
struct CutSought {
  Term term;
  Epoch epoch;
  PolicyVersion policy;
  friend bool operator==(const CutSought&, const CutSought&) = default;
};

// Node to scheduler: the first round of each key that it has not begun. It forgets what it knows of earlier policies
// for these rounds and later ones, and begins them only when the scheduler has said anew which one governs them. Keys
// that it does not know are left out.
struct CutBound {
  struct Entry {
    KeyId key;
    Round round;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  Epoch epoch;
  PolicyVersion policy;  // as asked
  std::vector<Entry> rounds;
  friend bool operator==(const CutBound&, const CutBound&) = default;
};

// To every member: the former epoch is over, and what belongs to its attempts is void. Answered by EpochReport.
struct EpochBegin {
  Term term;
  Epoch epoch;
  std::string reason;  // why membership changes
  friend bool operator==(const EpochBegin&, const EpochBegin&) = default;
};

// Node to scheduler: what it holds, for the plan of this epoch. Keys that it does not know are left out.
struct EpochReport {
  struct Progress {
    KeyId first_key;
    KeyId last_key;  // inclusive
    Round next;      // all results of earlier rounds of these keys are complete here
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  Epoch epoch;
  std::vector<Progress> progress;  // in rising order of keys, which do not overlap
  bool lacks_replica = false;      // with a server-side optimizer: of some key that has begun
  friend bool operator==(const EpochReport&, const EpochReport&) = default;
};

// To every member, when all have reported: how the epoch goes on. It comes after the PolicyPublished of its policy and
// is durable before.
struct EpochPlan {
  struct Frontier {
    KeyId first_key;
    KeyId last_key;
    Round first_open;  // earlier rounds of these keys are closed everywhere
    friend bool operator==(const Frontier&, const Frontier&) = default;
  };
  // Rounds that were bound in an earlier epoch, and are tried again.
  struct Binding {
    KeyId first_key;
    KeyId last_key;
    Round first_round;
    Round last_round;  // inclusive
    Attempt attempt;
    int64_t chunk_max_elements = 0;  // as in their first attempt, so that results of it keep their boundaries
    KeyRoutes route = {};            // likewise
    friend bool operator==(const Binding&, const Binding&) = default;
  };
  Term term;
  Epoch epoch;
  PolicyVersion policy;             // of all bindings
  std::vector<Frontier> frontiers;  // of all keys, in rising order
  std::vector<Binding> bindings;    // in rising order of keys and rounds
  // A plan of many keys comes in several messages, one behind the other. It counts when all are there.
  uint32_t part = 0;
  bool has_more = false;
  friend bool operator==(const EpochPlan&, const EpochPlan&) = default;
};

// A node's part of a policy; comes before the first answer that names it.
struct PolicyPublished {
  Term term;
  PolicySlice slice;
  friend bool operator==(const PolicyPublished&, const PolicyPublished&) = default;
};

// Returns what the `hash` of the decoded values of a key's result adds to the digest of a run of keys; 0 stays 0.
inline uint64_t ResultDigest(KeyId key, uint64_t hash) { return hash == 0 ? 0 : Digest({key.value(), hash}); }

// Node to scheduler: it holds every result of these rounds, with the digest of the runs of keys; 0 where it lacks the
// replica that it needs to read them.
struct RoundsClosed {
  struct Entry {
    KeyId key;
    Round round;
    uint64_t hash = 0;  // the sum of ResultDigest over this key and those that follow
    uint32_t more_keys = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;
  friend bool operator==(const RoundsClosed&, const RoundsClosed&) = default;
};

// To every member: all members hold all results of these rounds; contributions and results may go.
struct ClosedEverywhere {
  struct Entry {
    KeyId key;
    Round round;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  Term term;
  std::vector<Entry> entries;
  friend bool operator==(const ClosedEverywhere&, const ClosedEverywhere&) = default;
};

// To every member: no round runs under a policy below this any more, nor ever will.
struct PoliciesRetired {
  Term term;
  PolicyVersion oldest;  // that may still govern rounds
  friend bool operator==(const PoliciesRetired&, const PoliciesRetired&) = default;
};

// How far keys are: the same for keys that follow each other.
struct KeyProgressRun {
  KeyId key;
  Round round;
  uint32_t more_keys = 0;
  friend bool operator==(const KeyProgressRun&, const KeyProgressRun&) = default;
};

// Node to scheduler, where rounds may close without all: the last rounds that its workers have pushed gradients of. Of
// no earlier round that is open anything else was pushed.
struct RoundsPushed {
  std::vector<KeyProgressRun> runs;
  friend bool operator==(const RoundsPushed&, const RoundsPushed&) = default;
};

// To every member: a quorum has pushed these rounds. Nodes whose workers are late wait for them no longer than the
// grace from now on.
struct QuorumReached {
  Term term;
  std::vector<KeyProgressRun> runs;
  friend bool operator==(const QuorumReached&, const QuorumReached&) = default;
};

struct BarrierEntered {  // node to scheduler, when all its workers have
  uint64_t barrier = 0;  // how many barriers came before
  friend bool operator==(const BarrierEntered&, const BarrierEntered&) = default;
};

struct BarrierReleased {
  Term term;
  uint64_t barrier = 0;
  friend bool operator==(const BarrierReleased&, const BarrierReleased&) = default;
};

// Node to scheduler: a neighbour has been silent too long, or refuses it.
struct PeerLost {
  NodeId peer;
  std::string reason;
  friend bool operator==(const PeerLost&, const PeerLost&) = default;
};

// Node to scheduler: its last worker has died; it abstains until another one attaches.
struct WorkerLost {
  WorkerId worker;
  std::string reason;
  friend bool operator==(const WorkerLost&, const WorkerLost&) = default;
};

// Node to scheduler: a round can never finish.
struct RoundBroken {
  KeyId key;
  Round round;
  NodeId culprit;  // whose contribution or result breaks a rule; 0 when it is no single node's doing
  std::string reason;
  friend bool operator==(const RoundBroken&, const RoundBroken&) = default;
};

// Node to scheduler: it cannot take what the scheduler has told it. It falls out.
struct CannotFollow {
  std::string reason;
  friend bool operator==(const CannotFollow&, const CannotFollow&) = default;
};

// Node to scheduler: it ends on purpose.
struct Leave {
  std::string reason;
  bool asked_for = false;  // by whoever runs the node, with rounds open or not
  friend bool operator==(const Leave&, const Leave&) = default;
};

// To every member: no round can finish any more; each waiting and later call gets this status.
struct JobFailed {
  Term term;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  std::string reason;
  bool asked_for = false;  // it comes of a stop that somebody asked for, and is no error
  friend bool operator==(const JobFailed&, const JobFailed&) = default;
};

// A node's knowledge of a link that leaves it, from the chunks that it has sent there.
struct LinkMeasurement {
  enum class Source : uint8_t { kPrimary, kAuxiliary };
  Source source = Source::kPrimary;  // of the newest sample: on a tree edge, or on an auxiliary path
  double rate_bps = 0;               // above 0
  // The estimate of Eq. 14 in NETSTORM, beside the one above; 0 before the first.
  double one_way_delay_rate_bps = 0;
  // The sender always had more to send: only then may a rate be taken for less than it was.
  bool is_backlogged = false;
  absl::Duration delay = absl::ZeroDuration();              // propagation, one way
  absl::Duration age = absl::ZeroDuration();                // of the newest sample
  absl::Duration clock_offset = absl::ZeroDuration();       // the neighbour's clock minus the node's own
  absl::Duration clock_uncertainty = absl::ZeroDuration();  // of the offset, to either side
  friend bool operator==(const LinkMeasurement&, const LinkMeasurement&) = default;
};

// Node to scheduler, once per heartbeat when anything changed: what it measured, and what `status` shows of it.
struct NodeReport {
  struct Link {
    NodeId to;
    uint64_t sent_bytes = 0;  // payload and header, resends included, since the start
    uint64_t resent_bytes = 0;
    uint64_t auxiliary_bytes = 0;  // the part that travelled on auxiliary paths
    // The part of the time between the ends of the last two rounds in which chunks were on their way; 0 before there
    // are two.
    double busy_share = 0;
    std::optional<LinkMeasurement> measurement = std::nullopt;
    uint64_t renewals = 0;    // connections that were made anew because nothing passed, since the start
    bool is_blocked = false;  // small messages pass, large ones do not
    uint64_t cut_chunks = 0;  // that left the queue without their last frames
    uint64_t cut_bytes = 0;   // that they lacked
    friend bool operator==(const Link&, const Link&) = default;
  };
  struct Memory {
    std::string what;  // contributions, aggregates, results, queues, early, relay, worker segments, ...
    uint64_t size_bytes = 0;
    friend bool operator==(const Memory&, const Memory&) = default;
  };
  struct KeyProgress {
    KeyId key;
    Round round;              // last one whose result is complete here
    Round pushed = Round(0);  // last one that a worker here has pushed; Init counts as a push of round 0
    friend bool operator==(const KeyProgress&, const KeyProgress&) = default;
  };
  // Workers of this node for which others of it wait.
  struct Missing {
    KeyId key;                      // 0: in a barrier
    Round round;                    // of the key, 0 for its Init; or the barrier, as this node counts
    std::vector<WorkerId> workers;  // kMostMissingWorkers at most
    friend bool operator==(const Missing&, const Missing&) = default;
  };
  // What workers of this node have pushed that is no finite number, since its start.
  struct NotFinite {
    KeyId key;            // 0: of all further keys
    uint64_t values = 0;  // NaN and infinities, at least 1
    Round last;           // the last round with some
    friend bool operator==(const NotFinite&, const NotFinite&) = default;
  };
  // How a worker pushes a key: see node/workers/worker_reports.h.
  struct Lag {
    KeyId key;
    WorkerId worker;
    Round since;       // it has been the same from here on
    Round pushed;      // the last round that the worker has pushed
    uint64_t lag = 0;  // of its other keys, at each of these pushes
    friend bool operator==(const Lag&, const Lag&) = default;
  };
  // An Init that this node has refused to one of its workers, and for which others may wait.
  struct Refusal {
    std::string name;  // of the key
    WorkerId worker;
    std::string reason;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };
  static constexpr size_t kMostLags = 64;
  static constexpr size_t kMostRefusals = 4;
  static constexpr size_t kMostNotFinite = 64;
  static constexpr size_t kMostMissing = 2;
  static constexpr size_t kMostMissingWorkers = 16;
  // The last wait of this node's workers, from a push that found no round open here until none was any more.
  struct Synchronisation {
    uint64_t count = 0;    // that have ended since the start
    int64_t elements = 0;  // of the tensors in the last one
    absl::Duration duration = absl::ZeroDuration();
    friend bool operator==(const Synchronisation&, const Synchronisation&) = default;
  };
  uint32_t workers_attached = 0;
  uint64_t rejected_messages = 0;
  std::vector<Link> links;
  std::vector<Memory> memory;
  std::vector<KeyProgress> progress;
  uint64_t step = 0;  // of the last loss report
  double loss = 0;
  Synchronisation last_sync;
  std::vector<Missing> missing;       // of the key and the barrier that have waited longest; kMostMissing at most
  std::vector<NotFinite> not_finite;  // kMostNotFinite at most
  std::vector<Lag> lags;              // of some keys, others in each step; kMostLags at most
  std::vector<Refusal> refusals;      // kMostRefusals at most
  uint64_t late_rounds = 0;           // of all keys, to which this node has contributed without some late worker
  uint64_t route_violations = 0;      // chunks that disagreed with the precision route of their round
  PrecisionReport precision;
  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

// Node to scheduler: for whom do the members wait in this round? Asked when a worker's time-out is near, or a wait has
// been long.
struct WaitQuestion {
  // Stands for a barrier's number: what holds up the job as a whole?
  static constexpr Round kJob = Round(UINT64_MAX);

  KeyId key;    // 0: in a barrier
  Round round;  // 0: in the key's Init; or the barrier, as the node counts
  friend bool operator==(const WaitQuestion&, const WaitQuestion&) = default;
};

struct WaitAnswer {
  Term term;
  KeyId key;
  Round round;
  std::string text;  // such as "it waits for n3, which has not pushed it"
  friend bool operator==(const WaitAnswer&, const WaitAnswer&) = default;
};

// From `banyan reconfigure`, on a connection that does not join: the job goes on under this overlay.yaml.
struct Reconfigure {
  std::string overlay_yaml;
  std::string file_name;  // for messages
  friend bool operator==(const Reconfigure&, const Reconfigure&) = default;
};

// From `banyan stop`, on a connection that does not join: the job ends for all.
struct StopJob {
  std::string reason;
  friend bool operator==(const StopJob&, const StopJob&) = default;
};

// From `banyan remove`, on a connection that does not join: the node falls out and may not come back.
struct RemoveNode {
  std::string name;
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

// Answers Reconfigure, StopJob, RemoveNode and VetoLowBit. After a refusal nothing has changed.
struct OperatorReply {
  bool accepted = false;
  std::string text;  // what has changed, or what is wrong
  friend bool operator==(const OperatorReply&, const OperatorReply&) = default;
};

// From `banyan status`, on a connection that does not join.
struct StatusRequest {
  friend bool operator==(const StatusRequest&, const StatusRequest&) = default;
};

struct StatusReply {
  std::string json;  // what `status --json` prints: scheduler/status_report.h has its keys
  friend bool operator==(const StatusReply&, const StatusReply&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_SCHEDULER_MESSAGES_H_
