// A training process's access to Banyan: it attaches to its data centre's node, names its tensors once, and then pushes
// gradients and gets the aggregated results back. Installed as <banyan/session.h>.
//
//   absl::StatusOr<std::unique_ptr<banyan::Session>> session =
//       banyan::Session::Open({.node = "unix:/run/banyan/n1", .worker = 0});
//   (*session)->Init("fc1.weight", values, values);
//   banyan::Ticket ticket = (*session)->PushPull("fc1.weight", gradient, result, {.priority = 3});
//   absl::Status done = ticket.Wait(absl::Seconds(60));
//
// Each call starts an operation and gives its ticket. Errors that name the wrong use (an unknown key, another shape, an
// empty span) come with the ticket at once. When the node dies or the job fails, every waiting and later operation ends
// with UNAVAILABLE or the code that the job failed with. The error names the node, the key and the round. A node that
// has fallen out of its job joins it again, as the error says then: open another session.
//
// A call can be given a callback, which runs once when the operation is done, whether it succeeds, fails or is
// cancelled:
//
//   (*session)->PushPull("fc1.weight", gradient, result, {.on_done = [](const absl::Status& done) { ... }});
//
// Workers of one node must call Init, Push, Flush and Broadcast of a key equally often.
//
// A process that is forked after Open, such as a data loader, can use nothing of the session: every call and ticket
// ends with FAILED_PRECONDITION there, and destroying them changes nothing for the parent. It may open a session of its
// own.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_H_
#define BANYAN_RUNTIME_SESSION_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/tensor_view.h"

namespace banyan {

class Operation;
class SessionCore;
class SlotLease;

struct TrainingHealthReport {
  uint64_t step = 0;  // from 1
  double loss = 0;
  double progress = 0;                          // part of the run that is done, in [0, 1]; 0 where it is not known
  double learning_rate_fraction = 1;            // of the largest learning rate, in [0, 1]
  std::optional<double> metric = std::nullopt;  // such as accuracy on a holdout set; larger is better
};

// The nodes of a job that runs, and this worker's place among all of theirs.
struct JobNodes {
  struct Node {
    std::string name;
    uint32_t workers = 1;  // as overlay.yaml says
  };
  uint64_t epoch = 0;       // rises with each change
  std::vector<Node> nodes;  // in the order of overlay.yaml
  uint32_t rank = 0;        // among all workers, by node and worker
  uint32_t world_size = 0;  // all workers
};

struct SessionOptions {
  std::string node = {};  // the node's worker socket, unix:/path
  uint32_t worker = 0;    // from 0, different for each training process of the node
  // How long Open waits for the node to be there and to take the worker, which it does once it has joined the job. A
  // node that goes meanwhile is tried again. Giving up after the node was reached counts as the worker's death.
  absl::Duration open_timeout = absl::Seconds(60);
  // How long calls wait for what the node gives without waiting for anyone: memory for an Init, and room for a message.
  // One that takes longer counts as stopped: UNAVAILABLE.
  absl::Duration answer_timeout = absl::Seconds(30);
  // How long calls such as Push wait for room, which comes with the end of an earlier round of their key and so depends
  // on all workers. Then they end with DEADLINE_EXCEEDED, naming who is awaited, and nothing was started.
  absl::Duration room_timeout = absl::InfiniteDuration();
};

// Runs exactly once, after the operation is done and its result is in place; `status` is what its ticket's Wait gives.
// All callbacks of a session run one after another, in the order in which their operations ended. They run on a thread
// that the session has for them alone. No lock is held meanwhile. A callback may start further operations and wait for
// them, and destroy tickets; it must not destroy the session. A long one delays the others, but no operation.
using DoneCallback = std::function<void(const absl::Status& status)>;

struct CallOptions {
  DoneCallback on_done = {};
};

struct PushOptions {
  int32_t priority = 0;  // higher goes first where a link has a queue
  DoneCallback on_done = {};
};

// One operation under way. Movable; thread-compatible. It may outlive its session.
class Ticket {
 public:
  // A ticket of nothing: done, with an OK status.
  Ticket();
  explicit Ticket(std::shared_ptr<Operation> operation);
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  // Never waits for the operation, which goes on. Its result span is free, and what has not come yet will not be
  // written there; but of an operation with a callback it is free when that runs. A gradient or value span is free when
  // the call that took it returns.
  ~Ticket();

