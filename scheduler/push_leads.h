// Finds workers that run ahead with one of their keys: with the same rounds of their other keys they push a later round
// of it than workers of other nodes do. So it is, for good and in silence, when a key was pushed twice in one step.
// Reads what nodes report. Thread-compatible; owned by PushOrder.
#ifndef BANYAN_SCHEDULER_PUSH_LEADS_H_
#define BANYAN_SCHEDULER_PUSH_LEADS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/rounds/key_table.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PUSH_LEADS_H_
