#include "runtime/workers/worker_channel.h"

#include <utility>

#include "posix/unix_socket.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

constexpr size_t kMaxWaiting = 262144;

}  // namespace

WorkerChannel::WorkerChannel(FileDescriptor socket, std::function<void()> wake)
    : socket_(std::move(socket)), wake_(std::move(wake)) {}

void WorkerChannel::Send(const WorkerReply& reply, std::shared_ptr<TensorSegment> segment) {
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

bool WorkerChannel::SendNow(const Waiting& waiting) {
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

void WorkerChannel::Flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!waiting_.empty() && SendNow(waiting_.front())) waiting_.pop_front();
  if (broken_) waiting_.clear();
}

bool WorkerChannel::wants_write() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !waiting_.empty();
}

bool WorkerChannel::broken() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return broken_;
}

}  // namespace banyan
