#include "runtime/workers/worker_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/ids.h"
#include "posix/process_limits.h"
#include "posix/steady_clock.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

constexpr int kBatch = 64;
// A worker that goes on sending what makes no sense is cut off.
constexpr int kMaxMalformed = 100;
// How long a process without free descriptors or memory waits before it accepts again.
constexpr absl::Duration kLackPause = absl::Milliseconds(100);

void Wake(const FileDescriptor& wakeup) {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the reader wakes anyway.
  (void)!write(wakeup.get(), &one, sizeof(one));
}

constexpr size_t kMaxWaiting = 262144;

}  // namespace

// ---- sending ----

// The node's end of one worker's socket: sends replies from any thread without ever blocking.
//
// Thread-safe but for Flush and fd, which are the server thread's. Shared by the server and by the worker's connection,
// which may still have a reply after the server has gone.
class WorkerServer::Channel {
 public:
  // `wake` makes the server look at wants_write and broken again; it is called on any thread.
  Channel(FileDescriptor socket, std::function<void()> wake);

  void Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment);
  // Sends what has waited for room.
  void Flush();
  bool wants_write() const;
  // The worker has gone, or has not read for so long that the bound on what waits is reached.
  bool broken() const;
  int fd() const { return socket_.get(); }

 private:
  struct Waiting {
    std::string bytes;
    std::shared_ptr<TensorSegment> segment;  // shared: its descriptor is closed once it has been passed on
  };

  // False when there is no room. The mutex is held.
  bool SendNow(const Waiting& waiting);

  const FileDescriptor socket_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool broken_ = false;          // guarded by mutex_
};

WorkerServer::Channel::Channel(FileDescriptor socket, std::function<void()> wake)
    : socket_(std::move(socket)), wake_(std::move(wake)) {}

void WorkerServer::Channel::Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment) {
  Waiting waiting{EncodeWorkerReply(reply), std::move(segment)};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_) return;
    if (waiting_.empty() && SendNow(waiting)) return;
    if (waiting_.size() >= kMaxWaiting) broken_ = true;
    if (!broken_) waiting_.push_back(std::move(waiting));
  }
  wake_();
}

bool WorkerServer::Channel::SendNow(const Waiting& waiting) {
  const int file = waiting.segment ? waiting.segment->fd() : -1;
  const PacketResult result = SendPacket(socket_.get(), waiting.bytes, file, /*may_block=*/false);
  if (result == PacketResult::kWouldBlock) return false;
  if (result == PacketResult::kClosed) {
    broken_ = true;
    return false;
  }
  if (waiting.segment) waiting.segment->CloseFile();
  return true;
}

void WorkerServer::Channel::Flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!waiting_.empty() && SendNow(waiting_.front())) waiting_.pop_front();
  if (broken_) waiting_.clear();
}

bool WorkerServer::Channel::wants_write() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !waiting_.empty();
}

bool WorkerServer::Channel::broken() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return broken_;
}

// ---- the server ----

absl::StatusOr<std::unique_ptr<WorkerServer>> WorkerServer::Listen(const std::string& address, const std::string& group,
                                                                   MakeConnection make, TrafficCounters& counters,
                                                                   Warn warn, absl::Duration attach_within) {
  absl::StatusOr<std::string> path = UnixPathOf(address);
  if (!path.ok()) return path.status();
  absl::StatusOr<FileDescriptor> listener = ListenOnUnix(*path, {.has_group = true, .group = group});
  if (!listener.ok()) return listener.status();
  return std::make_unique<WorkerServer>(*std::move(listener), *std::move(path), std::move(make), counters,
                                        std::move(warn), attach_within);
}

WorkerServer::WorkerServer(FileDescriptor listener, std::string path, MakeConnection make, TrafficCounters& counters,
                           Warn warn, absl::Duration attach_within)
    : listener_(std::move(listener)),
      path_(std::move(path)),
      file_(FindSocketFile(path_)),
      attach_within_(attach_within),
      make_(std::move(make)),
      counters_(counters),
      warn_(std::move(warn)),
      wakeup_(std::make_shared<FileDescriptor>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  BANYAN_CHECK(wakeup_->valid());
}

WorkerServer::~WorkerServer() {
  stopping_ = true;
  Wake(*wakeup_);
  if (thread_.joinable()) thread_.join();
  for (Worker& worker : workers_) {
    worker.channel->Flush();
    worker.connection->Close();
    // Replies may still hold the channel; the worker shall see the end now.
    shutdown(worker.channel->fd(), SHUT_RDWR);
  }
  RemoveSocketFile(path_, file_);
}

