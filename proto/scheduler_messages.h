// Messages between a node and the scheduler, on the connection that the node opens. Every message of the scheduler
// carries its term; nodes refuse lower ones. Values; thread-compatible.
#ifndef BANYAN_PROTO_SCHEDULER_MESSAGES_H_
#define BANYAN_PROTO_SCHEDULER_MESSAGES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "core/time.h"
#include "core/version.h"
#include "proto/chunk_message.h"
#include "proto/fields.h"
#include "proto/job_config.h"
#include "proto/peer_messages.h"
#include "proto/policy_slice.h"
#include "proto/precision/key_routes.h"
#include "proto/precision/precision_messages.h"
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

template <typename Visitor>
void Fields(Visitor& v, Join& m) {
  // Its texts are for the scheduler to judge: it answers with a reason.
  v(1, "protocol_version", m.protocol_version);
  v(2, "job", m.job, kText);
  v(3, "name", m.name, kText);
  v(4, "address", m.address, kText);
  v(5, "incarnation", m.incarnation, kNonZero);
  v(6, "version", m.version, kText);
}

struct JoinAccepted {
  Term term;
  NodeId node;
  JobConfig config;
  StartId start;               // of the scheduler
  bool is_first_join = false;  // no start of the scheduler whose records it has ever accepted this start of the node
  friend bool operator==(const JoinAccepted&, const JoinAccepted&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JoinAccepted& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "node", m.node, kNonZero);
  v(3, "config", m.config);
  v(4, "start", m.start);
  v(5, "is_first_join", m.is_first_join);
}

// Refuses the node for good: it stops and says why.
struct JoinRefused {
  Term term;
  std::string reason;
  bool fell_out = false;     // this start of the node was a member and is none any more; a new start may join
  bool job_is_over = false;  // all members have finished their work: the node has nothing left to do, which is no error
  friend bool operator==(const JoinRefused&, const JoinRefused&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JoinRefused& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "reason", m.reason, kReason);
  v(3, "fell_out", m.fell_out);
  v(4, "job_is_over", m.job_is_over);
}

// To every joined node whenever membership changes.
struct MembershipUpdate {
  static constexpr int kMostWaitedFor = 16;
  Term term;
  Epoch epoch;
  uint32_t joined = 0;
  uint32_t expected = 0;  // what membership.start_with asks for
  bool started = false;
  std::vector<std::string> waiting_for;  // names, kMostWaitedFor at most
  std::vector<JobMember> members = {};   // of the epoch, in order of NodeId; none before the start
  friend bool operator==(const MembershipUpdate&, const MembershipUpdate&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, MembershipUpdate& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "epoch", m.epoch);
  v(3, "joined", m.joined);
  v(4, "expected", m.expected);
  v(5, "started", m.started);
  v(6, "waiting_for", m.waiting_for, Entries{0, MembershipUpdate::kMostWaitedFor}, kName);
  v(7, "members", m.members, Entries{0, v.limits().max_entries});
}

struct Heartbeat {  // node to scheduler
  Timestamp sent_at;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Heartbeat& m) {
  v(1, "sent_at", m.sent_at);
}

struct HeartbeatReply {
  Term term;
  Timestamp sent_at;  // echoed
  friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, HeartbeatReply& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "sent_at", m.sent_at);
}

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

template <typename Visitor>
void Fields(Visitor& v, TensorLayout::Part& m) {
  v(1, "name", m.name, kName);
  v(2, "elements", m.elements, Range{int64_t{0}, v.limits().max_key_elements});
}

template <typename Visitor>
void Fields(Visitor& v, RegisterKeys::Key& m) {
  v(1, "name", m.name, kName);
  v(2, "elements", m.elements, Range{int64_t{0}, v.limits().max_key_elements});
  v(3, "parts", m.layout.parts);
  v(4, "type", m.layout.type, UpTo{kLastElementType});
  v.Check([&m](FieldReader& fields) {
    // A group has as many elements as all of its parts.
    fields.Expect(!m.layout.is_group() || m.layout.Elements() == m.elements, "parts",
                  absl::StrCat(m.elements, " elements in all"), absl::StrCat(m.layout.Elements()));
  });
}

template <typename Visitor>
void Fields(Visitor& v, RegisterKeys& m) {
  v(1, "keys", m.keys);
}

