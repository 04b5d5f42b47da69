// Registers the keys that nodes ask for: gives them ids, makes them durable, and tells every node. What is asked for
// before the start waits for it. Thread-compatible; owned by the core.
//
// Invariants:
// - A key is durable before any node hears of its id.
// - At most kMaxWaitingKeys keys wait for the start.
// - What a step registers is one record and, to each node, as few messages as hold it, however many have asked.
#ifndef BANYAN_SCHEDULER_ROUNDS_KEY_REGISTRAR_H_
#define BANYAN_SCHEDULER_ROUNDS_KEY_REGISTRAR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/round_book.h"
#include "scheduler/rounds/shape_claims.h"
#include "scheduler/rounds/waiting_keys.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

class KeyRegistrar {
 public:
  using Keys = std::vector<RegisterKeys::Key>;

  // Refuses keys that need more than kMaxChunksPerKey chunks of `chunk_max_elements`. The pointers must outlive this.
  KeyRegistrar(int64_t chunk_max_elements, const JobState* job, JobMembers* members, SchedulerContext* context)
      : job_(job), members_(members), context_(context), table_(chunk_max_elements) {}

  // Keeps the keys for the start.
  void Wait(NodeId node, const Keys& keys);
  // Forgets the keys that the node waits for.
  void Forget(NodeId node) { waiting_.Drop(node); }
  // Registers the keys and tells their ids. A refused key is told to `node`; to all, if its shape is another one than
  // they gave it and they wait for this Init, as `rounds` says. Who asks for the key later is told once, too: it would
  // wait for the other. True when the model has grown.
  bool Register(NodeId node, const Keys& keys, const RoundBook& rounds);
  // Registers what waits for the start. True when the model has grown.
  bool RegisterWaiting(const RoundBook& rounds);
  // Tells a node that has joined all keys.
  void SendAll(NodeId node);

  // Takes the keys of records. DATA_LOSS names one that cannot be.
  absl::Status Restore(const std::vector<KeyRecord>& keys);
  // Judges later keys by chunks of this size. REQUIRES: the table's CheckChunks is OK.
  void UseChunks(int64_t chunk_max_elements) { table_.UseChunks(chunk_max_elements); }
  // As KeyTable does.
  void UseRoutes(const RouteSource* routes) { table_.UseRoutes(routes); }

  const KeyTable& table() const { return table_; }
  size_t waiting() const { return waiting_.size(); }

 private:
  // Nodes give a key different shapes. Who asked for it meanwhile has been `told`.
  struct Quarrel {
    NodeId culprit;  // who gave it another one than the others
    RegisterKeys::Key key;
    std::set<NodeId> told;
    ShapeClaims claims;
  };

  // What one step registers.
  struct Batch {
    KeysRecord added;
    std::map<NodeId, KeyRun> known;  // what each node has asked for that was known before, and what lies between
  };

  Batch NewBatch() const { return {{Last().Next(), {}}, {}}; }
  void Register(NodeId node, const RegisterKeys::Key& key, const RoundBook& rounds, Batch& batch);
  // Makes it durable and tells it, and then what was refused. True when the model has grown.
  bool Announce(Batch batch);
  // Tells a node these rows of the table.
  void SendRows(NodeId node, KeyId first, KeyId last);
  // Refuses a key to `node` when the step is announced.
  void Refuse(NodeId node, const RegisterKeys::Key& key, const std::string& reason);
  // Notes that `culprit` gives a key another shape than those that gave it one before.
  void NoteQuarrel(NodeId culprit, const RegisterKeys::Key& key, std::optional<KeyId> id);
  // Refuses a key that has this shape of `node` for what another one has given it, unless it was told so before. False
  // when nothing is wrong.
  bool RefuseForQuarrel(NodeId node, const RegisterKeys::Key& key);
  // Says who differs from most of those that have given the key a shape, if anybody does. `first`: who gave it the one
  // that it has.
  std::string DescribeOutliers(const ShapeClaims& claims, NodeId first) const;
  std::string NamesOf(const std::vector<NodeId>& nodes) const;
  // Refuses a key without elements that no node has given any.
  void RefuseEmpty(NodeId node, const RegisterKeys::Key& key);
  // Refuses another shape of a key that exists.
  void RefuseShape(NodeId node, const RegisterKeys::Key& key, KeyId id, const RoundBook& rounds);
  void NoteGiver(KeyId id, NodeId node);
  KeyId Last() const { return KeyId(static_cast<uint32_t>(table_.version().value())); }

  const JobState* job_;
  JobMembers* members_;
  SchedulerContext* context_;
  KeyTable table_;
  // Who has given a key its shape since the start of the scheduler, the first one first.
  std::map<KeyId, std::vector<NodeId>> givers_;
  std::map<std::string, Quarrel> quarrels_;  // by key's name; kMaxWaitingKeys at most
  WaitingKeys waiting_;
  std::vector<std::pair<NodeId, KeyRefused>> refused_;  // in this step; to all without a node
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_KEY_REGISTRAR_H_
