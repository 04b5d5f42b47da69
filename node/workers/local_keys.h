// The keys that this node's workers have initialised: their shapes and ids, each worker's Init, and the rounds that are
// open here. Thread-compatible; owned by LocalWorkers.
//
// Invariants:
// - A key has an id from the time that the scheduler's row for it has come, and, where its initial values are not
// agreed
//   yet, that was an answer to this node: the row alone does not tell that others gave the key other shapes.
// - It takes part in rounds from the time that it has an id and every worker that this node waits for has called Init.
//   Where its rounds go on without this node already, one worker is enough.
// - A LocalKey stays where it is until Remove, which only takes keys that take part in nothing.
#ifndef BANYAN_NODE_WORKERS_LOCAL_KEYS_H_
#define BANYAN_NODE_WORKERS_LOCAL_KEYS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/buffer.h"
#include "core/data_type.h"
#include "core/ids.h"
#include "core/tensor_layout.h"
#include "core/time.h"
#include "node/policy_table.h"
#include "node/rounds/abstention.h"
#include "proto/chunk_message.h"
#include "proto/job_config.h"
#include "proto/scheduler_messages.h"
#include "protocol/worker_call.h"

namespace banyan {

// The results of one key that a late worker has not been given: what its next call gets. Results that are updates are
// summed; of results that are the values themselves the last one counts. Thread-compatible; owned by LocalKey.
//
// Invariants:
// - Each result is given once, alone or in a sum, and no later than those after it. So what a worker was given up to a
//   call adds up to the results of all rounds that were complete then.
// - One tensor of memory at most, however many rounds were missed. Of one round it is shared with whoever holds it.
class MissedResults {
 public:
  using Parts = std::vector<std::pair<int64_t, Buffer>>;  // with their first elements
  using Sink = absl::FunctionRef<void(int64_t first_element, const Buffer& values)>;

  // The worker has the results of rounds up to `given`.
  explicit MissedResults(Round given) : through_(given) {}

  // The last round of which nothing more comes: its result was given, or is here.
  Round through() const { return through_; }
  bool is_given() const { return is_given_; }
  // Takes the result of `round`, of a tensor of `elements`. One that `replaces` is no update, but the values.
  void Add(Round round, Parts result, int64_t elements, bool replaces);
  // Gives all that is here to `sink`, zeros of `type` where nothing is new. The same again until there is more.
  void Give(int64_t elements, DataType type, Sink sink);
  // The worker has pushed another round: what was given is over, but for values that still hold.
  void OnPushed(bool replaces);

  int64_t size_bytes() const;

 private:
  Round through_;
  bool is_given_ = false;
  Parts parts_;
};

// A call of a worker that waits for its answer.
struct WaitingCall {
  WorkerId worker;
  RequestId request;
  friend bool operator==(const WaitingCall&, const WaitingCall&) = default;
};

// One round of a key, as this node's workers see it.
struct LocalRound {
  RoundKind kind = RoundKind::kAggregate;
  int32_t priority = 0;
  Timestamp since;  // its first worker came
  uint32_t pushed = 0;
  uint32_t left_out = 0;           // of them: pushed, but without a part in the sum
  uint32_t late = 0;               // not of them: the round is contributed without waiting for them
  uint32_t caught_up = 0;          // late gradients of earlier rounds that are in the sum
  std::vector<Buffer> gradients;   // by worker, until they are summed
  std::vector<bool> in_sum;        // by worker: has a part in what was contributed
  std::vector<Buffer> taken_back;  // those parts, while they wait for more
  std::vector<bool> has_pushed;    // by worker; empty for a round that no worker here pushes
  std::vector<bool> asked;         // by worker: one of its calls waits, or has waited, for the result
  std::vector<WaitingCall> waiting;
  bool contributed = false;
  bool is_timed = false;  // as what the workers wait for
  bool complete = false;

  // Begins to contribute what was pushed, by some of these `workers`, and returns those parts of the sum that have
  // values.
  std::vector<Buffer> TakeParts(uint32_t workers);
  // The number of gradients in what is contributed, by which means divide.
  uint32_t Weight() const { return kind == RoundKind::kBroadcast ? 1 : pushed - left_out + caught_up; }
  // Takes back what was contributed, until more has been pushed.
  void TakeBack(std::vector<Buffer> values);
  // True if the worker has pushed the round.
  bool HasPart(WorkerId worker) const { return !has_pushed.empty() && has_pushed[worker.value()]; }
};

struct LocalKey {
  // Stands for the last push of a worker that does not have the training state, or fetches it: no round waits for it.
  static constexpr Round kFetching = Round(UINT64_MAX);
  static constexpr Round kNoLimit = Abstention::kNoLimit;

