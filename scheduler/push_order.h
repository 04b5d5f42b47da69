// Finds nodes that do not push the same keys equally often, or in another order, so that each waits for the other or
// rounds go together that do not belong together. Reads what nodes report. Thread-compatible; owned by the core.
//
// Invariants:
// - It looks at all keys only while no round is closed, once a second at most.
#ifndef BANYAN_SCHEDULER_PUSH_ORDER_H_
#define BANYAN_SCHEDULER_PUSH_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"

namespace banyan {

// Finds workers that run ahead with one of their keys: with the same rounds of their other keys they push a later round
// of it than workers of other nodes do. So it is, for good and in silence, when a key was pushed twice in one step.
// Reads what nodes report. Thread-compatible; owned by PushOrder.
class PushLeads {
 public:
  // Two nodes are compared where both have pushed so many rounds alike.
  static constexpr uint64_t kLeastRounds = 8;

  // All outlive this.
  PushLeads(const Membership* membership, const NodeReports* reports, const KeyTable* keys)
      : membership_(membership), reports_(reports), keys_(keys) {}

  // Takes a node's report, which is kept already. Whichever of two comes last, they are compared.
  void OnReport(NodeId node);
  // Forgets what a start of the node has reported.
  void Forget(NodeId node);
  // Names one worker that runs ahead, its key, and both rounds, while it does; empty when none does.
  const std::string& text() const { return text_; }

 private:
  // Returns the text for a worker that is ahead of most others with the key; empty for another one.
  std::string Compare(NodeId node, const NodeReport::Lag& row) const;
  // Compares the workers of all nodes that push the key.
  void LookAt(KeyId key);
  bool IsHere(NodeId node) const;
  // Returns how many nodes with workers there are beside `node`.
  size_t OthersHere(NodeId node) const;

  const Membership* membership_;
  const NodeReports* reports_;
  const KeyTable* keys_;
  std::map<KeyId, std::map<NodeId, NodeReport::Lag>> rows_;
  std::pair<NodeId, KeyId> leader_;
  std::string text_;
};

class PushOrder {
 public:
  // Everything outlives this.
  struct Sources {
    const Membership* membership;
    const NodeReports* reports;
    const KeyTable* keys;
    const JobRounds* rounds;
  };
  // Nodes that wait for one another count once nothing was closed for so long.
  static constexpr absl::Duration kStandstill = absl::Seconds(1);
  // Fewer training steps say nothing of how often a node pushes a key in one.
  static constexpr uint64_t kLeastSteps = 4;
  static constexpr uint64_t kSureFactor = 4;

  explicit PushOrder(Sources from) : from_(from), leads_(from.membership, from.reports, from.keys) {}

  // Takes a node's report, which is kept already; `last_progress` is when a round was closed last. Returns what is
  // wrong, once; empty when nothing new is.
  std::string OnReport(Timestamp now, Timestamp last_progress, NodeId node);
  // Forgets what a start of the node has reported.
  void Forget(NodeId node) {
    leads_.Forget(node);
    paces_.erase(node);
    pace_.clear();
  }
  // Says how nodes differ, while they do; empty when they do not.
  const std::string& disorder() const { return disorder_; }

 private:
  // What a node had pushed when it first reported a step, and how often it has pushed a key in a step since.
  struct Pace {
    uint64_t first_step = 0;
    std::map<KeyId, Round> first_pushed;
    // As it was when `steps` steps had passed; it counts once it is the same after kSureFactor times as many. What a
    // node has pushed jumps when it comes back and goes on with the others, which looks like 2 in a step for thrice.
    struct PerStep {
      uint64_t steps = 0;
      uint64_t rounds = 0;
      bool is_sure = false;
    };
    std::map<KeyId, PerStep> rounds_per_step;
  };

  std::string FindMutualWait() const;
  // Keys by whether the node has pushed their open round.
  struct Standing {
    std::vector<KeyId> waiting;  // it waits for others
    std::vector<KeyId> missing;  // others wait for it
  };
  Standing StandingOf(NodeId node, const std::map<KeyId, Round>& open) const;
  std::map<KeyId, Round> OpenKeys() const;
  std::string RoundText(KeyId key) const;
  // Returns a key that another node pushes more or less often in a step than this one.
  std::string ComparePace(NodeId node);
  // Takes how often a node pushes a key in a step.
  static void Learn(Pace::PerStep& known, uint64_t steps, uint64_t rounds);

  Sources from_;
  PushLeads leads_;
  Timestamp next_look_;
  std::map<NodeId, Pace> paces_;
  std::string mutual_;  // while nothing is closed
  std::string pace_;    // that a key is pushed more often in a step by some
  std::string disorder_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PUSH_ORDER_H_