  // Waits until the operation is done. After `timeout` it gives DEADLINE_EXCEEDED, naming node, key and round, and
  // leaves the operation running: wait again as often as you like.
  absl::Status Wait(absl::Duration timeout = absl::InfiniteDuration());
  bool done() const;
  // Returns the round that the operation belongs to; 0 for Init, RegisterWeights, Barrier and ReportLoss. Counted by
  // this session until the operation is done, and from then on by the job, which may have had rounds before.
  uint64_t round() const;
  // Returns what a Pull or PushPull without memory for its result has brought. It is in shared memory, and there until
  // the ticket is destroyed. Empty before the operation is done, after an error and for others.
  ConstTensorView shared_tensor() const;
  // The same where it is of float32; else empty.
  absl::Span<const float> shared_result() const {
    const ConstTensorView shared = shared_tensor();
    return shared.type() == DataType::kFloat32 ? shared.floats() : absl::Span<const float>();
  }

 private:
  void Release();

  std::shared_ptr<Operation> operation_;  // shared with the session, which finishes it
};

// Room for one gradient of a key in the memory that the worker and its node share: fill it in and push it, and nothing
// is copied. Movable; thread-compatible. Destroyed without a push, it is free again. It may outlive its session.
class SharedGradient {
 public:
  explicit SharedGradient(SlotLease lease);
  SharedGradient(SharedGradient&&) noexcept;
  SharedGradient& operator=(SharedGradient&& other) noexcept;
  ~SharedGradient();

  // As many elements as Init had, with arbitrary values at first; empty once pushed.
  TensorView tensor() const;
  // The same where they are of float32; else empty.
  absl::Span<float> values() const {
    const TensorView shared = tensor();
    return shared.type() == DataType::kFloat32 ? shared.floats() : absl::Span<float>();
  }

 private:
  friend class Session;
  std::unique_ptr<SlotLease> lease_;  // null once moved away
};

// A tensor of a group, as Init would name it.
struct GroupPart {
  std::string name;
  ConstTensorView values;  // may be empty
  TensorView agreed = {};
};

// A named piece of a worker's training state, of any type: parameters, the state of its optimizer, a counter of steps.
struct StatePart {
  std::string name;
  absl::Span<uint8_t> memory;  // not empty
};

// Thread-safe. Operations of one key take effect in the order of the calls.
class Session {
 public:
  static absl::StatusOr<std::unique_ptr<Session>> Open(const SessionOptions& options);
  // For those that make ports of their own, such as LocalNode.
  explicit Session(std::unique_ptr<SessionCore> core);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Says good-bye to the node. Operations that still run end with CANCELLED, and so do those that their callbacks
  // start. Returns when the last callback has run. REQUIRES: no callback calls this, and no other thread is in a call.
  ~Session();
  // Says good-bye now: calls that other threads are in, and later ones, end with CANCELLED too. Idempotent.
  void Close();
  // The same without a good-bye, for a program that ends by an error: the node takes the worker for dead, and waits for
  // another one in its place.
  void Abandon();

  // Makes the key known with as many elements as `values` has, of their type. Every worker of every node calls it once
  // per key. The values of the lowest worker of the lowest node win; all get them, in `agreed` (of the same size and
  // type, may be `values` itself) or by a Pull. With a server-side optimizer a worker that comes to a job that runs
  // gets the parameters as they are now. Errors: INVALID_ARGUMENT for no name, or shapes that differ; ALREADY_EXISTS
  // for a second Init with the same shape, INVALID_ARGUMENT with another one.
  //
  // float16 and bfloat16 travel in two bytes where no compression is configured, are summed in float32, and results are
  // rounded once. What inner nodes of a tree pass up is rounded as well. float64, int32 and int64 travel as they are,
  // and are summed exactly in their own type: integers wrap around. Types such as kFloat64Max are of the same numbers,
  // with a result of their own, also where a job averages. Of the others a job with a server-side optimizer
  // takes broadcasts alone, and one that averages takes no other calls of integers: INVALID_ARGUMENT.
  Ticket Init(absl::string_view key, ConstTensorView values, TensorView agreed, CallOptions options = {});
  Ticket Init(absl::string_view key, ConstTensorView values);

