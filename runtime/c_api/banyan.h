// Banyan for C, and for all languages that can call C: sessions with a node, and nodes inside this process. C99.
// Installed as <banyan/banyan.h>; the library is libbanyan.so.
//
//   banyan_session_options options = {.size = sizeof options, .node = "unix:/run/banyan/n1"};
//   banyan_session* session = NULL;
//   if (banyan_session_open(&options, &session) != BANYAN_OK) die(banyan_last_error());
//   banyan_ticket* ticket = NULL;
//   banyan_push_pull(session, "fc1.weight", gradient, gradient, count, NULL, &ticket);
//   if (banyan_ticket_wait(ticket, 60) != BANYAN_OK) die(banyan_last_error());
//   banyan_ticket_release(ticket);
//   banyan_session_free(session);
//
// Functions that return int return a code of enum banyan_code; banyan_last_error then tells more. Thread-safe, but for
// the functions that end a handle: no other call uses it then or later. Handles belong to the caller.
//
// Structs begin with their size, as the caller was compiled with: {.size = sizeof options}. All other fields may be
// zero, which means the default. The library takes structs of older and newer headers, as long as newer fields are
// zero.
//
// Times are in seconds. A time below zero is endless.
//
// A forked child uses no handle of its parent: calls end with BANYAN_FAILED_PRECONDITION, and ending a handle there
// changes nothing for the parent.
#ifndef BANYAN_RUNTIME_C_API_BANYAN_H_
#define BANYAN_RUNTIME_C_API_BANYAN_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BANYAN_API __attribute__((visibility("default")))
#else
#define BANYAN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum banyan_code {
  BANYAN_OK = 0,
  BANYAN_CANCELLED = 1,
  BANYAN_UNKNOWN = 2,
  BANYAN_INVALID_ARGUMENT = 3,
  BANYAN_DEADLINE_EXCEEDED = 4,
  BANYAN_NOT_FOUND = 5,
  BANYAN_ALREADY_EXISTS = 6,
  BANYAN_PERMISSION_DENIED = 7,
  BANYAN_RESOURCE_EXHAUSTED = 8,
  BANYAN_FAILED_PRECONDITION = 9,
  BANYAN_ABORTED = 10,
  BANYAN_OUT_OF_RANGE = 11,
  BANYAN_UNIMPLEMENTED = 12,
  BANYAN_INTERNAL = 13,
  BANYAN_UNAVAILABLE = 14,
  BANYAN_DATA_LOSS = 15,
  BANYAN_UNAUTHENTICATED = 16
};

typedef struct banyan_node banyan_node;        // a node inside this process
typedef struct banyan_session banyan_session;  // one worker's access to a node
typedef struct banyan_ticket banyan_ticket;    // one operation under way

// Grows when functions or fields are added; programs compiled against an older one go on working.
#define BANYAN_ABI_VERSION 9
BANYAN_API uint32_t banyan_abi_version(void);
// "0.1.0"
BANYAN_API const char* banyan_version(void);

// Returns what was wrong with the last call of this thread that did not return BANYAN_OK: what was expected, what came,
// and which node, key and round it was. It is there until the thread's next such call.
BANYAN_API const char* banyan_last_error(void);

typedef struct banyan_session_options {
  size_t size;
  const char* node;  // the node's worker socket, unix:/path
  uint32_t worker;   // from 0, different for each training process of the node
  // How long opening waits for the node to be there and to take the worker, which it does once it has joined the job.
  double open_seconds;  // 0: 60
  // After which silence a node counts as stopped, when it owes what depends on nobody else.
  double answer_seconds;  // 0: 30
  // How long calls wait for room, which comes with the end of an earlier round of their key. Then they end with
  // BANYAN_DEADLINE_EXCEEDED at once, and nothing was started.
  double room_seconds;  // 0: endless
} banyan_session_options;

