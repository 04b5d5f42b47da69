// The rounds of the job: answers topology requests, hears that rounds are closed, and makes a key that runs too far
// ahead wait. It changes no state that a message could reveal without telling the caller what to make durable first.
// Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_ROUND_BOOK_H_
#define BANYAN_SCHEDULER_ROUND_BOOK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/bindings.h"
#include "scheduler/key_table.h"
#include "scheduler/round_closer.h"

namespace banyan {

// What a request or a report leads to. A failure ends the job; the rest counts only without one.
struct RoundOutcome {
  struct Answer {
    NodeId node;
    std::vector<PolicyAnswer::Binding> bindings;
  };
  std::vector<PolicyAnswer::Binding> new_bindings;     // to make durable before the answers leave
  std::vector<Answer> answers;                         // one per node at most
  std::vector<ClosedEverywhere::Entry> closed;         // now; for every member
  std::vector<ClosedEverywhere::Entry> closed_before;  // for the asker alone, who seems not to know
  std::vector<std::string> rejections;                 // what was wrong with entries of the message
  absl::Status failure;
};

class RoundBook {
 public:
  // `keys` must outlive this; `node_names`, by NodeId - 1, are for messages. REQUIRES: lease_rounds >= 1,
  // rounds_in_flight >= 1.
  RoundBook(const KeyTable* keys, std::vector<std::string> node_names, uint32_t lease_rounds,
            uint32_t rounds_in_flight);

  // From now on rounds are bound to this policy. The first round of a key that is bound to it is the first that it
  // governs.
  void UsePolicy(PolicyVersion policy, size_t member_count);
  // A member has left: nothing new is bound any more. Requests for it stay without an answer, since nodes ask ahead of
  // time, too.
  void SetDeparted() { has_departed_ = true; }

  // Binds what is not bound yet. Fails the job with INVALID_ARGUMENT when two nodes want different kinds of the same
  // round.
  RoundOutcome Request(NodeId node, const PolicyRequest& request);
  // Unequal hashes fail the job with DATA_LOSS.
  RoundOutcome Report(NodeId node, const RoundsClosed& report);

  // State records read back. False when they contradict each other.
  bool RestoreBinding(const PolicyAnswer::Binding& binding) { return bindings_.Restore(binding); }
  bool RestoreClosed(const ClosedEverywhere::Entry& entry);

  // The oldest policy that governs a round that is not closed everywhere; the one in use if there is none.
  PolicyVersion OldestPolicy() const { return std::min(bindings_.OldestPolicy().value_or(policy_), policy_); }
  bool IsBound(KeyId key, Round round) const { return bindings_.Find(key, round).has_value(); }
  Round FirstOpen(KeyId key) const { return closer_.FirstOpen(key); }
  std::string Describe(KeyId key, Round round) const;

  size_t bindings() const { return bindings_.size(); }
  size_t parked() const { return parked_.size(); }
  size_t open_tallies() const { return closer_.open_tallies(); }

 private:
  // By key, round and node, so that answers come in that order.
  struct ParkedId {
    KeyId key;
    Round round;
    NodeId node;
    friend auto operator<=>(const ParkedId&, const ParkedId&) = default;
  };

  void RequestOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  void Park(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  void AnswerOne(NodeId node, const PolicyRequest::Entry& entry, RoundOutcome& outcome);
  void ReportOne(NodeId node, const RoundsClosed::Entry& entry, RoundOutcome& outcome);
  void Unpark(KeyId key, RoundOutcome& outcome);
  const std::string& NameOf(NodeId node) const;
  bool InWindow(KeyId key, Round round) const;

  const KeyTable* keys_;
  std::vector<std::string> node_names_;
  PolicyVersion policy_;
  size_t member_count_ = 0;
  bool has_departed_ = false;
  uint64_t window_rounds_;
  Bindings bindings_;
  RoundCloser closer_;
  std::map<ParkedId, RoundKind> parked_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUND_BOOK_H_
