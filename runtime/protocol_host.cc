#include "runtime/protocol_host.h"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/time.h"
#include "posix/steady_clock.h"
#include "protocol/event.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"
#include "runtime/records/record_writer.h"
#include "runtime/session/local_port.h"
#include "runtime/transport/transport.h"
#include "runtime/workers/segment_budget.h"
#include "runtime/workers/worker_connection.h"
#include "runtime/workers/worker_requests.h"
#include "runtime/workers/worker_server.h"

namespace banyan {
namespace {

// What workers get for a core that has stopped with `status`.
absl::Status EndForWorkers(const absl::Status& status) {
  if (status.ok()) return absl::UnavailableError("the node has stopped");
  if (absl::IsAborted(status)) {
    return absl::AbortedError(absl::StrCat(status.message(), "; the node joins again: open a new session"));
  }
  return absl::UnavailableError(absl::StrCat("the node has stopped: ", status.message()));
}

}  // namespace

// Destroyed from the last member to the first: whoever uses another comes after it.
class ProtocolHost::Parts {
 public:
  Parts(ProtocolHostOptions from, std::unique_ptr<RecordStore> store)
      : record_store(std::move(store)),
        options(std::move(from)),
        queue(std::make_shared<EventQueue>()),
        budget(std::make_shared<SegmentBudget>(options.max_worker_bytes, options.memory_limit)),
        pool(options.compute_threads),
        requests_of_workers(std::make_shared<WorkerRequests>(queue, pool)) {}
  ~Parts() { CloseWorkerServer(); }

  absl::Status OpenRecords();
  absl::Status OpenTransport();
  absl::Status OpenWorkerServer();
  // Takes what workers have sent since the last call.
  void CollectFromWorkers();
  // Workers have had their last answer: their connections end.
  void CloseWorkerServer();
  std::shared_ptr<WorkerConnection> NewWorkerConnection(WorkerConnection::Reply reply);
  void Log(LogLevel level, absl::string_view text) const;

