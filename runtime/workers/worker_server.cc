#include "runtime/workers/worker_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/ids.h"
#include "posix/process_limits.h"
#include "posix/steady_clock.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

// Messages of one worker before the others have their turn.
constexpr int kBatch = 64;
// What is left comes with the next Collect.
constexpr int kMostEvents = 64;
// A worker that goes on sending what makes no sense is cut off.
constexpr int kMaxMalformed = 100;
// How long a process without free descriptors or memory waits before it accepts again.
constexpr absl::Duration kLackPause = absl::Milliseconds(100);
constexpr size_t kMaxWaiting = 262144;

// What an epoll event is about: the listener, or the socket or the process of the worker with this number.
constexpr uint64_t kOfListener = 0;
uint64_t OfSocket(uint64_t worker) { return 2 * worker; }
uint64_t OfProcess(uint64_t worker) { return 2 * worker + 1; }
uint64_t WorkerOf(uint64_t about) { return about / 2; }
bool IsOfProcess(uint64_t about) { return about % 2 == 1; }

// REQUIRES: the descriptors are open. False where the system can watch no more.
bool Watch(const FileDescriptor& epoll, int operation, int fd, uint32_t events, uint64_t about) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = about;
  return epoll_ctl(epoll.get(), operation, fd, &event) == 0;
}

}  // namespace

// ---- sending ----

// The node's end of one worker's socket: sends replies from any thread without ever blocking. What finds no room waits
// until the server flushes it.
//
// Thread-safe but for Flush, End and fd, which are the server's. Shared by the server and by the worker's connection,
// which may still have a reply after the server has gone.
class WorkerServer::Channel {
 public:
  // `epoll` watches the socket, for events that are `about` it. Shared, as the channel outlives the server.
  Channel(FileDescriptor socket, std::shared_ptr<FileDescriptor> epoll, uint64_t about)
      : socket_(std::move(socket)), epoll_(std::move(epoll)), about_(about) {}

  void Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment);
  // Sends what has waited for room.
  void Flush();
  // Nothing is sent or heard any more, and the worker sees the end.
  void End();
  int fd() const { return socket_.get(); }

 private:
  struct Waiting {
    std::string bytes;
    std::shared_ptr<TensorSegment> segment;  // shared: its descriptor is closed once it has been passed on
  };

  // The mutex is held in these. SendNow returns false when there is no room.
  bool SendNow(const Waiting& waiting);
  void WatchForRoom(bool wants_room);

  const FileDescriptor socket_;
  const std::shared_ptr<FileDescriptor> epoll_;
  const uint64_t about_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  bool has_ended_ = false;       // guarded by mutex_
};

void WorkerServer::Channel::Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment) {
  Waiting waiting{EncodeWorkerReply(reply), std::move(segment)};
  std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return;
  if (waiting_.empty() && SendNow(waiting)) return;
  if (has_ended_) return;
  if (waiting_.size() >= kMaxWaiting) {
    // It has not read for very long. The server sees the end of the socket.
    has_ended_ = true;
    waiting_.clear();
    shutdown(socket_.get(), SHUT_RDWR);
    return;
  }
  if (waiting_.empty()) WatchForRoom(true);
  waiting_.push_back(std::move(waiting));
}

bool WorkerServer::Channel::SendNow(const Waiting& waiting) {
  const int file = waiting.segment ? waiting.segment->fd() : -1;
  const PacketResult result = SendPacket(socket_.get(), waiting.bytes, file, /*may_block=*/false);
  if (result == PacketResult::kWouldBlock) return false;
  if (result == PacketResult::kClosed) has_ended_ = true;
  if (result == PacketResult::kDone && waiting.segment) waiting.segment->CloseFile();
  return result == PacketResult::kDone;
}

void WorkerServer::Channel::WatchForRoom(bool wants_room) {
  (void)Watch(*epoll_, EPOLL_CTL_MOD, socket_.get(), EPOLLIN | (wants_room ? uint32_t{EPOLLOUT} : uint32_t{0}), about_);
}

void WorkerServer::Channel::Flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) return;
  while (!waiting_.empty() && SendNow(waiting_.front())) waiting_.pop_front();
  if (has_ended_) waiting_.clear();
  if (waiting_.empty()) WatchForRoom(false);
}

void WorkerServer::Channel::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  waiting_.clear();
  // Replies may still hold the channel, and so the socket: it is not watched any more, and the worker sees the end now.
  (void)epoll_ctl(epoll_->get(), EPOLL_CTL_DEL, socket_.get(), nullptr);
  shutdown(socket_.get(), SHUT_RDWR);
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
      epoll_(std::make_shared<FileDescriptor>(epoll_create1(EPOLL_CLOEXEC))) {
  BANYAN_CHECK(epoll_->valid() && Watch(*epoll_, EPOLL_CTL_ADD, listener_.get(), EPOLLIN, kOfListener));
}

WorkerServer::~WorkerServer() {
  for (auto& [number, worker] : workers_) {
    worker.channel->Flush();
    worker.connection->Close();
    worker.channel->End();
  }
  RemoveSocketFile(path_, file_);
}

