// What a node tells the scheduler of its rounds: how far they are, and what they take of its memory. Pure functions.
#ifndef BANYAN_NODE_ROUNDS_ROUND_REPORTS_H_
#define BANYAN_NODE_ROUNDS_ROUND_REPORTS_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "node/rounds/abstention.h"
#include "node/rounds/key_rounds.h"
#include "node/rounds/tensor_memory.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"

namespace banyan {

// A key at this node.
struct KeyState {
  TensorMemory memory;
  KeyRounds rounds;
  Abstention abstention = {};
  // It abstains from no further round for now: all members wait, so that the replica comes after a known round.
  bool is_held = false;
  // The parameters after the round with which they came from another member, until the next one is complete.
  std::optional<std::pair<Round, Buffer>> fetched = {};
};
using KeyStates = std::map<KeyId, KeyState>;

// Returns whether the node abstains from a key, or from a round that is not complete here.
bool IsAbstaining(const KeyStates& keys);
// Returns whether the node has values of a broadcast that is not complete here.
bool HasBroadcastValues(const KeyStates& keys);
// Returns whether every round that the node took part in is closed everywhere.
bool IsIdle(const KeyStates& keys);

// Returns how far this node is with each key of the table for which `counts` is true, in runs.
std::vector<EpochReport::Progress> ProgressOf(const KeyStates& keys, const std::map<KeyId, KeySlice>& table,
                                              absl::FunctionRef<bool(KeyId)> counts);
// Returns the rounds that are complete here and not closed everywhere.
std::vector<RoundsClosed::Entry> CompleteRoundsOf(const KeyStates& keys);
// Returns the memory that tensors and their rounds take, by what it is for.
std::vector<NodeReport::Memory> MemoryOf(const KeyStates& keys);

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ROUND_REPORTS_H_
