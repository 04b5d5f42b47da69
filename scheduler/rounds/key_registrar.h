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
#include <tuple>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"

namespace banyan {

// Which nodes give one key which shape, when they differ: says who differs from most others. Thread-compatible; owned
// by KeyRegistrar.
class ShapeClaims {
 public:
  // The nodes whose shape is that of more than half of at least three, and the others.
  struct Sides {
    std::vector<NodeId> most;
    std::vector<NodeId> outliers;
  };

  // Notes what the node gave last.
  void Note(NodeId node, const TensorShape& shape) { claims_[node] = {shape.elements, shape.layout.Hash()}; }
  bool Has(NodeId node) const { return claims_.count(node) > 0; }
  // Returns both sides; empty without a majority, or when all agree.
  Sides Judge() const {
    std::map<Claim, std::vector<NodeId>> by_claim;
    for (const auto& [node, claim] : claims_) by_claim[claim].push_back(node);
    Sides sides;
    for (const auto& [claim, nodes] : by_claim) {
      if (claims_.size() >= 3 && 2 * nodes.size() > claims_.size()) sides.most = nodes;
    }
    for (const auto& [claim, nodes] : by_claim) {
      if (!sides.most.empty() && nodes != sides.most) {
        sides.outliers.insert(sides.outliers.end(), nodes.begin(), nodes.end());
      }
    }
    if (sides.outliers.empty()) sides.most.clear();
    return sides;
  }

 private:
  using Claim = std::pair<int64_t, uint64_t>;  // elements, and the layout's hash

  std::map<NodeId, Claim> claims_;
};

// Nodes in order of arrival, each once. Thread-compatible; owned by KeyRegistrar.
class ArrivedNodes {
 public:
  // Returns whether the node is new.
  bool Add(NodeId node) {
    if (Has(node)) return false;
    if (is_here_.size() <= node.value()) is_here_.resize(node.value() + 1);
    is_here_[node.value()] = true;
    in_order_.push_back(node);
    return true;
  }
  // Returns whether the node was there.
  bool Drop(NodeId node) {
    if (!Has(node)) return false;
    is_here_[node.value()] = false;
    std::erase(in_order_, node);
    return true;
  }
  bool Has(NodeId node) const { return node.value() < is_here_.size() && is_here_[node.value()]; }
  const std::vector<NodeId>& in_order() const { return in_order_; }

 private:
  std::vector<NodeId> in_order_;
  std::vector<bool> is_here_;  // by id
};

// Keys that nodes have asked for before the job has started, in order of arrival. Thread-compatible; owned by
// KeyRegistrar.
//
// Invariants:
// - Its work grows with the keys that a node asks for, and not with what others wait for: all nodes ask at one time.
class WaitingKeys {
 public:
  struct Entry {
    RegisterKeys::Key key;
    ArrivedNodes nodes;  // that have asked for it
  };

  // Adds a key, once per node and key. False at kMaxWaitingKeys, kMaxWaitingAskers and kMaxWaitingTensors.
  bool Add(NodeId node, const RegisterKeys::Key& key);
  // Drops the keys of a node that is gone: the next start of it may have other keys.
  void Drop(NodeId node);
  std::vector<Entry> TakeAll();

  // Returns how many keys wait, one that nodes give several shapes as often.
  size_t size() const { return entries_.size(); }

 private:
  using Shape = std::tuple<std::string, int64_t, uint64_t>;  // name, elements and the layout's hash
  static Shape ShapeOf(const RegisterKeys::Key& key) { return {key.name, key.elements, key.layout.Hash()}; }

  std::map<uint64_t, Entry> entries_;  // by order of arrival
  std::map<Shape, uint64_t> index_;    // of entries_
  std::map<NodeId, size_t> asked_;     // how many entries each node is in
  uint64_t next_entry_ = 0;
  size_t askers_ = 0;  // of all entries together
  size_t grouped_tensors_ = 0;
};

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
  bool Register(NodeId node, const Keys& keys, const JobRounds& rounds);
  // Registers what waits for the start. True when the model has grown.
  bool RegisterWaiting(const JobRounds& rounds);
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
    std::map<NodeId, std::set<KeyId>> known;  // what each node has asked for that was known before
  };

  Batch NewBatch() const { return {{Last().Next(), {}}, {}}; }
  void Register(NodeId node, const RegisterKeys::Key& key, const JobRounds& rounds, Batch& batch);
  // Makes it durable and tells it, and then what was refused. True when the model has grown.
  bool Announce(Batch batch);
  // Tells a node these rows of the table.
  void SendRows(NodeId node, std::vector<KeySlice> rows);
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
  void RefuseShape(NodeId node, const RegisterKeys::Key& key, KeyId id, const JobRounds& rounds);
  KeyId Last() const { return KeyId(static_cast<uint32_t>(table_.version().value())); }

  const JobState* job_;
  JobMembers* members_;
  SchedulerContext* context_;
  KeyTable table_;
  std::map<KeyId, ArrivedNodes> givers_;     // who has given a key its shape since the start of the scheduler
  std::map<std::string, Quarrel> quarrels_;  // by key's name; kMaxWaitingKeys at most
  WaitingKeys waiting_;
  std::vector<std::pair<NodeId, KeyRefused>> refused_;  // in this step; to all without a node
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_KEY_REGISTRAR_H_