void WorkerServer::Start() {
  thread_ = std::thread([this] { Work(); });
}

void WorkerServer::Work() {
  while (!stopping_) {
    Wait();
    for (Worker& worker : workers_) {
      worker.channel->Flush();
      Read(worker);
      const Timestamp now = SteadyNow();
      if (worker.connection->IsAttaching()) worker.attach_until = now + attach_within_;
      if (!worker.connection->AttachedWorker().has_value() && now >= worker.attach_until) worker.ended = true;
      if (!worker.ended && !worker.channel->broken()) continue;
      worker.ended = true;
      worker.connection->Close();
      shutdown(worker.channel->fd(), SHUT_RDWR);
    }
    workers_.remove_if([](const Worker& worker) { return worker.ended; });
    Accept();
  }
}

void WorkerServer::Wait() {
  std::vector<pollfd> items;
  Timestamp until = is_lacking_ ? SteadyNow() + kLackPause : kNever;
  items.push_back({wakeup_->get(), POLLIN, 0});
  for (const Worker& worker : workers_) {
    const int out = worker.channel->wants_write() ? POLLOUT : 0;
    items.push_back({worker.channel->fd(), static_cast<short>(POLLIN | out), 0});
    items.push_back({worker.process.get(), POLLIN, 0});  // poll passes over an invalid one
    if (!worker.connection->AttachedWorker().has_value()) until = std::min(until, worker.attach_until);
  }
  const bool accepting = workers_.size() < kMaxWorkersPerNode && !is_lacking_;
  if (accepting) items.push_back({listener_.get(), POLLIN, 0});
  const absl::Duration pause = std::max(until - SteadyNow(), absl::ZeroDuration());
  poll(items.data(), items.size(), until == kNever ? -1 : static_cast<int>(absl::ToInt64Milliseconds(pause)) + 1);
  uint64_t count = 0;
  (void)!read(wakeup_->get(), &count, sizeof(count));
}

void WorkerServer::Accept() {
  while (workers_.size() < kMaxWorkersPerNode) {
    FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return OnRefused(errno);
    is_lacking_ = false;
    Worker worker;
    worker.process = WatchPeerProcess(socket.get());
    worker.attach_until = SteadyNow() + attach_within_;
    const pid_t process = PeerProcess(socket.get());
    worker.channel = std::make_shared<Channel>(std::move(socket), [wakeup = wakeup_] { Wake(*wakeup); });
    worker.connection = make_([channel = worker.channel](WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
      channel->Send(reply, std::move(segment));
    });
    if (process > 0) worker.connection->SetProcess(absl::StrCat("process ", process));
    workers_.push_back(std::move(worker));
  }
}

void WorkerServer::OnRefused(int error) {
  const bool is_lacking = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  if (is_lacking && !is_lacking_) {
    warn_(absl::StrCat("a worker that connects to ", path_, " has to wait: ", std::strerror(error),
                       error == EMFILE ? absl::StrCat("; ", DescriptorAdvice()) : ""));
  }
  is_lacking_ = is_lacking;
}

void WorkerServer::Read(Worker& worker) {
  // What it said before its end is heard.
  const bool is_last = HasEnded(worker.process);
  Packet packet;
  for (int i = 0; i < kBatch && !worker.ended; ++i) {
    const PacketResult result =
        ReceivePacket(worker.channel->fd(), kMaxSessionMessageBytes, /*may_block=*/false, packet);
    if (result == PacketResult::kClosed || (result == PacketResult::kWouldBlock && is_last)) worker.ended = true;
    if (result != PacketResult::kDone) return;
    Take(worker, packet);
  }
}

void WorkerServer::Take(Worker& worker, Packet& packet) {
  absl::Status status;
  if (packet.truncated) {
    status = absl::InvalidArgumentError(absl::StrCat("expected at most ", kMaxSessionMessageBytes, " bytes, got more"));
  } else if (absl::StatusOr<WorkerMessage> message = DecodeWorkerMessage(packet.bytes); !message.ok()) {
    status = message.status();
  } else {
    status = worker.connection->Receive(*message);
    // The worker knows best which process it is: not every kernel tells, and none the number in another namespace.
    if (packet.file.valid() && std::holds_alternative<AttachWorker>(*message)) worker.process = std::move(packet.file);
  }
  if (status.ok()) return;
  counters_.CountRejectedWorkerMessage();
  worker.channel->Send(WorkerMessageRejected{status}, nullptr);
  if (++worker.malformed >= kMaxMalformed) worker.ended = true;
}

}  // namespace banyan
