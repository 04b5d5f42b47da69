#include "runtime/c_api/session_handle.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/c_api/c_values.h"

namespace banyan {
namespace {

static_assert(static_cast<int>(DataType::kFloat16) == BANYAN_FLOAT16);
static_assert(static_cast<int>(DataType::kBFloat16) == BANYAN_BFLOAT16);
static_assert(static_cast<int>(DataType::kFloat64) == BANYAN_FLOAT64);
static_assert(static_cast<int>(DataType::kInt32) == BANYAN_INT32);
static_assert(static_cast<int>(DataType::kInt64) == BANYAN_INT64);
static_assert(static_cast<int>(DataType::kFloat64Max) == BANYAN_FLOAT64_MAX);
static_assert(static_cast<int>(DataType::kInt32Min) == BANYAN_INT32_MIN);
static_assert(static_cast<int>(kLastElementType) == BANYAN_INT64_PRODUCT);

// In a form that clocks can add to the time.
constexpr absl::Duration kForever = absl::Hours(24 * 365);

std::chrono::nanoseconds Bounded(absl::Duration timeout) {
  return absl::ToChronoNanoseconds(std::clamp(timeout, absl::ZeroDuration(), kForever));
}

}  // namespace

CompletionQueue::CompletionQueue() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CompletionQueue::~CompletionQueue() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CompletionQueue::Add(End end) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_.push_back(end);
    if (ends_.size() == 1) (void)eventfd_write(descriptor_, 1);
  }
  changed_.notify_one();
}

void CompletionQueue::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    // Who polls shall hear of it too.
    (void)eventfd_write(descriptor_, 1);
  }
  changed_.notify_all();
}

absl::StatusOr<std::vector<CompletionQueue::End>> CompletionQueue::Take(size_t capacity, absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  const absl::Duration bounded = std::clamp(timeout, absl::ZeroDuration(), kForever);
  const auto is_over = [this] { return closed_ || !ends_.empty(); };
  if (!changed_.wait_for(lock, absl::ToChronoNanoseconds(bounded), is_over)) {
    return absl::DeadlineExceededError("no operation with a tag has ended meanwhile");
  }
  if (ends_.empty()) return absl::CancelledError("the session is closed, and all its operations have been reported");
  const size_t count = std::min(capacity, ends_.size());
  std::vector<End> taken(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(count));
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(count));
  eventfd_t told = 0;
  if (ends_.empty() && !closed_) (void)eventfd_read(descriptor_, &told);
  return taken;
}

bool TicketRecord::Poll(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex);
  return changed.wait_for(lock, Bounded(timeout), [this] { return ended; });
}

SessionHandle::SessionHandle(std::unique_ptr<Session> session)
    : node_name_(session->node_name()),
      aggregation_op_(session->aggregation_op()),
      may_leave_out_(session->may_leave_out()),
      queue_(std::make_shared<CompletionQueue>()),
      session_(std::move(session)) {}

SessionHandle::~SessionHandle() { (void)Close(absl::InfiniteDuration()); }

CompletionQueue* SessionHandle::queue() const { return home_.IsHere() ? queue_.get() : nullptr; }

absl::Status SessionHandle::Use(absl::FunctionRef<absl::Status(Session& session)> use) {
  if (absl::Status here = home_.Check("session"); !here.ok()) return here;
  Session* session = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closing_) return absl::CancelledError("the session is closed");
    session = session_.get();
    ++users_;
  }
  absl::Status status = use(*session);
  std::lock_guard<std::mutex> lock(mutex_);
  if (--users_ == 0) changed_.notify_all();
  return status;
}

DoneCallback SessionHandle::CallbackOf(const banyan_call_options& options, std::shared_ptr<TicketRecord> record) const {
  return [options, queue = queue_, record = std::move(record)](const absl::Status& status) {
    const int code = static_cast<int>(status.code());
    {
      std::lock_guard<std::mutex> lock(record->mutex);
      record->ended = true;
    }
    record->changed.notify_all();
    if (options.tag != 0) queue->Add({.tag = options.tag, .code = code});
    if (options.done != nullptr) options.done(options.context, code, std::string(status.message()).c_str());
  };
}

int SessionHandle::Start(const banyan_call_options* options, banyan_ticket** ticket,
                         absl::FunctionRef<Ticket(Session& session, PushOptions options, DataType type)> start) {
  const absl::StatusOr<banyan_call_options> read = ReadSized(options, "banyan_call_options");
  if (!read.ok()) return Report(read.status());
  if (read->type < 0 || read->type > static_cast<int32_t>(kLastElementType)) {
    return Report(absl::InvalidArgumentError(absl::StrCat("banyan_call_options.type: expected a banyan_type, 0 to ",
                                                          static_cast<int>(kLastElementType), ", got ", read->type)));
  }
  const auto type = static_cast<DataType>(read->type);
  return Report(Use([&](Session& session) {
    auto record = std::make_shared<TicketRecord>();
    record->ticket = start(session, {.priority = read->priority, .on_done = CallbackOf(*read, record)}, type);
    if (ticket != nullptr) *ticket = new banyan_ticket{std::move(record)};
    return absl::OkStatus();
  }));
}

absl::Status SessionHandle::Close(absl::Duration timeout, bool in_order) {
  if (!home_.IsHere()) return absl::OkStatus();
  std::unique_ptr<Session> session;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    closing_ = true;
    if (Session* const open = session_.get(); open != nullptr) {
      // Calls of other threads end by it.
      ++users_;
      lock.unlock();
      in_order ? open->Close() : open->Abandon();
      lock.lock();
      if (--users_ == 0) changed_.notify_all();
    }
    if (!changed_.wait_for(lock, Bounded(timeout), [this] { return users_ == 0; })) {
      return absl::DeadlineExceededError("other threads are in calls of this session; close it again");
    }
    session = std::move(session_);
  }
  session.reset();
  queue_->Close();
  return absl::OkStatus();
}

}  // namespace banyan
