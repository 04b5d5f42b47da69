// The keys that this node's workers have initialised: their shapes and ids, each worker's Init, and the rounds that are
// open here. Thread-compatible; owned by WorkerDesk.
//
// Invariants:
// - A key has an id from the time that the scheduler's row for it has come.
// - Its Init is contributed once, when it has an id and every worker of this node has called Init.
// - A LocalKey stays where it is until Remove, which only takes keys whose Init is not contributed.
#ifndef BANYAN_NODE_WORKERS_LOCAL_KEYS_H_
#define BANYAN_NODE_WORKERS_LOCAL_KEYS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/policy_book.h"
#include "proto/chunk_message.h"
#include "proto/scheduler_messages.h"
#include "protocol/worker_call.h"

namespace banyan {

// One round of a key, as this node's workers see it.
struct LocalRound {
  RoundKind kind = RoundKind::kAggregate;
  int32_t priority = 0;
  uint32_t pushed = 0;
  std::vector<Buffer> gradients;  // by worker, until they are summed
  std::vector<bool> has_pushed;   // by worker; empty for round 0
  std::vector<bool> asked;        // by worker: one of its calls waits, or has waited, for the result
  std::vector<RequestId> waiting;
  bool contributed = false;
  bool complete = false;
};

struct LocalKey {
  std::string name;
  int64_t elements = 0;
  KeyId key;  // 0 until the scheduler has assigned it
  uint32_t initialised = 0;
  bool init_contributed = false;
  std::vector<Buffer> init_values;  // by worker
  std::vector<RequestId> init_requests;
  std::vector<bool> has_init;    // by worker
  std::vector<Round> last_push;  // by worker
  Round last_complete;
  std::map<Round, LocalRound> rounds;

  // INVALID_ARGUMENT unless `values` of `worker` have the key's type and size.
  absl::Status CheckShape(WorkerId worker, const Buffer& values) const;
  // Opens the round unless a worker has opened it before. `workers`: of this node.
  LocalRound& OpenRound(Round round, RoundKind kind, uint32_t workers);
  // Forgets complete rounds that every worker has left behind.
  void DropOldRounds();
};

class LocalKeys {
 public:
  struct Refused {
    std::string name;
    std::string reason;
  };
  struct Assigned {
    std::vector<std::string> answered;  // their rows have come
    std::vector<LocalKey*> ready;       // their Init can be contributed
    std::vector<Refused> refused;       // the job's key has another shape
  };

  // `book` outlives this.
  LocalKeys(uint32_t workers, const PolicyBook* book) : workers_(workers), book_(book) {}

  // INVALID_ARGUMENT for a bad name, no values, or another shape than the key has here or in the job; ALREADY_EXISTS
  // when the worker has initialised the key before.
  absl::Status CheckInit(const WorkerInit& call) const;
  // Takes the worker's part of an Init; the first one makes the key. REQUIRES: CheckInit is OK.
  LocalKey& TakeInit(WorkerInit& call);
  bool HasInit(const std::string& name, WorkerId worker) const;
  // Looks up the rows of those of these keys whose Init is not contributed, and gives them their ids. Looks at no other
  // key.
  Assigned Assign(const std::vector<std::string>& names);
  // Forgets a key and returns the requests of its Init, unless that is contributed.
  std::vector<RequestId> Remove(const std::string& name);
  // Forgets values and rounds, which nobody needs after the end of the job. Names and round numbers stay.
  void DropRounds();

  // Null for a key without an id.
  LocalKey* Find(KeyId key);
  // FAILED_PRECONDITION before the key's Init is contributed. Never null.
  absl::StatusOr<LocalKey*> FindInitialised(KeyId key);
  const std::map<std::string, LocalKey>& by_name() const { return by_name_; }

  // The elements of all keys, counted once for each worker that has initialised them.
  int64_t initialised_elements() const;
  // The last rounds that are complete here and that a worker has pushed, by key.
  std::vector<NodeReport::KeyProgress> Progress() const;

 private:
  const uint32_t workers_;
  const PolicyBook* const book_;
  std::map<std::string, LocalKey> by_name_;
  std::map<KeyId, LocalKey*> by_key_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_KEYS_H_
