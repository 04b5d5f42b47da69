// The records that the scheduler makes durable, and the one place that encodes and decodes them. Pure functions on
// values; thread-compatible.
#ifndef BANYAN_SCHEDULER_STATE_STATE_RECORD_H_
#define BANYAN_SCHEDULER_STATE_STATE_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/precision/key_routes.h"
#include "proto/scheduler_messages.h"
#include "scheduler/state/policy_record.h"

namespace banyan {

struct TermRecord {
  Term term;
  std::string job;
  friend bool operator==(const TermRecord&, const TermRecord&) = default;
};

struct NodeRecord {
  NodeId node;
  std::string name;
  std::string address;
  Incarnation incarnation;
  std::string public_key = {};  // with which it was let in; empty: without keys, or of an earlier release
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

// A row of the key table.
struct KeyRecord {
  std::string name;
  int64_t elements = 0;
  TensorLayout layout = {};
  std::vector<int64_t> borders = {};  // as KeySlice has them
  friend bool operator==(const KeyRecord&, const KeyRecord&) = default;
};

// New rows of the key table, with the ids from first_key upwards.
struct KeysRecord {
  KeyId first_key;
  std::vector<KeyRecord> keys;
  friend bool operator==(const KeysRecord&, const KeysRecord&) = default;
};

// Consecutive rounds of a key that are bound to a policy.
struct BoundRounds {
  KeyId key;
  Round first_round;
  Round last_round;  // inclusive
  PolicyVersion policy;
  Attempt attempt;
  int64_t chunk_max_elements = 0;  // of their first attempt; 0: those of the policy
  KeyRoutes route = {};