BANYAN_API int banyan_session_open(const banyan_session_options* options, banyan_session** session);
// Says good-bye to the node. Operations that run end with BANYAN_CANCELLED, and so do calls that other threads are in,
// and all from here on. Waits until these have returned, at most for `seconds`: BANYAN_DEADLINE_EXCEEDED says to call
// it again.
BANYAN_API int banyan_session_close(banyan_session* session, double seconds);
// The same without a good-bye, for a program that ends by an error: the node takes the worker for dead, as it takes one
// whose process ends without closing, and waits for another one in its place.
BANYAN_API int banyan_session_abandon(banyan_session* session, double seconds);
// Closes the session, if that has not been done, and ends the handle. Not from a callback. NULL is nothing.
BANYAN_API void banyan_session_free(banyan_session* session);
// Returns the node's name, as it named itself; there until the handle ends.
BANYAN_API const char* banyan_session_node_name(const banyan_session* session);
// Returns what the job makes of pushes, its aggregation.op: "mean", "sum", or the name of an optimizer, whose results
// are parameters. There until the handle ends.
BANYAN_API const char* banyan_session_aggregation_op(const banyan_session* session);
// Returns 1 where rounds may be without other workers' gradients, each key's without others: the job has a quorum, or
// skips those that are not finite. What comes of one key, such as a sum of weights, is then no measure of another.
BANYAN_API int banyan_session_may_leave_out(const banyan_session* session);

typedef struct banyan_members {
  size_t size;
  uint64_t epoch;            // rises with each change
  uint32_t rank;             // of this worker, among all workers of the job, by node and worker
  uint32_t world_size;       // all workers of the job
  size_t count;              // of nodes
  const char* const* names;  // of the nodes, in the order of overlay.yaml
  const uint32_t* workers;   // of each, as overlay.yaml says
} banyan_members;

// Tells the members of the job, once it has started, and since an epoch later than `after`: waits for that at most for
// `seconds`, then BANYAN_DEADLINE_EXCEEDED. What `names` and `workers` point to is there until this thread's next such
// call. Since version 8.
BANYAN_API int banyan_session_members(banyan_session* session, uint64_t after, double seconds, banyan_members* members);

typedef struct banyan_node_options {
  size_t size;
  const char* name;           // as in the job's overlay.yaml
  const char* scheduler;      // tcp://host:port; of several, with commas between them
  const char* job;            // NULL: whichever job the scheduler runs
  const char* listen;         // NULL: tcp://127.0.0.1:0, a free port
  const char* advertise;      // where other nodes reach this one; NULL: where it listens
  const char* worker_socket;  // unix:/path for further training processes; NULL: none
  int32_t compute_threads;    // 0: one
  // Gets every line that the node logs, which is lost where the descriptor does not take it at once. 0: nobody does.
  int log_descriptor;
  const char* key_file;       // of the node's secret key, as `banyan keygen` makes it; NULL: none
  const char* scheduler_key;  // the public key of the schedulers; NULL: as the key file says
  int insecure;               // not 0: listen beyond this machine without a key
  // Not 0: each line of log_descriptor begins with its level, as sd-daemon(3) has them: <3> for an error, <4> for a
  // warning, <6> for information, <7> for what helps to find faults. Since version 6.
  int log_levels;
} banyan_node_options;

BANYAN_API int banyan_node_start(const banyan_node_options* options, banyan_node** node);
// Opens a session of a worker of this process. options->node is not used. The session may outlive the node.
BANYAN_API int banyan_node_open_session(banyan_node* node, const banyan_session_options* options,
                                        banyan_session** session);
// Returns where other nodes reach this one; there until the handle ends.
BANYAN_API const char* banyan_node_address(const banyan_node* node);
// Leaves the job and ends the node's threads. Returns why the node ended: BANYAN_OK when it was asked to.
BANYAN_API int banyan_node_stop(banyan_node* node);
// Stops the node, if that has not been done, and ends the handle. NULL is nothing.
BANYAN_API void banyan_node_free(banyan_node* node);

// --- operations ------------------------------------------------------------------------------------------------------

// Runs once when an operation is done, on a thread that the session has for callbacks alone, one after another.
// `message` is empty with BANYAN_OK, and gone when the callback returns. It may start operations, wait for them and
// release tickets; it must not end the session. A long one delays the others, but no operation.
typedef void (*banyan_done)(void* context, int code, const char* message);

// The types of a tensor's elements. Halves lie in memory as their two bytes.
enum banyan_type {
  BANYAN_FLOAT32 = 0,
  BANYAN_FLOAT16 = 1,
  BANYAN_BFLOAT16 = 2,
  BANYAN_FLOAT64 = 3,
  BANYAN_INT32 = 4,
  BANYAN_INT64 = 5,
  // The same numbers, of which a round's result is the sum, the greatest, the least or the product, also where a job
  // averages. NaN stays; products of integers wrap around as well. Since version 8.
  BANYAN_FLOAT64_SUM = 6,
  BANYAN_FLOAT64_MAX = 7,
  BANYAN_FLOAT64_MIN = 8,
  BANYAN_FLOAT64_PRODUCT = 9,
  BANYAN_INT32_SUM = 10,
  BANYAN_INT32_MAX = 11,
  BANYAN_INT32_MIN = 12,
  BANYAN_INT32_PRODUCT = 13,
  BANYAN_INT64_SUM = 14,
  BANYAN_INT64_MAX = 15,
  BANYAN_INT64_MIN = 16,
  BANYAN_INT64_PRODUCT = 17
};

