// The node's connections to the schedulers of its job, of which one leads at a time: which of them to speak on. Those
// that stand by do not listen, so that a connection which comes up leads to a new leader. Thread-compatible; owned by
// SchedulerClient.
//
// Invariants:
// - There is a connection for each address, for good; at most one is in use, and it is up. A scheduler may name more
//   addresses, up to kMostSchedulers in all.
// - The one in use is that which came up last, until it ends or its scheduler falls silent.
#ifndef BANYAN_NODE_SCHEDULER_CONNECTIONS_H_
#define BANYAN_NODE_SCHEDULER_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "node/step_context.h"
#include "proto/job_config.h"

namespace banyan {

// The first of the schedulers; those of the others follow.
inline constexpr ConnectionId kSchedulerConnection = ConnectionId(1);
inline constexpr size_t kMostSchedulers = kMaxSchedulers;

class SchedulerConnections {
 public:
  // REQUIRES: 1 to kMostSchedulers addresses.
  explicit SchedulerConnections(std::vector<std::string> addresses);

  size_t count() const { return addresses_.size(); }
  // Opens all of them.
  void Start(StepContext& step) const;
  // Opens connections to those of the addresses that are new. Returns these.
  std::vector<std::string> Learn(StepContext& step, const std::vector<std::string>& addresses);
  const std::vector<std::string>& addresses() const { return addresses_; }
  bool Has(ConnectionId connection) const { return IndexOf(connection) < addresses_.size(); }
  bool IsInUse(ConnectionId connection) const { return in_use_.has_value() && *in_use_ == IndexOf(connection); }

  // Uses the connection, which has come up.
  void OnUp(ConnectionId connection);
  // The connection has ended. Returns whether another one takes its place.
  bool OnDown(ConnectionId connection);
  // Nothing was heard on the one in use for long. Returns whether another one takes its place.
  bool OnSilence();
  // Returns whether the one in use was silent when it was in use before, and was not made anew since.
  bool IsDoubtful() const { return in_use_.has_value() && was_silent_[*in_use_]; }

  // Returns the connection in use; empty when none is up.
  std::optional<ConnectionId> in_use() const;
  // REQUIRES: Has(connection).
  const std::string& AddressOf(ConnectionId connection) const { return addresses_[IndexOf(connection)]; }
  // Returns the address of the scheduler in use, or those of all, for messages.
  std::string address() const;

 private:
  void Open(StepContext& step, size_t index) const;
  size_t IndexOf(ConnectionId connection) const { return connection.value() - kSchedulerConnection.value(); }
  // Uses the first that is up after the one at `index`, in a circle; none when there is none.
  void UseNextAfter(size_t index);

  std::vector<std::string> addresses_;
  std::vector<bool> is_up_;       // by index of the address
  std::vector<bool> was_silent_;  // likewise, since it came up
  std::optional<size_t> in_use_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_SCHEDULER_CONNECTIONS_H_