  // Does Init for many tensors, which are one from then on: in memory, on the wire, and to the rules of the job, by the
  // name `group`, as a key of their values one after another. So thousands of small ones cost no more than a large one.
  // All are of one type. Names, sizes and order are the same in all workers of all nodes. Each tensor can be pushed,
  // pulled, flushed and broadcast by its own name, as below. A round of all goes out when the last one has been pushed,
  // and their tickets are done together: keep them, as waiting for one before all are pushed never returns. A
  // time-out names those that are missing. Errors: as Init's; INVALID_ARGUMENT also when all tensors are empty.
  // FAILED_PRECONDITION, at a push: the tensor is in the round already, or the calls of one round differ in kind.
  Ticket InitGroup(absl::string_view group, absl::Span<const GroupPart> parts, CallOptions options = {});
  // Push, Pull and PushPull of all tensors of a group, in their order; not while some are pushed alone.
  Ticket PushGroup(absl::string_view group, absl::Span<const ConstTensorView> gradients, PushOptions options = {});
  Ticket PullGroup(absl::string_view group, absl::Span<const TensorView> results, CallOptions options = {});
  Ticket PushPullGroup(absl::string_view group, absl::Span<const ConstTensorView> gradients,
                       absl::Span<const TensorView> results, PushOptions options = {});

  // Gives this worker's part of the key's next round. The ticket is done when the node has taken it.
  // Calls that come before the key's Init is done wait for it; so do calls that would open more rounds of the key at
  // once than the job's rounds_in_flight, for SessionOptions::room_timeout. Errors: FAILED_PRECONDITION before Init;
  // INVALID_ARGUMENT for another size or type than Init's; DEADLINE_EXCEEDED, naming who is awaited, when nothing was
  // started.
  Ticket Push(absl::string_view key, ConstTensorView gradient, PushOptions options = {});
  // Gets the result of the last round of the key that this worker pushed, or the values of Init.
  Ticket Pull(absl::string_view key, TensorView result, CallOptions options = {});
  // Does both. `result` may be `gradient`'s own memory.
  Ticket PushPull(absl::string_view key, ConstTensorView gradient, TensorView result, PushOptions options = {});
  // The three without copies, for large tensors: gradients are filled in and results read where the node has them. Both
  // are few: one gradient more than the job's rounds_in_flight for each key, and as many results as these.
  // ShareGradient waits while the node has all gradients, and the others as those above. Errors: FAILED_PRECONDITION
  // when this worker itself holds all that there are of what a call needs. A loop does so that keeps the ticket of its
  // last round while it starts the next one. INVALID_ARGUMENT for a gradient of another key or one that has been
  // pushed. A gradient with which a call ends so, at once, stays as it is.
  absl::StatusOr<SharedGradient> ShareGradient(absl::string_view key);
  Ticket Push(absl::string_view key, SharedGradient&& gradient, PushOptions options = {});
  Ticket Pull(absl::string_view key, CallOptions options = {});
  Ticket PushPull(absl::string_view key, SharedGradient&& gradient, PushOptions options = {});
  // A PushPull that loses nothing, where tensors are compressed with error feedback: the round travels as float32 and
  // brings along what the encodings of earlier rounds have kept back on all nodes. For the last gradients of a training
  // (zeros do). All workers of all nodes call it for the same round.
  Ticket Flush(absl::string_view key, ConstTensorView gradient, TensorView result, PushOptions options = {});
  // A round whose result is the values of the lowest worker of the lowest node. `result` may be `values`' own memory.
  Ticket Broadcast(absl::string_view key, ConstTensorView values, TensorView result, PushOptions options = {});

  // Tells the node the key's weights as they are now: a copy, so call it again, every few rounds, as they move on. With
  // the `netsense` compression of the key the gradients of its smallest weights are then held back while the link is
  // slow; without weights that step is skipped, which the node's log says. It counts for what is pushed from here on.
  // One worker of a node is enough, since all replicas are the same, and of several the last one counts. The ticket is
  // done when the node has them. Costs the node as much memory as the tensor where its job prunes. It costs nothing
  // elsewhere, or with a server-side optimizer, whose node has the weights itself. Waits for Init and for room as Push
  // does. Errors: FAILED_PRECONDITION before Init; INVALID_ARGUMENT for another size or type than Init's.
  Ticket RegisterWeights(absl::string_view key, ConstTensorView weights, CallOptions options = {});

  // Done when every worker of every node has called it equally often.
  Ticket Barrier(CallOptions options = {});
  // Tells the loss of training step `step`, for `status` and the live display.
  Ticket ReportLoss(uint64_t step, double loss, CallOptions options = {});
  // Tells how the training goes at a step. Where the job has an operating profile (docs/precision.md) the scheduler
  // decides on the routes of the next rounds when all workers have told it of the step: call it before the step's
  // pushes. ReportLoss is the short form, with step and loss only.
  Ticket ReportHealth(const TrainingHealthReport& health, CallOptions options = {});