void WorkerServer::Collect(Timestamp now) {
  std::array<epoll_event, kMostEvents> events;
  const int ready = epoll_wait(epoll_->get(), events.data(), kMostEvents, /*timeout=*/0);
  BANYAN_CHECK(ready >= 0 || errno == EINTR);
  bool has_newcomers = false;
  for (int i = 0; i < ready; ++i) {
    const uint64_t about = events[i].data.u64;
    if (about == kOfListener) {
      has_newcomers = true;
      continue;
    }
    const auto found = workers_.find(WorkerOf(about));
    if (found == workers_.end()) continue;
    Worker& worker = found->second;
    worker.process_has_ended |= IsOfProcess(about);
    worker.channel->Flush();
    Read(found->first, worker, now);
    if (worker.has_ended) End(found);
  }
  if (now >= look_at_) LookAtSilent(now);
  if (has_newcomers) Accept(now);
}

void WorkerServer::End(Workers::iterator ended) {
  ended->second.connection->Close();
  ended->second.channel->End();
  workers_.erase(ended);
  Listen(!is_lacking_);
}

void WorkerServer::LookAtSilent(Timestamp now) {
  look_at_ = kNever;
  if (is_lacking_) Listen(true);
  for (auto next = workers_.begin(); next != workers_.end();) {
    const auto found = next++;
    Worker& worker = found->second;
    if (worker.connection->AttachedWorker().has_value()) continue;
    // A refused one may try again.
    const bool was_attaching = std::exchange(worker.is_attaching, worker.connection->IsAttaching());
    if (was_attaching || worker.is_attaching) worker.attach_until = now + attach_within_;
    if (now >= worker.attach_until) {
      End(found);
    } else {
      look_at_ = std::min(look_at_, worker.attach_until);
    }
  }
}

void WorkerServer::Listen(bool is_listening) {
  (void)Watch(*epoll_, EPOLL_CTL_MOD, listener_.get(), is_listening ? uint32_t{EPOLLIN} : uint32_t{0}, kOfListener);
}

void WorkerServer::Accept(Timestamp now) {
  while (workers_.size() < kMaxWorkersPerNode) {
    FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) return OnRefused(errno, now);
    const uint64_t number = ++last_number_;
    Worker worker;
    worker.process = WatchPeerProcess(socket.get());
    worker.attach_until = now + attach_within_;
    const pid_t process = PeerProcess(socket.get());
    if (!Watch(*epoll_, EPOLL_CTL_ADD, socket.get(), EPOLLIN, OfSocket(number))) return OnRefused(errno, now);
    is_lacking_ = false;
    WatchProcess(number, worker);
    worker.channel = std::make_shared<Channel>(std::move(socket), epoll_, OfSocket(number));
    worker.connection = make_([channel = worker.channel](WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
      channel->Send(reply, std::move(segment));
    });
    if (process > 0) worker.connection->SetProcess(absl::StrCat("process ", process));
    look_at_ = std::min(look_at_, worker.attach_until);
    workers_.emplace(number, std::move(worker));
  }
  Listen(false);
}

void WorkerServer::WatchProcess(uint64_t number, const Worker& worker) {
  if (worker.process.valid()) (void)Watch(*epoll_, EPOLL_CTL_ADD, worker.process.get(), EPOLLIN, OfProcess(number));
}

void WorkerServer::OnRefused(int error, Timestamp now) {
  const bool is_lacking = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM || error == ENOSPC;
  if (is_lacking && !is_lacking_) {
    warn_(absl::StrCat("a worker that connects to ", path_, " has to wait: ", std::strerror(error),
                       error == EMFILE ? absl::StrCat("; ", DescriptorAdvice()) : ""));
  }
  is_lacking_ = is_lacking;
  if (!is_lacking) return;
  Listen(false);
  look_at_ = std::min(look_at_, now + kLackPause);
}

void WorkerServer::Read(uint64_t number, Worker& worker, Timestamp now) {
  Packet packet;
  for (int i = 0; i < kBatch && !worker.has_ended; ++i) {
    const PacketResult result =
        ReceivePacket(worker.channel->fd(), kMaxSessionMessageBytes, /*may_block=*/false, packet);
    // What it said before its end is heard.
    if (result == PacketResult::kClosed || (result == PacketResult::kWouldBlock && worker.process_has_ended)) {
      worker.has_ended = true;
    }
    if (result != PacketResult::kDone) return;
    Take(number, worker, packet, now);
  }
}

void WorkerServer::Take(uint64_t number, Worker& worker, Packet& packet, Timestamp now) {
  absl::Status status;
  if (packet.truncated) {
    status = absl::InvalidArgumentError(absl::StrCat("expected at most ", kMaxSessionMessageBytes, " bytes, got more"));
  } else if (absl::StatusOr<WorkerMessage> message = DecodeWorkerMessage(packet.bytes); !message.ok()) {
    status = message.status();
  } else {
    status = worker.connection->Receive(*message);
    if (std::holds_alternative<AttachWorker>(*message)) {
      worker.is_attaching = true;
      worker.attach_until = now + attach_within_;
      // The worker knows best which process it is: not every kernel tells, and none the number in another namespace.
      if (packet.file.valid()) {
        worker.process = std::move(packet.file);
        WatchProcess(number, worker);
      }
    }
  }
  if (status.ok()) return;
  counters_.CountRejectedWorkerMessage();
  worker.channel->Send(WorkerMessageRejected{status}, nullptr);
  if (++worker.malformed >= kMaxMalformed) worker.has_ended = true;
}

}  // namespace banyan