  PolicyAnswer::Binding ToAnswer() const {
    return {key, first_round, last_round, policy, attempt, chunk_max_elements, route};
  }
  friend bool operator==(const BoundRounds&, const BoundRounds&) = default;
};

struct BindingsRecord {
  std::vector<BoundRounds> bindings;
  friend bool operator==(const BindingsRecord&, const BindingsRecord&) = default;
};

struct PrecisionRecord {
  PrecisionState state;
  friend bool operator==(const PrecisionRecord&, const PrecisionRecord&) = default;
};

// Leases of these keys under earlier policies or other routes end before these rounds, and what was left of them goes
// to this policy and these routes. No member has begun any of that.
struct CutRecord {
  struct Entry {
    KeyId key;
    Round round;
    KeyRoutes route = {};            // from then on
    int64_t chunk_max_elements = 0;  // from then on; 0: those of the policy
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  PolicyVersion policy;
  std::vector<Entry> rounds;
  friend bool operator==(const CutRecord&, const CutRecord&) = default;
};

struct ClosedRecord {
  std::vector<ClosedEverywhere::Entry> rounds;
  friend bool operator==(const ClosedRecord&, const ClosedRecord&) = default;
};

struct BarrierRecord {
  uint64_t barrier = 0;          // released
  std::vector<NodeId> left_out;  // members for whom it counts as one before they had joined
  friend bool operator==(const BarrierRecord&, const BarrierRecord&) = default;
};

enum class JobEnd : uint8_t {
  kFailed,   // the next start of the scheduler begins another job
  kDone,     // the work of its nodes is done
  kStopped,  // by an operator
};

// The job is over.
struct EndRecord {
  std::string reason;
  JobEnd end = JobEnd::kFailed;
  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

// Whether a member has left on purpose: it is one until the next epoch.
enum class Departed : uint8_t {
  kNo,
  kAsked,    // somebody has stopped it
  kForGood,  // its work is done
};

// One start of a node as a member of an epoch.
struct EpochMember {
  NodeId node;
  Incarnation incarnation;
  Epoch joined_in;               // the epoch with which it became a member
  uint64_t barriers_before = 0;  // that the job had passed by then: the node counts its own ones from 0
  Departed departed = Departed::kNo;
  friend bool operator==(const EpochMember&, const EpochMember&) = default;
};

// The former epoch is over, and the next one has these members, in rising order.
struct EpochRecord {
  Epoch epoch;
  std::vector<EpochMember> members;
  std::string reason;
  friend bool operator==(const EpochRecord&, const EpochRecord&) = default;
};

// How the epoch goes on. Its frontiers close rounds, and its bindings take the place of all that there were.
struct EpochPlanRecord {
  Epoch epoch;
  PolicyVersion policy;
  std::vector<EpochPlan::Frontier> frontiers;
  std::vector<EpochPlan::Binding> bindings;
  friend bool operator==(const EpochPlanRecord&, const EpochPlanRecord&) = default;
};

// An operator has removed the node from the job, or lets it in again.
struct RemovedRecord {
  NodeId node;
  bool is_back = false;
  friend bool operator==(const RemovedRecord&, const RemovedRecord&) = default;
};

// A reconfiguration counts from now on, without a policy of its own.
struct OverlayRecord {
  OverlayText overlay;
  friend bool operator==(const OverlayRecord&, const OverlayRecord&) = default;
};

// A member has left on purpose.
struct LeaveRecord {
  NodeId node;
  bool is_asked_for = false;
  friend bool operator==(const LeaveRecord&, const LeaveRecord&) = default;
};

// Settings of the overlay by name, as text: those that a running job rests on, which cannot change while it runs.
using JobSettings = std::map<std::string, std::string>;

// What settings the job has, besides those recorded before. While the job does not run they are all that count, and who
// has joined under others cannot go on.
struct SettingsRecord {
  JobSettings settings;
  friend bool operator==(const SettingsRecord&, const SettingsRecord&) = default;
};

// The rounds of one key that are closed everywhere.
struct ClosedRounds {
  Round first_open;        // all rounds before are closed
  std::set<Round> beyond;  // closed although first_open is not
  bool Contains(Round round) const { return round < first_open || beyond.count(round) > 0; }
  // Adds all rounds before `open`.
  void AdvanceTo(Round open);
  // Adds a round.
  void Add(Round round);
  friend bool operator==(const ClosedRounds&, const ClosedRounds&) = default;
};

// What is left of the records that a snapshot leaves out. Comes last in a snapshot, and nowhere else.
struct SummaryRecord {
  Epoch last_epoch;
  PolicyVersion last_policy;
  std::set<NodeId> spent_nodes;
  std::map<KeyId, ClosedRounds> closed;
  uint64_t next_barrier = 0;
  std::optional<OverlayText> overlay;  // of the running job's last reconfiguration
  std::vector<EpochMember> members;    // of last_epoch
  Epoch planned_epoch;                 // the last one that has a plan
  PolicyVersion plan_policy;           // of that plan
  std::set<NodeId> removed_nodes;
  std::optional<EndRecord> end;  // of the last job, when no other one has begun
  JobSettings settings;
  friend bool operator==(const SummaryRecord&, const SummaryRecord&) = default;
};

using StateRecord = std::variant<TermRecord, NodeRecord, KeysRecord, PolicyRecord, BindingsRecord, ClosedRecord,
                                 BarrierRecord, EndRecord, SummaryRecord, EpochRecord, EpochPlanRecord, RemovedRecord,
                                 CutRecord, LeaveRecord, SettingsRecord, OverlayRecord, PrecisionRecord>;

std::string EncodeStateRecord(const StateRecord& record);
// Decodes a record and checks the form of each field; ReplayStateRecords checks that records fit each other. DATA_LOSS
// says what is wrong with the bytes.
absl::StatusOr<StateRecord> DecodeStateRecord(const std::string& bytes);

// Joins encoded records into a snapshot, and takes it apart. DATA_LOSS when the bytes are no snapshot.
std::string EncodeSnapshot(std::vector<std::string> records);
absl::StatusOr<std::vector<std::string>> DecodeSnapshot(const std::string& bytes);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_STATE_RECORD_H_