typedef struct banyan_call_options {
  size_t size;
  int32_t priority;  // higher goes first where a link has a queue
  banyan_done done;  // may be NULL
  void* context;     // for it
  uint64_t tag;      // not 0: the operation's end comes with this tag from banyan_session_next
  // Of enum banyan_type: what all tensors of the call are of. Their addresses are cast. Since version 3.
  int32_t type;
} banyan_call_options;

// What follows starts operations. The functions return BANYAN_OK and a ticket, unless arguments are missing; all that
// else can be wrong is the operation's end, which may come at once. `options` may be NULL, and so may `ticket`. Memory
// that is only read is free when the function returns; memory for results is the operation's until it is done. Workers
// of one node call these functions equally often for a key.
//
// Tensors are of float32, or of what options->type says, the same in all calls of a key. Halves travel as halves, are
// summed in float32, and results are rounded once. float64 and integers are summed exactly in their own type, integers
// wrap around, and no compression touches them; where a job averages, integers can only be broadcast, and where it has
// an optimizer, all three.

// Makes a key known. Every worker of every node calls it once per key; all get the values of the lowest worker of the
// lowest node in `agreed`, which may be NULL or `values` itself.
BANYAN_API int banyan_init(banyan_session* session, const char* key, const float* values, float* agreed, size_t count,
                           const banyan_call_options* options, banyan_ticket** ticket);
// Does so for many tensors at once, which travel as one from then on. Each is pushed and pulled by its own name, or all
// by the functions for groups below. A round goes out when all have been pushed: start all before you wait for one.
// `agreed` or one of its pointers may be NULL.
BANYAN_API int banyan_init_group(banyan_session* session, const char* group, size_t parts, const char* const* names,
                                 const float* const* values, float* const* agreed, const size_t* counts,
                                 const banyan_call_options* options, banyan_ticket** ticket);
// Gives this worker's part of the key's next round. Done when the node has taken it.
BANYAN_API int banyan_push(banyan_session* session, const char* key, const float* gradient, size_t count,
                           const banyan_call_options* options, banyan_ticket** ticket);
// Gets the result of the last round that this worker has pushed, or the values of the initialisation.
BANYAN_API int banyan_pull(banyan_session* session, const char* key, float* result, size_t count,
                           const banyan_call_options* options, banyan_ticket** ticket);
// Does both. `result` may be `gradient` itself.
BANYAN_API int banyan_push_pull(banyan_session* session, const char* key, const float* gradient, float* result,
                                size_t count, const banyan_call_options* options, banyan_ticket** ticket);
BANYAN_API int banyan_push_group(banyan_session* session, const char* group, size_t parts,
                                 const float* const* gradients, const size_t* counts,
                                 const banyan_call_options* options, banyan_ticket** ticket);
BANYAN_API int banyan_pull_group(banyan_session* session, const char* group, size_t parts, float* const* results,
                                 const size_t* counts, const banyan_call_options* options, banyan_ticket** ticket);
BANYAN_API int banyan_push_pull_group(banyan_session* session, const char* group, size_t parts,
                                      const float* const* gradients, float* const* results, const size_t* counts,
                                      const banyan_call_options* options, banyan_ticket** ticket);
// A push-pull that also brings what lossy encodings of earlier rounds have kept back.
BANYAN_API int banyan_flush(banyan_session* session, const char* key, const float* gradient, float* result,
                            size_t count, const banyan_call_options* options, banyan_ticket** ticket);
// A round whose result is the values of the lowest worker of the lowest node.
BANYAN_API int banyan_broadcast(banyan_session* session, const char* key, const float* values, float* result,
                                size_t count, const banyan_call_options* options, banyan_ticket** ticket);
// Tells the node the key's weights, for compressions that hold gradients of small weights back.
BANYAN_API int banyan_register_weights(banyan_session* session, const char* key, const float* weights, size_t count,
                                       const banyan_call_options* options, banyan_ticket** ticket);
