// Which policy governs which round of which key: the table that answers topology requests (NETSTORM, section VII-A: the
// first request fixes the answer for all). A binding may cover several rounds, the lease. Rounds that are closed
// everywhere are forgotten, so the table holds open rounds only. Thread-compatible; owned by RoundBook.
#ifndef BANYAN_SCHEDULER_BINDINGS_H_
#define BANYAN_SCHEDULER_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "proto/chunk_message.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class Bindings {
 public:
  using Binding = PolicyAnswer::Binding;

  struct KindClash {
    NodeId earlier_node;
    RoundKind earlier_kind;
  };

  // REQUIRES: lease_rounds >= 1.
  explicit Bindings(uint32_t lease_rounds) : lease_rounds_(lease_rounds) {}

  std::optional<Binding> Find(KeyId key, Round round) const;
  // Remembers what the first asker wants of the round; what another one said earlier if it was something else.
  std::optional<KindClash> NoteKind(KeyId key, Round round, RoundKind kind, NodeId node);
  // Binds the round and as many after it as the lease covers: none for round 0 and broadcasts, and never a bound one.
  // REQUIRES: the round is not bound.
  Binding Bind(KeyId key, Round round, RoundKind kind, PolicyVersion policy);
  // Puts back what was read from the state records. False when it overlaps another binding or its rounds are in
  // disorder.
  bool Restore(const Binding& binding);
  // The round is closed everywhere.
  void Forget(KeyId key, Round round);

  // The oldest policy that governs a round of the table; empty for an empty table.
  std::optional<PolicyVersion> OldestPolicy() const;

  // Leases in the table.
  size_t size() const { return size_; }

 private:
  struct Lease {
    Round last;
    PolicyVersion policy;
    Attempt attempt;
    uint64_t open_rounds = 0;
  };
  struct FirstAsker {
    RoundKind kind;
    NodeId node;
  };
  struct KeyBindings {
    std::map<Round, Lease> leases;  // by first round
    std::map<Round, FirstAsker> kinds;
  };
  using Leases = std::map<Round, Lease>;

  static Leases::const_iterator Covering(const Leases& leases, Round round);

  uint32_t lease_rounds_;
  std::map<KeyId, KeyBindings> keys_;
  std::map<PolicyVersion, size_t> leases_of_;  // how many leases name each policy, above 0
  size_t size_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_BINDINGS_H_
