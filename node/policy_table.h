// What the scheduler has told this node: the key table, its slices of the policies, and which policy governs which
// rounds. Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_POLICY_TABLE_H_
#define BANYAN_NODE_POLICY_TABLE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"
#include "protocol/round_leases.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class PolicyTable {
 public:
  static constexpr size_t kMostPolicies = 64;
  // Leases of one key that are kept at once: more than the rounds that a scheduler lets be open with the shortest
  // leases and the most rounds in flight.
  static constexpr size_t kMostBindingsPerKey = 4096;
  // The next lease is asked for when this part of one is used up: what is left carries rounds on meanwhile.
  static constexpr uint64_t kAskedInParts = 3;

  // What a (key, round) is run under. Shared, since a round that is closed everywhere is looked at until the next one
  // opens, and its policy may have been retired by then.
  struct Binding {
    std::shared_ptr<const PolicySlice> slice;
    std::shared_ptr<const ChunkAssignment> chunks;
    Attempt attempt;
    KeyRoutes route = {};

    // REQUIRES: the chunk of the key exists.
    PrecisionRoute RouteOf(KeyId key, ChunkIndex chunk) const { return route.Of(chunks->SliceOf(key, chunk)); }
  };

  // Rows that are known already are skipped. INVALID_ARGUMENT when rows are missing in between or contradict known
  // ones.
  absl::Status AddKeys(const std::vector<KeySlice>& keys);
  // ALREADY_EXISTS for a version that is known. Of more than kMostPolicies the oldest that governs no round is
  // forgotten; RESOURCE_EXHAUSTED when all do.
  absl::Status AddSlice(const PolicySlice& slice);
  // Takes a binding, which may tell more of one that is known. INVALID_ARGUMENT when it names an unknown policy or
  // contradicts an earlier one, or no tensor can be cut so. RESOURCE_EXHAUSTED when
  // the key has kMostBindingsPerKey already.
  absl::Status AddBinding(const PolicyAnswer::Binding& binding);
  // Binds the rounds of a plan to its policy, in chunks as their first attempts had them. INVALID_ARGUMENT when that
  // policy is unknown or no tensor can be cut so.
  absl::Status AddPlan(const EpochPlan& plan);
  // Forgets what governs the key from round `from` on. True if that was anything.
  bool EndLeases(KeyId key, Round from) {
    return !leases_.TakeFrom(key, from, [](const RoundLeases::Lease&) { return true; }).empty();
  }
  // No round is bound any more: the epoch is over.
  void DropBindings();

  const KeySlice* FindKey(KeyId key) const;
  const KeySlice* FindKey(absl::string_view name) const;
  // All rows, by id.
  const std::map<KeyId, KeySlice>& keys() const { return keys_; }
  // Calls `visit` with each of these keys that has a row.
  void ForEachKey(const KeyRun& keys, absl::FunctionRef<void(KeyId)> visit) const;
  // The newest slice; null before the first.
  const PolicySlice* newest_slice() const;
  // What the newest slice says of the link to a neighbour; 1 where it says nothing.
  double BudgetShareOf(NodeId neighbour) const;
  std::optional<Binding> FindBinding(KeyId key, Round round) const;
  // Returns the round whose policy is to be asked for when this one is wanted: itself, unless its policy is known, or
  // the one after its lease when a good part of that is used up.
  std::optional<Round> FirstUnknown(KeyId key, Round round) const;
  // No round of the job runs under a policy below `oldest`: forgets those that govern no round here, and the others as
  // soon as their rounds are forgotten. The newest policy stays.
  void Retire(PolicyVersion oldest);
  size_t policies() const { return policies_.size(); }
  // Rounds of the key up to and including this one will not be asked for again.
  void Forget(KeyId key, Round through);

  // The whole way from here to a tree neighbour: over its route, or the direct link.
  static std::vector<NodeId> PathTo(const PolicySlice& slice, NodeId self, NodeId destination);

 private:
  struct Known {
    PolicySlice slice;
    std::map<int64_t, ChunkAssignment> chunks;  // by chunk_max_elements
  };
  // Makes the assignment of all keys in chunks of that size, unless `known` has it.
  absl::Status Cut(Known& known, int64_t chunk_max_elements) const;
  absl::Status Bind(KeyId key, Round first, RoundLeases::Lease lease);
  void DropRetired();

  std::map<KeyId, KeySlice> keys_;
  std::map<std::string, KeyId, std::less<>> by_name_;
  std::map<PolicyVersion, std::shared_ptr<Known>> policies_;
  PolicyVersion oldest_;  // that is not retired
  RoundLeases leases_;
};

// Checks whether node `self` can work with a slice that it has been given. The wire has checked each field; this checks
// that they make sense together, so that nothing later runs into a tree edge that leads nowhere. INVALID_ARGUMENT names
// the tree or route at fault:
//  - a tree in which `self` has no parent and is not the root;
//  - a tree neighbour whose way does not begin at `self` and go on to a neighbour;
//  - a neighbour that is `self` or comes twice.
absl::Status CheckSlice(const PolicySlice& slice, NodeId self);

}  // namespace banyan

#endif  // BANYAN_NODE_POLICY_TABLE_H_