  // The three by which a worker that begins while others train gets their training state. A program opens its session,
  // calls Init for all keys, shares its state and fetches that of the others. Then it trains, and passes a boundary
  // after each step:
  //
  //   session->ShareState({{"weights", bytes of the parameters}, {"momentum", ...}, {"step", ...}});
  //   absl::StatusOr<uint64_t> step = session->FetchState();  // NOT_FOUND: the job begins, and you with it, at step 1
  //   while (...) { push, pull and step; session->PassBoundary(++step); }
  //
  // A worker that calls Init when rounds of the key are over keeps its own values, and takes no part in its rounds
  // before it has the state: Push, Pull and Broadcast end with FAILED_PRECONDITION until then. With a server-side
  // optimizer Init gives it the parameters as they are, and it may begin at once.
  //
  // Names the whole training state of this worker, once. The memory outlives the session, and is touched only during
  // calls of the other two. All workers of all nodes name the same parts with the same sizes. Without parts it says,
  // at any time, that this worker needs nothing that others have, and begins with what it has: a program that sums
  // numbers, or one that begins from its own checkpoint on purpose. Errors: INVALID_ARGUMENT for two parts of one name,
  // an empty one, or parts that differ from those of another worker of the node; FAILED_PRECONDITION for a second call
  // with parts.
  absl::Status ShareState(std::vector<StatePart> parts);
  // Returns whether it was called, with parts or without.
  bool HasSharedState() const;
  // Says that the parts hold the state after step `step`, in which every worker takes part, and that all operations of
  // steps so far are done. It costs nothing, unless a worker fetches the state: then it waits here until that worker
  // has it. After `timeout` it gives DEADLINE_EXCEEDED, and this worker goes on; if all others do so too, the fetch
  // fails. Errors: FAILED_PRECONDITION before ShareState, or with an operation under way.
  absl::Status PassBoundary(uint64_t step, absl::Duration timeout = absl::InfiniteDuration());
  // Returns whether a worker waits for the state of this boundary. Where a state lies elsewhere, such as on a GPU, only
  // then bring it into the parts, and call PassBoundary; else go on without either. Errors: FAILED_PRECONDITION before
  // ShareState.
  absl::StatusOr<bool> IsBoundaryHeld() const;
  // Fills the parts with the state that the others have at one boundary, and returns that boundary's step; train on
  // with the next. Errors: NOT_FOUND when the job is young, so that there is nothing to fetch: begin. DATA_LOSS when it
  // has trained, and all that had the state are gone or do not share it. After each error but NOT_FOUND the worker
  // takes no part, and may call again. UNAVAILABLE when those that have it have just gone. DEADLINE_EXCEEDED after
  // `timeout`, naming nodes that have not reached a boundary. INVALID_ARGUMENT naming a part that the others do not
  // have, or have with another size. FAILED_PRECONDITION before ShareState. After an error the parts hold anything.
  absl::StatusOr<uint64_t> FetchState(absl::Duration timeout = absl::InfiniteDuration());

  // Compares what replicas have alike, such as parameters, or all that ShareState takes, by digests: all workers call
  // it after the same step, once in some hundred, with the same names and sizes. Where some have other numbers all get
  // FAILED_PRECONDITION, with the nodes that differ from the lowest worker's, and the first part. Its rounds are of
  // keys that begin with `name`. Errors: FAILED_PRECONDITION also in a job whose rounds may leave workers out;
  // INVALID_ARGUMENT without parts, or for another number of them; DEADLINE_EXCEEDED, naming who is awaited.
  absl::Status CompareReplicas(absl::string_view name, absl::Span<const StatePart> parts,
                               absl::Duration timeout = absl::InfiniteDuration());

  // Returns the members of the job, once it has started, and since an epoch later than `after`: waits for that at most
  // for `timeout`, then DEADLINE_EXCEEDED. So a loop that gives the epoch that it had last hears of each change.
  absl::StatusOr<JobNodes> Members(uint64_t after = 0, absl::Duration timeout = absl::InfiniteDuration()) const;
  // Returns the node's name, as it named itself.
  const std::string& node_name() const;
  // Returns what the job makes of pushes, its `aggregation.op`: "mean", "sum", or the name of an optimizer, whose
  // results are parameters.
  absl::string_view aggregation_op() const;
  // Returns whether rounds may be without other workers' gradients, each key's without others: the job has a quorum, or
  // skips those that are not finite. A sum is then of nobody knows how many, and weights cannot travel as a key.
  bool may_leave_out() const;

 private:
  std::unique_ptr<SessionCore> core_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_H_