  std::string name;
  int64_t elements = 0;
  TensorLayout layout;
  uint64_t layout_hash = 0;
  KeyId key;                        // 0 until the scheduler has assigned it
  bool is_asked = false;            // of the scheduler, which has not answered
  bool takes_part = false;          // in rounds: workers may push
  std::vector<Buffer> init_values;  // by worker, until its Init is done
  std::vector<WaitingCall> init_requests;
  Timestamp init_since;             // the first of them came
  std::vector<bool> has_init;       // by worker that is attached
  std::vector<Round> last_push;     // by worker; at first the round after which it begins
  std::vector<Round> late_through;  // by worker: up to here this node did not wait for what it has not pushed; or 0
  Buffer owed;                      // the sum of what late workers have pushed and no contribution has; may be empty
  uint32_t owed_gradients = 0;      // in that sum
  std::map<uint32_t, MissedResults> missed;  // by worker that is late, or was until its last call
  Round quorum;                              // up to here a quorum of the job has pushed the key
  Timestamp quorum_since;                    // of the first of these rounds that is not contributed
  std::vector<Timestamp> left_out_since;     // by worker: the quorum of the first round that it missed and owes; or 0
  Timestamp completed_at;                    // last_complete was
  Round next_contribution;                   // the first round into which this node has put nothing yet
  Round last_complete;
  // From here on rounds wait for workers that fetch and are to begin with this one.
  Round waits_from = kNoLimit;
  std::map<Round, LocalRound> rounds;

  bool HasShapeOf(const KeySlice& row) const {
    return row.elements == elements && row.layout == layout_hash && row.type == layout.type;
  }
  bool HasShapeOf(const WorkerInit& call) const { return call.values.elements() == elements && call.layout == layout; }
  DataType sum_type() const { return SumTypeOf(layout.type); }
  // Whether an optimizer of the job, if it has one, steps this key.
  bool CanBeStepped() const { return !IsExact(layout.type); }
  // INVALID_ARGUMENT unless `values` of `worker` have the key's type and size.
  absl::Status CheckShape(WorkerId worker, const Buffer& values) const;
  // The same of a part of a round; also where the job's `op` is nothing that the key's type has.
  absl::Status CheckPart(WorkerId worker, const Buffer& values, RoundKind kind, AggregationOp op) const;
  uint32_t initialised() const;
  // True if some worker takes part, now that none is waited for that fetches.
  bool HasTakers() const;
  // The first round that a worker is still to push.
  Round FirstAwaited() const;
  // The last round for which nothing waits for the worker any more: it has pushed it, or was late.
  Round PositionOf(size_t worker) const { return std::max(last_push[worker], late_through[worker]); }
  // Forgets that the worker was late, and the results that it has missed.
  void ForgetLate(uint32_t worker) {
    late_through[worker] = Round(0);
    left_out_since[worker] = Timestamp();
    missed.erase(worker);
  }
  // True if some worker fetches.
  bool HasFetching() const;
  // True if workers have pushed the round, and all that take part in it have.
  bool IsWhole(Round round) const;
  // Forgets a worker that has gone, with its pushes into rounds that are not contributed unless it `keeps_pushes`.
  // Returns its calls that wait.
  std::vector<RequestId> DropWorker(WorkerId worker, bool keeps_pushes);
  // Opens the round unless a worker has opened it before. `workers`: of this node.
  LocalRound& OpenRound(Round round, RoundKind kind, uint32_t workers);
  // Forgets complete rounds that every worker has left behind.
  void DropOldRounds();
};

class LocalKeys {
 public:
  struct Assigned {
    std::vector<std::string> answered;  // their rows have come
    std::vector<LocalKey*> ready;       // all workers that are waited for have called Init
  };

  // `policy_table` outlives this.
  LocalKeys(uint32_t workers, const PolicyTable* policy_table) : workers_(workers), policy_table_(policy_table) {}

  // INVALID_ARGUMENT for a bad name, no values, or another shape than another worker gave; ALREADY_EXISTS when the
  // worker has initialised the key before. Another shape than the job's is for the scheduler to refuse, which tells
  // all.
  absl::Status CheckInit(const WorkerInit& call) const;
  // Returns whether a key may have this name.
  static bool IsName(const std::string& name);
  // Takes the worker's part of an Init; the first one makes the key. REQUIRES: CheckInit is OK.
  LocalKey& TakeInit(Timestamp now, WorkerInit& call);
  bool HasInit(const std::string& name, WorkerId worker) const;
  // Looks up the rows of those of these keys that take no part yet, and gives them their ids. Looks at no other key,
  // and at none whose row has another shape. This node waits for the workers for which `is_awaited` is true.
  Assigned Assign(const std::vector<std::string>& names, absl::FunctionRef<bool(WorkerId)> is_awaited);
  // Forgets a key and returns the requests of its Init, unless it takes part in rounds.
  std::vector<RequestId> Remove(const std::string& name);
  // Forgets values and rounds, which nobody needs after the end of the job. Names and round numbers stay.
  void DropRounds();

  // Null for a key without an id.
  LocalKey* Find(KeyId key);
  const LocalKey* Find(KeyId key) const;
  LocalKey* Find(const std::string& name);
  const LocalKey* Find(const std::string& name) const;
  // FAILED_PRECONDITION before the worker takes part in the key's rounds. Never null.
  absl::StatusOr<LocalKey*> FindInitialised(KeyId key, WorkerId worker);
  std::map<std::string, LocalKey>& by_name() { return by_name_; }
  const std::map<std::string, LocalKey>& by_name() const { return by_name_; }

  // Returns the memory that this node shares with its workers. Each tensor and worker has a gradient slot per open
  // round and one to fill meanwhile, and a result slot per open round.
  int64_t SegmentBytes(uint32_t rounds_in_flight) const;
  // The last rounds that are complete here and that a worker has pushed, by key.
  std::vector<NodeReport::KeyProgress> Progress() const;

 private:
  const uint32_t workers_;
  const PolicyTable* const policy_table_;
  std::map<std::string, LocalKey> by_name_;
  std::map<KeyId, LocalKey*> by_key_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_LOCAL_KEYS_H_