// To every member: new rows of the key table, in rising order of KeyId and without gaps.
struct KeysAssigned {
  Term term;
  KeyTableVersion version;
  std::vector<KeySlice> keys;
  friend bool operator==(const KeysAssigned&, const KeysAssigned&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, KeysAssigned& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "version", m.version);
  v(3, "keys", m.keys);
  v.Check([&m](FieldReader& fields) {
    for (size_t i = 1; i < m.keys.size(); ++i) {
      const KeyId expected = m.keys[i - 1].key.Next();
      FieldReader within = fields.Within("keys", static_cast<int>(i));
      within.Expect(m.keys[i].key == expected, "key", absl::StrCat(expected.value(), ", without a gap"),
                    absl::StrCat(m.keys[i].key.value()));
    }
  });
}

struct KeyRefused {
  Term term;
  std::string name;
  std::string reason;
  friend bool operator==(const KeyRefused&, const KeyRefused&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, KeyRefused& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "name", m.name, kName);
  v(3, "reason", m.reason, kReason);
}

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

template <typename Visitor>
void Fields(Visitor& v, PolicyRequest::Entry& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v.MoreKeys(4);
}

template <typename Visitor>
void Fields(Visitor& v, PolicyRequest& m) {
  v.Runs(1, "entries", m.entries);
}

template <typename Visitor>
void RouteField(Visitor& v, int number, KeyRoutes& route) {
  uint64_t bits = route.bits();
  v(number, "route", bits);
  v.Check([&](FieldReader& fields) {
    const bool is_known = KeyRoutes::IsRoutes(bits);
    fields.Expect(is_known, "route", "a precision route for each slice", absl::StrCat(bits));
    route = is_known ? KeyRoutes::OfBits(bits) : KeyRoutes();
  });
}

// Refuses rounds that do not rise, or are so many that a receiver cannot walk through them.
void CheckRounds(Round first_round, Round last_round, FieldReader& fields);

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

template <typename Visitor>
void Fields(Visitor& v, PolicyAnswer::Binding& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "first_round", m.first_round);
  v(3, "last_round", m.last_round);
  v(4, "policy", m.policy, kNonZero);
  v(5, "attempt", m.attempt);
  v.MoreKeys(6);
  v(7, "chunk_max_elements", m.chunk_max_elements, Range{int64_t{0}, v.limits().max_chunk_elements});
  RouteField(v, 8, m.route);
  v.Check([&m](FieldReader& fields) { CheckRounds(m.first_round, m.last_round, fields); });
}

template <typename Visitor>
void Fields(Visitor& v, PolicyAnswer& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "epoch", m.epoch);
  v.Runs(3, "bindings", m.bindings);
}

// One end of leases before their time, from 1 in each start of the scheduler.
using CutId = StrongId<struct CutIdTag, uint64_t>;

// To every member: leases are to end early, since later rounds get another policy or other routes. Answered by
// CutBound; a PolicyAnswer with what is left of them, and with what governs the rounds after, follows when all have
// answered.
struct CutSought {
  Term term;
  Epoch epoch;
  CutId cut;
  friend bool operator==(const CutSought&, const CutSought&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, CutSought& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "epoch", m.epoch, kNonZero);
  v(3, "cut", m.cut, kNonZero);
}

