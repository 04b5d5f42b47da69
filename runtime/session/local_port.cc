#include "runtime/session/local_port.h"

#include <utility>

namespace banyan {

LocalPort::LocalPort(const MakeConnection& make)
    : mailbox_(std::make_shared<Mailbox>()),
      connection_(make([mailbox = mailbox_](WorkerReply reply, std::shared_ptr<TensorSegment> segment) {
        bool was_empty = false;
        {
          std::lock_guard<std::mutex> lock(mailbox->mutex);
          if (mailbox->closed) return;
          was_empty = mailbox->replies.empty();
          mailbox->replies.emplace_back(std::move(reply), std::move(segment));
        }
        // One that finds others is taken along with them.
        if (was_empty) mailbox->changed.notify_one();
      })) {}

LocalPort::~LocalPort() { Close(); }

void LocalPort::Start(Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  thread_ = std::thread([this] { Work(); });
}

absl::Status LocalPort::Send(const WorkerMessage& message) { return connection_->Receive(message); }

void LocalPort::Close() {
  connection_->Close();
  {
    std::lock_guard<std::mutex> lock(mailbox_->mutex);
    mailbox_->closed = true;
  }
  mailbox_->changed.notify_one();
  if (thread_.joinable()) thread_.join();
}

void LocalPort::Work() {
  std::unique_lock<std::mutex> lock(mailbox_->mutex);
  while (true) {
    mailbox_->changed.wait(lock, [this] { return mailbox_->closed || !mailbox_->replies.empty(); });
    if (mailbox_->closed) return;
    std::deque<Reply> replies = std::exchange(mailbox_->replies, {});
    lock.unlock();
    for (Reply& reply : replies) {
      // Nobody needs a descriptor within one process.
      if (reply.second) reply.second->CloseFile();
      callbacks_.reply(std::move(reply.first), std::move(reply.second));
    }
    replies.clear();
    lock.lock();
  }
}

}  // namespace banyan