// Done when every worker of every node has called it equally often.
BANYAN_API int banyan_barrier(banyan_session* session, const banyan_call_options* options, banyan_ticket** ticket);
// Tells the loss of training step `step`, for `banyan status`.
BANYAN_API int banyan_report_loss(banyan_session* session, uint64_t step, double loss,
                                  const banyan_call_options* options, banyan_ticket** ticket);

typedef struct banyan_health {
  size_t size;
  uint64_t step;  // from 1
  double loss;
  double progress;                // part of the run that is done, in [0, 1]; 0: not known
  double learning_rate_fraction;  // of the largest learning rate, in (0, 1]; 0: 1
  double metric;                  // such as accuracy on a holdout set; larger is better
  int32_t has_metric;             // 0: there is none
} banyan_health;

// Tells how the training goes. Where the job has an operating profile (docs/precision.md), the scheduler decides on the
// routes of the next rounds when all workers have told it of the step: call it before the step's pushes. Since version
// 2.
BANYAN_API int banyan_report_health(banyan_session* session, const banyan_health* health,
                                    const banyan_call_options* options, banyan_ticket** ticket);

// Waits until the operation is done and returns its end. BANYAN_DEADLINE_EXCEEDED after `seconds`: it goes on, and the
// message tells who is awaited.
BANYAN_API int banyan_ticket_wait(const banyan_ticket* ticket, double seconds);
// Waits too, but asks nobody who is awaited, and only says whether the operation is done: 1, or 0.
BANYAN_API int banyan_ticket_poll(const banyan_ticket* ticket, double seconds);
// Returns the round that the operation belongs to; 0 where there is none. Counted by this session until the operation
// is done, and from then on by the job, which may have had rounds before.
BANYAN_API uint64_t banyan_ticket_round(const banyan_ticket* ticket);
// Ends the handle and never blocks. The operation goes on, with its callback, its tag, and the caller's memory for
// results. NULL is nothing.
BANYAN_API void banyan_ticket_release(banyan_ticket* ticket);

// Returns a descriptor to poll(2) for reading: it is readable while operations with tags have ended that
// banyan_session_next has not told yet. It belongs to the session.
BANYAN_API int banyan_session_fd(const banyan_session* session);
// Tells operations with tags that have ended, in the order in which they did: tags, codes (which may be NULL) and how
// many, at most `capacity`. Waits up to `seconds` for the first: BANYAN_DEADLINE_EXCEEDED. BANYAN_CANCELLED when the
// session is closed and all have been told.
BANYAN_API int banyan_session_next(banyan_session* session, double seconds, uint64_t* tags, int* codes, size_t capacity,
                                   size_t* count);

// --- training state --------------------------------------------------------------------------------------------------

// Names the whole training state of this worker, once: memory of any type, the same parts in all workers. It outlives
// the session and is touched only during calls of the other two. Without parts it says that this worker needs nothing
// that others have. Who calls Init when rounds of the key are over keeps its own values, and its pushes and pulls end
// with BANYAN_FAILED_PRECONDITION before it has the state or says that.
BANYAN_API int banyan_share_state(banyan_session* session, size_t parts, const char* const* names, void* const* memory,
                                  const size_t* bytes);
// Says that the parts hold the state after step `step`. Waits while a worker fetches it, at most for `seconds`.
BANYAN_API int banyan_pass_boundary(banyan_session* session, uint64_t step, double seconds);
// Sets is_held to 1 where a worker waits for the state of this boundary. Where a state lies elsewhere, such as on a
// GPU, only then bring it into the parts and call banyan_pass_boundary; else go on without either.
BANYAN_API int banyan_boundary_is_held(banyan_session* session, int* is_held);
// Fills the parts with the state that the others have, and tells its step. BANYAN_NOT_FOUND when the job begins;
// BANYAN_DATA_LOSS when it has trained, and nobody is left who gives its state.
BANYAN_API int banyan_fetch_state(banyan_session* session, double seconds, uint64_t* step);
// Compares what replicas have alike, such as parameters, by digests. All workers call it after the same step, once in
// some hundred, with the same names and bytes. Where some have other numbers all get BANYAN_FAILED_PRECONDITION, and
// banyan_last_error names their nodes and the first part that differs. Its rounds are of keys that begin with `name`.
BANYAN_API int banyan_compare_replicas(banyan_session* session, const char* name, size_t parts,
                                       const char* const* names, void* const* memory, const size_t* bytes,
                                       double seconds);

#ifdef __cplusplus
}
#endif

#endif  // BANYAN_RUNTIME_C_API_BANYAN_H_