// Node to scheduler: the first round of each key that it has not begun. It forgets what governs these rounds and later
// ones, and begins them only when the scheduler has said it anew. Keys that it does not know are left out.
struct CutBound {
  struct Entry {
    KeyId key;
    Round round;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  Term term;  // these as asked
  Epoch epoch;
  CutId cut;
  std::vector<Entry> rounds;
  friend bool operator==(const CutBound&, const CutBound&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, CutBound::Entry& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v.MoreKeys(3);
}

template <typename Visitor>
void Fields(Visitor& v, CutBound& m) {
  v(1, "epoch", m.epoch, kNonZero);
  v(2, "cut", m.cut, kNonZero);
  v.Runs(3, "rounds", m.rounds);
  v(4, "term", m.term, kNonZero);
}

// To every member: the former epoch is over, and what belongs to its attempts is void. Answered by EpochReport.
struct EpochBegin {
  Term term;
  Epoch epoch;
  std::string reason;  // why membership changes
  friend bool operator==(const EpochBegin&, const EpochBegin&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, EpochBegin& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "epoch", m.epoch, kNonZero);
  v(3, "reason", m.reason, kReason);
}

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

template <typename Visitor>
void Fields(Visitor& v, EpochReport::Progress& m) {
  v(1, "first_key", m.first_key, kNonZero);
  v(2, "last_key", m.last_key, kNonZero);
  v(3, "next", m.next);
}

template <typename Visitor>
void Fields(Visitor& v, EpochReport& m) {
  v(1, "epoch", m.epoch, kNonZero);
  v(2, "progress", m.progress);
  v.Check([&m](FieldReader& fields) { CheckRisingKeys(fields, "progress", m.progress); });
  v(3, "lacks_replica", m.lacks_replica);
}

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

template <typename Visitor>
void Fields(Visitor& v, EpochPlan::Frontier& m) {
  v(1, "first_key", m.first_key, kNonZero);
  v(2, "last_key", m.last_key, kNonZero);
  v(3, "first_open", m.first_open);
}

template <typename Visitor>
void Fields(Visitor& v, EpochPlan::Binding& m) {
  v(1, "first_key", m.first_key, kNonZero);
  v(2, "last_key", m.last_key, kNonZero);
  v(3, "first_round", m.first_round);
  v(4, "last_round", m.last_round);
  v(5, "attempt", m.attempt);
  v(6, "chunk_max_elements", m.chunk_max_elements, Range{int64_t{1}, v.limits().max_chunk_elements});
  RouteField(v, 7, m.route);
  v.Check([&m](FieldReader& fields) {
    // A key has a binding for each chunk size of its open rounds.
    fields.CheckKeys(m.first_key.value(), m.last_key.value(), 0);
    CheckRounds(m.first_round, m.last_round, fields);
  });
}

template <typename Visitor>
void Fields(Visitor& v, EpochPlan& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "epoch", m.epoch, kNonZero);
  v(3, "policy", m.policy, kNonZero);
  v(4, "frontiers", m.frontiers);
  v.Check([&m](FieldReader& fields) { CheckRisingKeys(fields, "frontiers", m.frontiers); });
  v(5, "bindings", m.bindings);
  v(6, "part", m.part);
  v(7, "has_more", m.has_more);
}

// A node's part of a policy; comes before the first answer that names it.
struct PolicyPublished {
  Term term;
  PolicySlice slice;
  friend bool operator==(const PolicyPublished&, const PolicyPublished&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PolicyPublished& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "slice", m.slice);
}

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

template <typename Visitor>
void Fields(Visitor& v, RoundsClosed::Entry& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "hash", Fixed(m.hash));
  v(4, "more_keys", m.more_keys);
}

template <typename Visitor>
void Fields(Visitor& v, RoundsClosed& m) {
  v(1, "entries", m.entries);
  v.Check([&m](FieldReader& fields) { CheckRunsOfKeys(fields, "entries", m.entries); });
}

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

template <typename Visitor>
void Fields(Visitor& v, ClosedEverywhere::Entry& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v.MoreKeys(3);
}

template <typename Visitor>
void Fields(Visitor& v, ClosedEverywhere& m) {
  v(1, "term", m.term, kNonZero);
  v.Runs(2, "entries", m.entries);
}

// To every member: no round runs under a policy below this any more, nor ever will.
struct PoliciesRetired {
  Term term;
  PolicyVersion oldest;  // that may still govern rounds
  friend bool operator==(const PoliciesRetired&, const PoliciesRetired&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PoliciesRetired& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "oldest", m.oldest, kNonZero);
}

// How far keys are: the same for keys that follow each other.
struct KeyProgressRun {
  KeyId key;
  Round round;
  uint32_t more_keys = 0;
  friend bool operator==(const KeyProgressRun&, const KeyProgressRun&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, KeyProgressRun& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "more_keys", m.more_keys);
}

