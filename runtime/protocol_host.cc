#include "runtime/protocol_host.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "runtime/compute_pool.h"
#include "runtime/driver.h"
#include "runtime/event_queue.h"
#include "runtime/records/record_writer.h"
#include "runtime/session/local_port.h"
#include "runtime/transport/transport.h"
#include "runtime/workers/segment_budget.h"
#include "runtime/workers/worker_connection.h"
#include "runtime/workers/worker_gate.h"
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
        gate(std::make_shared<WorkerGate>(queue, pool)) {}

  absl::Status OpenRecords();
  absl::Status OpenTransport();
  absl::Status OpenWorkerServer();
  std::shared_ptr<WorkerConnection> NewWorkerConnection(WorkerConnection::Reply reply);
  void Log(LogLevel level, absl::string_view text) const;

  std::unique_ptr<RecordStore> record_store;  // until the record writer has it
  const ProtocolHostOptions options;
  const std::shared_ptr<EventQueue> queue;      // shared with threads that may post late
  const std::shared_ptr<SegmentBudget> budget;  // shared with memory that outlives this
  ComputePool pool;
  const std::shared_ptr<WorkerGate> gate;  // shared with workers' connections
  StoredRecords records;
  std::unique_ptr<RecordWriter> record_writer;
  std::unique_ptr<Transport> transport;
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
  worker_server->Start();
  return absl::OkStatus();
}

std::shared_ptr<WorkerConnection> ProtocolHost::Parts::NewWorkerConnection(WorkerConnection::Reply reply) {
  return std::make_shared<WorkerConnection>(gate, budget, options.name, std::move(reply));
}

void ProtocolHost::Parts::Log(LogLevel level, absl::string_view text) const {
  if (options.log) options.log(level, text);
}

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

ProtocolHost::~ProtocolHost() { parts_->gate->Close(absl::UnavailableError("the node has stopped")); }

const std::string& ProtocolHost::bound_address() const { return parts_->transport->bound_address(); }

int ProtocolHost::bound_port() const {
  const std::string& address = bound_address();
  int port = 0;
  BANYAN_CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

StoredRecords ProtocolHost::TakeRecords() { return std::exchange(parts_->records, StoredRecords()); }

absl::Status ProtocolHost::Run(std::unique_ptr<Protocol> protocol) {
  Driver driver(*protocol, {.queue = parts_->queue,
                            .transport = parts_->transport.get(),
                            .pool = &parts_->pool,
                            .gate = parts_->gate.get(),
                            .record_writer = parts_->record_writer.get(),
                            .leadership = parts_->options.leadership,
                            .log = parts_->options.log,
                            .brief_bytes = parts_->options.brief_bytes,
                            .stop_timeout = parts_->options.stop_timeout});
  const absl::Status status = driver.Run();
  parts_->gate->Close(EndForWorkers(status));
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