  std::unique_ptr<RecordStore> record_store;  // until the record writer has it
  const ProtocolHostOptions options;
  const std::shared_ptr<EventQueue> queue;      // shared with threads that may post late
  const std::shared_ptr<SegmentBudget> budget;  // shared with memory that outlives this
  ComputePool pool;
  const std::shared_ptr<WorkerRequests> requests_of_workers;  // shared with workers' connections
  StoredRecords records;
  std::unique_ptr<RecordWriter> record_writer;
  std::unique_ptr<Transport> transport;
  SocketReadiness workers_readiness;  // of worker_server
  std::unique_ptr<WorkerServer> worker_server;
};

absl::Status ProtocolHost::Parts::OpenRecords() {
  if (record_store == nullptr) return absl::OkStatus();
  absl::StatusOr<StoredRecords> stored = record_store->Open();
  if (!stored.ok()) return stored.status();
  records = *std::move(stored);
  if (!records.warning.empty()) Log(LogLevel::kWarning, records.warning);
  record_writer = std::make_unique<RecordWriter>(
      std::move(record_store), [queue = queue](RecordId record) { queue->Post(RecordPersisted{record}); },
      [queue = queue](absl::Status status) { queue->Fail(std::move(status)); });
  return absl::OkStatus();
}

absl::Status ProtocolHost::Parts::OpenTransport() {
  SocketLimits limits;
  limits.max_frame_bytes = options.max_frame_bytes;
  limits.uses_unix_sockets = true;
  absl::StatusOr<std::unique_ptr<Transport>> bound = Transport::Bind(options.bind_address, limits, options.security);
  if (!bound.ok()) return bound.status();
  transport = *std::move(bound);
  return absl::OkStatus();
}

absl::Status ProtocolHost::Parts::OpenWorkerServer() {
  if (options.worker_socket.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<WorkerServer>> server = WorkerServer::Listen(
      options.worker_socket, options.worker_group,
      [this](WorkerConnection::Reply reply) { return NewWorkerConnection(std::move(reply)); }, transport->counters(),
      [this](const std::string& text) { Log(LogLevel::kWarning, text); });
  if (!server.ok()) return server.status();
  worker_server = *std::move(server);
  transport->Watch(worker_server->fd(), workers_readiness);
  return absl::OkStatus();
}

void ProtocolHost::Parts::CollectFromWorkers() {
  if (worker_server == nullptr) return;
  const Timestamp now = SteadyNow();
  const bool is_ready = std::exchange(workers_readiness.may_receive, false);
  if (is_ready || now >= worker_server->NextDeadline()) worker_server->Collect(now);
}

void ProtocolHost::Parts::CloseWorkerServer() {
  if (worker_server == nullptr) return;
  transport->Unwatch(worker_server->fd(), workers_readiness);
  worker_server.reset();
}

std::shared_ptr<WorkerConnection> ProtocolHost::Parts::NewWorkerConnection(WorkerConnection::Reply reply) {
  return std::make_shared<WorkerConnection>(requests_of_workers, budget, options.name, std::move(reply));
}

void ProtocolHost::Parts::Log(LogLevel level, absl::string_view text) const {
  if (options.log) options.log(level, text);
}

// ---- the loop ----

// Steps one protocol core: waits for sockets, posted events and deadlines, and carries out what the core asks, in
// order. Thread-compatible: everything happens on the thread that calls Run.
class ProtocolHost::Driver {
 public:
  // `parts`, which the actions of `protocol` reach, outlives the driver, as that does. Without a record writer, records
  // count as persisted at once. Without a leadership nobody else may lead.
  Driver(Protocol& protocol, Parts& parts);

  // Until the core's Stop action, whose status it returns; until `stop_timeout` after a requested stop; until the
  // leadership is lost; or until the runtime itself fails, or has no memory left.
  absl::Status Run();

 private:
  absl::Status RunToEnd();
  void Step(Event event);
  void StepAll(std::vector<Event>& events);
  void RunBriefComputations();
  bool IsStale(const Event& event) const;
  Timestamp LeadsUntil() const;
  Timestamp NextDeadline() const;
  void RequestStop(Timestamp now);

  void Carry(Connect action);
  void Carry(Disconnect action);
  void Carry(Send action);
  void Carry(Renew action);
  void Carry(Pace action);
  void Carry(StartComputation action);
  void Carry(WriteResult action);
  void Carry(CompleteRequest action);
  void Carry(NotifyRoundComplete action);
  void Carry(NotifyJobEnded action);
  void Carry(NotifyMembers action);
  void Carry(AskWorker action);
  void Carry(PersistRecord action);
  void Carry(LogLine action);
  void Carry(Stop action);
  void Carry(Admit action);

  Protocol& protocol_;
  Parts& parts_;
  Timestamp now_;  // of the last Step
  std::deque<StartComputation> brief_;
  Timestamp stop_deadline_ = kNever;
  bool told_to_stop_ = false;
  std::optional<absl::Status> stopped_;
};

// Brief computations before the sockets are looked at again, and bytes on which they work: together well below a
// millisecond.
constexpr int kBriefInARow = 16;
constexpr int64_t kBriefBytesInARow = int64_t{2} << 20;

ProtocolHost::Driver::Driver(Protocol& protocol, Parts& parts)
    : protocol_(protocol), parts_(parts), now_(SteadyNow()) {}

absl::Status ProtocolHost::Driver::Run() {
  try {
    return RunToEnd();
  } catch (const std::bad_alloc&) {
    // The core may be in the middle of a step: it cannot go on.
    return OutOfMemory();
  }
}

absl::Status ProtocolHost::Driver::RunToEnd() {
  Step(Started{});
  std::vector<Event> events;
  while (!stopped_) {
    const bool may_wait = brief_.empty() && parts_.queue->MayWait();
    const Timestamp deadline = may_wait ? NextDeadline() : now_;
    if (parts_.transport->Wait(parts_.queue->fd(), deadline)) parts_.queue->ClearWakeup();
    const Timestamp now = SteadyNow();
    if (absl::Status failure = parts_.queue->failure(); !failure.ok()) return failure;
    if (now >= LeadsUntil()) return parts_.options.leadership->WhyLost();
    // What was posted before the stop was requested comes before it.
    const bool stop_requested = parts_.queue->stop_requested();
    parts_.CollectFromWorkers();
    events = parts_.queue->Take();
    StepAll(events);
    if (stop_requested) RequestStop(now);
    parts_.transport->Collect(SteadyNow(), events);
    StepAll(events);
    RunBriefComputations();
    if (!stopped_ && SteadyNow() >= protocol_.NextDeadline()) Step(DeadlineReached{});
    if (!stopped_ && now >= stop_deadline_) {
      return absl::DeadlineExceededError(
          absl::StrCat("did not stop within ", absl::FormatDuration(parts_.options.stop_timeout)));
    }
  }
  return *stopped_;
}

Timestamp ProtocolHost::Driver::NextDeadline() const {
  const Timestamp of_workers = parts_.worker_server == nullptr ? kNever : parts_.worker_server->NextDeadline();
  return std::min({protocol_.NextDeadline(), stop_deadline_, LeadsUntil(), of_workers});
}

Timestamp ProtocolHost::Driver::LeadsUntil() const {
  return parts_.options.leadership == nullptr ? kNever : parts_.options.leadership->LeadsUntil();
}

void ProtocolHost::Driver::RequestStop(Timestamp now) {
  if (std::exchange(told_to_stop_, true)) return;
  stop_deadline_ = now + parts_.options.stop_timeout;
  if (!stopped_) Step(StopRequested{});
}

void ProtocolHost::Driver::StepAll(std::vector<Event>& events) {
  for (Event& event : events) {
    if (stopped_) break;
    if (!IsStale(event)) Step(std::move(event));
  }
  events.clear();
}

void ProtocolHost::Driver::RunBriefComputations() {
  int64_t bytes = 0;
  for (int i = 0; i < kBriefInARow && bytes < kBriefBytesInARow && !brief_.empty() && !stopped_; ++i) {
    StartComputation next = std::move(brief_.front());
    brief_.pop_front();
    bytes += next.computation->size_bytes();
    const absl::Duration time = ComputePool::TimeOf(*next.computation);
    Step(ComputationFinished{next.id, std::move(next.computation), time});
  }
}

// The core may have closed a connection by an earlier event of the same batch.
bool ProtocolHost::Driver::IsStale(const Event& event) const {
  const auto closed = [this](ConnectionId connection) { return !parts_.transport->Exists(connection); };
  if (const auto* received = std::get_if<MessageReceived>(&event)) return closed(received->connection);
  if (const auto* rejected = std::get_if<MessageRejected>(&event)) {
    // Who is not let in has no connection, and who loses it for what was said has none any more.
    return rejected->connection < kInboundConnection && rejected->connection != ConnectionId() &&
           closed(rejected->connection);
  }
  if (const auto* failed = std::get_if<ConnectFailed>(&event)) return closed(failed->connection);
  if (const auto* up = std::get_if<ConnectionUp>(&event)) return closed(up->connection);
  // One that the other side opened no longer exists when its end is reported.
  if (const auto* down = std::get_if<ConnectionDown>(&event)) {
    return down->connection < kInboundConnection && closed(down->connection);
  }
  return false;
}

void ProtocolHost::Driver::Step(Event event) {
  now_ = std::max(now_, SteadyNow());
  // The process may have stood still since the last look: what it would say now, another one may have said otherwise.
  if (now_ >= LeadsUntil()) {
    stopped_ = parts_.options.leadership->WhyLost();
    return;
  }
  Actions actions = protocol_.Step(now_, std::move(event));
  for (Action& action : actions) {
    std::visit([this](auto& alternative) { Carry(std::move(alternative)); }, action);
  }
}

void ProtocolHost::Driver::Carry(Connect action) { parts_.transport->Connect(action, now_); }

void ProtocolHost::Driver::Carry(Disconnect action) { parts_.transport->Disconnect(action, now_); }

void ProtocolHost::Driver::Carry(Renew action) { parts_.transport->Renew(action, now_); }

void ProtocolHost::Driver::Carry(Pace action) { parts_.transport->SetPace(action); }

void ProtocolHost::Driver::Carry(Send action) { parts_.transport->Send(action, now_); }

void ProtocolHost::Driver::Carry(StartComputation action) {
  if (action.computation->size_bytes() <= parts_.options.brief_bytes) return brief_.push_back(std::move(action));
  parts_.pool.Compute(action.id, std::move(action.computation), parts_.queue);
}

void ProtocolHost::Driver::Carry(WriteResult action) { parts_.requests_of_workers->Write(std::move(action)); }

void ProtocolHost::Driver::Carry(CompleteRequest action) { parts_.requests_of_workers->Complete(std::move(action)); }

void ProtocolHost::Driver::Carry(NotifyRoundComplete action) { parts_.requests_of_workers->Notify(action); }

void ProtocolHost::Driver::Carry(NotifyJobEnded action) { parts_.requests_of_workers->Notify(action); }

void ProtocolHost::Driver::Carry(NotifyMembers action) { parts_.requests_of_workers->Notify(std::move(action)); }

void ProtocolHost::Driver::Carry(AskWorker action) { parts_.requests_of_workers->Ask(action.task); }

void ProtocolHost::Driver::Carry(PersistRecord action) {
  if (parts_.record_writer != nullptr) {
    parts_.record_writer->Write(std::move(action));
  } else {
    parts_.queue->Post(RecordPersisted{action.record});
  }
}

void ProtocolHost::Driver::Carry(LogLine action) { parts_.Log(action.level, action.text); }

void ProtocolHost::Driver::Carry(Admit action) { parts_.transport->Admit(std::move(action.keys), now_); }

void ProtocolHost::Driver::Carry(Stop action) { stopped_ = std::move(action.status); }

// ---- the host ----

absl::StatusOr<std::unique_ptr<ProtocolHost>> ProtocolHost::Create(ProtocolHostOptions options,
                                                                   std::unique_ptr<RecordStore> record_store) {
  if (options.compute_threads < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at least one compute thread, got ", options.compute_threads));
  }
  auto parts = std::make_unique<Parts>(std::move(options), std::move(record_store));
  absl::Status status = parts->OpenRecords();
  if (status.ok()) status = parts->OpenTransport();
  if (status.ok()) status = parts->OpenWorkerServer();
  if (!status.ok()) return status;
  return std::unique_ptr<ProtocolHost>(new ProtocolHost(std::move(parts)));
}

ProtocolHost::ProtocolHost(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ProtocolHost::~ProtocolHost() { parts_->requests_of_workers->Close(absl::UnavailableError("the node has stopped")); }

const std::string& ProtocolHost::bound_address() const { return parts_->transport->bound_address(); }

int ProtocolHost::bound_port() const {
  const std::string& address = bound_address();
  int port = 0;
  BANYAN_CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

StoredRecords ProtocolHost::TakeRecords() { return std::exchange(parts_->records, StoredRecords()); }

absl::Status ProtocolHost::Run(std::unique_ptr<Protocol> protocol) {
  Driver driver(*protocol, *parts_);
  const absl::Status status = driver.Run();
  parts_->requests_of_workers->Close(EndForWorkers(status));
  parts_->CloseWorkerServer();
  return status;
}

void ProtocolHost::RequestStop() { parts_->queue->RequestStop(); }

void ProtocolHost::Wake() { parts_->queue->Post(DeadlineReached{}); }

std::shared_ptr<SessionPort> ProtocolHost::NewLocalPort() {
  return std::make_shared<LocalPort>(
      [this](WorkerConnection::Reply reply) { return parts_->NewWorkerConnection(std::move(reply)); });
}

Traffic ProtocolHost::traffic() const { return parts_->transport->counters().Get(); }

int64_t ProtocolHost::worker_segment_bytes() const { return parts_->budget->used_bytes(); }

}  // namespace banyan