// Node to scheduler, where rounds may close without all: the last rounds that its workers have pushed gradients of. Of
// no earlier round that is open anything else was pushed.
struct RoundsPushed {
  std::vector<KeyProgressRun> runs;
  friend bool operator==(const RoundsPushed&, const RoundsPushed&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RoundsPushed& m) {
  v(1, "runs", m.runs);
  v.Check([&m](FieldReader& fields) { CheckRunsOfKeys(fields, "runs", m.runs); });
}

// To every member: a quorum has pushed these rounds. Nodes whose workers are late wait for them no longer than the
// grace from now on. In a job without a quorum, to one node: the others have waited too long for its workers that have
// not pushed these rounds, and it goes on without them (membership.worker_lost_after_seconds).
struct QuorumReached {
  Term term;
  std::vector<KeyProgressRun> runs;
  friend bool operator==(const QuorumReached&, const QuorumReached&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, QuorumReached& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "runs", m.runs);
  v.Check([&m](FieldReader& fields) { CheckRunsOfKeys(fields, "runs", m.runs); });
}

struct BarrierEntered {  // node to scheduler, when all its workers have
  uint64_t barrier = 0;  // how many barriers came before
  friend bool operator==(const BarrierEntered&, const BarrierEntered&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, BarrierEntered& m) {
  v(1, "barrier", m.barrier);
}

struct BarrierReleased {
  Term term;
  uint64_t barrier = 0;
  friend bool operator==(const BarrierReleased&, const BarrierReleased&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, BarrierReleased& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "barrier", m.barrier);
}

// Node to scheduler: a neighbour has been silent too long, or refuses it.
struct PeerLost {
  NodeId peer;
  std::string reason;
  friend bool operator==(const PeerLost&, const PeerLost&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, PeerLost& m) {
  v(1, "peer", m.peer, kNonZero);
  v(2, "reason", m.reason, kReason);
}

// Node to scheduler: its last worker has died; it abstains until another one attaches.
struct WorkerLost {
  WorkerId worker;
  std::string reason;
  bool has_values = false;  // of broadcasts that are open: what its workers had given
  friend bool operator==(const WorkerLost&, const WorkerLost&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, WorkerLost& m) {
  v(1, "worker", m.worker);
  v(2, "reason", m.reason, kReason);
  v(3, "has_values", m.has_values);
}

// Node to scheduler: a round can never finish.
struct RoundBroken {
  KeyId key;
  Round round;
  NodeId culprit;  // whose contribution or result breaks a rule; 0 when it is no single node's doing
  std::string reason;
  friend bool operator==(const RoundBroken&, const RoundBroken&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RoundBroken& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "culprit", m.culprit);
  v(4, "reason", m.reason, kReason);
}

// Node to scheduler: it cannot take what the scheduler has told it. It falls out.
struct CannotFollow {
  std::string reason;
  friend bool operator==(const CannotFollow&, const CannotFollow&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, CannotFollow& m) {
  v(1, "reason", m.reason, kReason);
}

// Node to scheduler: it ends on purpose.
struct Leave {
  std::string reason;
  bool asked_for = false;  // by whoever runs the node, with rounds open or not
  friend bool operator==(const Leave&, const Leave&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Leave& m) {
  v(1, "reason", m.reason, kReason);
  v(2, "asked_for", m.asked_for);
}

// To every member: no round can finish any more; each waiting and later call gets this status.
struct JobFailed {
  Term term;
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  std::string reason;
  bool asked_for = false;  // it comes of a stop that somebody asked for, and is no error
  friend bool operator==(const JobFailed&, const JobFailed&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, JobFailed& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "code", m.code, Range{absl::StatusCode::kCancelled, absl::StatusCode::kUnauthenticated});
  v(3, "reason", m.reason, kReason);
  v(4, "asked_for", m.asked_for);
}

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

template <typename Visitor>
void Fields(Visitor& v, LinkMeasurement& m) {
  // A bit in a quarter of an hour, and a thousand times the fastest link there is.
  constexpr Range kRatesBps = {1e-3, 1e15};
  v(1, "source", m.source, UpTo{LinkMeasurement::Source::kAuxiliary});
  v(2, "rate_bps", m.rate_bps, kRatesBps);
  v(3, "one_way_delay_rate_bps", m.one_way_delay_rate_bps, Range{0.0, kRatesBps.high});
  v(4, "is_backlogged", m.is_backlogged);
  v(5, "delay", m.delay, kNotNegative);
  v(6, "age", m.age, kNotNegative);
  // The clocks of two processes have nothing in common.
  v(7, "clock_offset", Fixed(m.clock_offset));
  v(8, "clock_uncertainty", m.clock_uncertainty, kNotNegative);
}

// ---- what is counted ----
//
// What a node counts for people to see. From its line in the struct and its line in the description follow the report,
// the status, the page and the metric; a new one takes the next number and comes last. A number that is no uint64_t may
// fall as well.

// Of a link to a neighbour, since the start of the node.
struct LinkCounters {
  uint64_t sent_bytes = 0;
  uint64_t resent_bytes = 0;
  uint64_t auxiliary_bytes = 0;
  double busy_share = 0;  // between the ends of the last two rounds; 0 before there are two
  uint64_t renewals = 0;
  bool is_blocked = false;
  uint64_t cut_chunks = 0;
  uint64_t cut_bytes = 0;
  uint64_t overtakings = 0;
  friend bool operator==(const LinkCounters&, const LinkCounters&) = default;
};

// `visit_fifth` visits what NodeReport::Link has between them.
template <typename Visitor, typename VisitFifth>
void CounterFields(Visitor& v, LinkCounters& m, VisitFifth visit_fifth) {
  v(2, "bytes", m.sent_bytes,
    Metric{"Payload and headers sent to a neighbour, resends and second copies included.", "sent_bytes"});
  v(3, "resent_bytes", m.resent_bytes, Metric{"The part of them that was sent again."});
  v(4, "auxiliary_bytes", m.auxiliary_bytes, Metric{"The part of them that travels on auxiliary paths."});
  visit_fifth();
  v(6, "busy_share", m.busy_share, Metric{"The part of the last round's time with chunks on their way."},
    Range{0.0, 1.0});
  v(7, "renewals", m.renewals, Metric{"Connections that were made anew because nothing passed."});
  v(8, "blocked", m.is_blocked, Metric{"1 while small messages pass and large ones do not."});
  v(9, "cut_chunks", m.cut_chunks, Metric{"Chunks that were cut as they left the queue (`docs/trimming.md`)."});
  v(10, "cut_bytes", m.cut_bytes, Metric{"What they lacked then."});
  v(11, "overtakings", m.overtakings, Metric{"Packets that overtook others, as the kernel has seen."});
}

template <typename Visitor>
void Fields(Visitor& v, LinkCounters& m) {
  CounterFields(v, m, [] {});
}

inline constexpr double kMostGraceSeconds = 3600;

// Of the node itself, since its start.
struct NodeCounters {
  uint64_t late_rounds = 0;
  uint64_t route_violations = 0;
  uint64_t contributions = 0;
  double grace_seconds = 0;
  uint64_t gained_gradients = 0;
  uint64_t waited_ms = 0;
  friend bool operator==(const NodeCounters&, const NodeCounters&) = default;
};

// `visit_fifteenth` visits what NodeReport has between them.
template <typename Visitor, typename VisitFifteenth>
void CounterFields(Visitor& v, NodeCounters& m, VisitFifteenth visit_fifteenth) {
  v(13, "late_rounds", m.late_rounds, Metric{"Rounds of keys to which the node contributed without some late worker."});
  v(14, "route_violations", m.route_violations, Metric{"Chunks of another precision route than their round's."});
  visit_fifteenth();
  v(16, "contributions", m.contributions, Metric{"Rounds of keys to which workers of the node contributed."});
  v(17, "grace_seconds", m.grace_seconds, Metric{"For so long it waits for late workers, where there is a quorum."},
    Range{0.0, kMostGraceSeconds});
  v(18, "gained_gradients", m.gained_gradients, Metric{"Gradients that came within that time."});
  v(19, "waited_ms", m.waited_ms, Metric{"How long keys waited so, between them.", "waited_milliseconds"});
}

template <typename Visitor>
void Fields(Visitor& v, NodeCounters& m) {
  CounterFields(v, m, [] {});
}

// Node to scheduler, once per heartbeat when anything changed: what it measured, and what `status` shows of it.
struct NodeReport : NodeCounters {
  struct Link : LinkCounters {
    NodeId to;
    std::optional<LinkMeasurement> measurement;
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
  static constexpr int kMostMemoryRows = 64;
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
  PrecisionReport precision;
  friend bool operator==(const NodeReport&, const NodeReport&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Link& m) {
  v(1, "to", m.to, kNonZero);
  CounterFields(v, m, [&] { v(5, "measurement", m.measurement); });
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Memory& m) {
  v(1, "what", m.what, kName);
  v(2, "size_bytes", m.size_bytes);
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::KeyProgress& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "round", m.round);
  v(3, "pushed", m.pushed);
  v.MoreKeys(4);
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Missing& m) {
  v(1, "key", m.key);
  v(2, "round", m.round);
  v(3, "workers", m.workers, Entries{0, NodeReport::kMostMissingWorkers});
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::NotFinite& m) {
  v(1, "key", m.key);
  v(2, "values", m.values);
  v(3, "last", m.last);
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Lag& m) {
  v(1, "key", m.key, kNonZero);
  v(2, "worker", m.worker);
  v(3, "since", m.since);
  v(4, "pushed", m.pushed);
  v(5, "lag", m.lag);
  v.Check([&m](FieldReader& fields) {
    fields.Expect(m.since <= m.pushed, "pushed", absl::StrCat("round ", m.since.value(), " or later"),
                  absl::StrCat("round ", m.pushed.value()));
  });
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Refusal& m) {
  v(1, "name", m.name, kName);
  v(2, "worker", m.worker);
  v(3, "reason", m.reason, kReason);
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport::Synchronisation& m) {
  v(1, "count", m.count);
  v(2, "elements", m.elements, Range{int64_t{0}, std::numeric_limits<int64_t>::max()});
  v(3, "duration", m.duration, kNotNegative);
}

template <typename Visitor>
void Fields(Visitor& v, NodeReport& m) {
  v(1, "workers_attached", m.workers_attached);
  v(2, "rejected_messages", m.rejected_messages);
  v(3, "links", m.links);
  v(4, "memory", m.memory, Entries{0, NodeReport::kMostMemoryRows});
  v.Runs(5, "progress", m.progress);
  v(6, "step", m.step);
  double loss = FiniteLoss(m.loss);
  v(7, "loss", loss, kFinite);
  if constexpr (Visitor::kReads) m.loss = loss;
  v(8, "last_sync", m.last_sync);
  v(9, "missing", m.missing, Entries{0, NodeReport::kMostMissing});
  v(10, "not_finite", m.not_finite, Entries{0, NodeReport::kMostNotFinite});
  v(11, "lags", m.lags, Entries{0, NodeReport::kMostLags});
  v(12, "refusals", m.refusals, Entries{0, NodeReport::kMostRefusals});
  CounterFields(v, m, [&] { v(15, "precision", UnlessDefault(m.precision)); });
}

// Node to scheduler: for whom do the members wait in this round? Asked when a worker's time-out is near, or a wait has
// been long.
struct WaitQuestion {
  // Stands for a barrier's number: what holds up the job as a whole?
  static constexpr Round kJob = Round(UINT64_MAX);

  KeyId key;    // 0: in a barrier
  Round round;  // 0: in the key's Init; or the barrier, as the node counts
  friend bool operator==(const WaitQuestion&, const WaitQuestion&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, WaitQuestion& m) {
  v(1, "key", m.key);
  v(2, "round", m.round);
}

struct WaitAnswer {
  Term term;
  KeyId key;
  Round round;
  std::string text;  // such as "it waits for n3, which has not pushed it"
  friend bool operator==(const WaitAnswer&, const WaitAnswer&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, WaitAnswer& m) {
  v(1, "term", m.term, kNonZero);
  v(2, "key", m.key);
  v(3, "round", m.round);
  v(4, "text", m.text, kReason);
}

// From `banyan reconfigure`, on a connection that does not join: the job goes on under this overlay.yaml.
struct Reconfigure {
  std::string overlay_yaml;
  std::string file_name;  // for messages
  friend bool operator==(const Reconfigure&, const Reconfigure&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Reconfigure& m) {
  // The length of the text is that of the header, which has been judged.
  v(1, "overlay_yaml", m.overlay_yaml);
  v(2, "file_name", m.file_name, kText);
}

// From `banyan stop`, on a connection that does not join: the job ends for all.
struct StopJob {
  std::string reason;
  friend bool operator==(const StopJob&, const StopJob&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, StopJob& m) {
  v(1, "reason", m.reason, kReason);
}

// From `banyan remove`, on a connection that does not join: the node falls out and may not come back.
struct RemoveNode {
  std::string name;
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, RemoveNode& m) {
  v(1, "name", m.name, kName);
}

// Answers Reconfigure, StopJob, RemoveNode and VetoLowBit. After a refusal nothing has changed.
struct OperatorReply {
  bool accepted = false;
  std::string text;  // what has changed, or what is wrong
  friend bool operator==(const OperatorReply&, const OperatorReply&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, OperatorReply& m) {
  v(1, "accepted", m.accepted);
  v(2, "text", m.text, kReason);
}

// From `banyan status`, on a connection that does not join. StatusReply (proto/status.h) answers.
struct StatusRequest {
  friend bool operator==(const StatusRequest&, const StatusRequest&) = default;
};

template <typename Visitor>
void Fields(Visitor&, StatusRequest&) {}

}  // namespace banyan

#endif  // BANYAN_PROTO_SCHEDULER_MESSAGES_H_
