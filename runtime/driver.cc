#include "runtime/driver.h"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "posix/memory_limit.h"
#include "posix/steady_clock.h"

namespace banyan {
namespace {

// Brief computations before the sockets are looked at again, and bytes on which they work: together well below a
// millisecond.
constexpr int kBriefInARow = 16;
constexpr int64_t kBriefBytesInARow = int64_t{2} << 20;

}  // namespace

Driver::Driver(Protocol& protocol, Surroundings surroundings)
    : protocol_(protocol), surroundings_(std::move(surroundings)), now_(SteadyNow()) {}

absl::Status Driver::Run() {
  try {
    return RunToEnd();
  } catch (const std::bad_alloc&) {
    // The core may be in the middle of a step: it cannot go on.
    return OutOfMemory();
  }
}

absl::Status Driver::RunToEnd() {
  Step(Started{});
  std::vector<Event> events;
  while (!stopped_) {
    const Timestamp deadline =
        brief_.empty() ? std::min({protocol_.NextDeadline(), stop_deadline_, LeadsUntil()}) : now_;
    if (surroundings_.transport->Wait(surroundings_.queue->fd(), deadline)) surroundings_.queue->ClearWakeup();
    const Timestamp now = SteadyNow();
    if (absl::Status failure = surroundings_.queue->failure(); !failure.ok()) return failure;
    if (now >= LeadsUntil()) return surroundings_.leadership->WhyLost();
    // What was posted before the stop was requested comes before it.
    const bool stop_requested = surroundings_.queue->stop_requested();
    events = surroundings_.queue->Take();
    StepAll(events);
    if (stop_requested) RequestStop(now);
    surroundings_.transport->Collect(SteadyNow(), events);
    StepAll(events);
    RunBriefComputations();
    if (!stopped_ && SteadyNow() >= protocol_.NextDeadline()) Step(DeadlineReached{});
    if (!stopped_ && now >= stop_deadline_) {
      return absl::DeadlineExceededError(
          absl::StrCat("did not stop within ", absl::FormatDuration(surroundings_.stop_timeout)));
    }
  }
  return *stopped_;
}

Timestamp Driver::LeadsUntil() const {
  return surroundings_.leadership == nullptr ? kNever : surroundings_.leadership->LeadsUntil();
}

void Driver::RequestStop(Timestamp now) {
  if (std::exchange(told_to_stop_, true)) return;
  stop_deadline_ = now + surroundings_.stop_timeout;
  if (!stopped_) Step(StopRequested{});
}

void Driver::StepAll(std::vector<Event>& events) {
  for (Event& event : events) {
    if (stopped_) break;
    if (!IsStale(event)) Step(std::move(event));
  }
  events.clear();
}

void Driver::RunBriefComputations() {
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
bool Driver::IsStale(const Event& event) const {
  const auto closed = [this](ConnectionId connection) { return !surroundings_.transport->Exists(connection); };
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

void Driver::Step(Event event) {
  now_ = std::max(now_, SteadyNow());
  // The process may have stood still since the last look: what it would say now, another one may have said otherwise.
  if (now_ >= LeadsUntil()) {
    stopped_ = surroundings_.leadership->WhyLost();
    return;
  }
  Actions actions = protocol_.Step(now_, std::move(event));
  for (Action& action : actions) {
    std::visit([this](auto& alternative) { Carry(std::move(alternative)); }, action);
  }
}

void Driver::Carry(Connect action) { surroundings_.transport->Connect(action, now_); }

void Driver::Carry(Disconnect action) { surroundings_.transport->Disconnect(action, now_); }

void Driver::Carry(Renew action) { surroundings_.transport->Renew(action, now_); }

void Driver::Carry(Pace action) { surroundings_.transport->SetPace(action); }

void Driver::Carry(Send action) { surroundings_.transport->Send(action, now_); }

void Driver::Carry(StartComputation action) {
  if (action.computation->size_bytes() <= surroundings_.brief_bytes) return brief_.push_back(std::move(action));
  surroundings_.pool->Compute(action.id, std::move(action.computation), surroundings_.queue);
}

void Driver::Carry(WriteResult action) { surroundings_.gate->Write(std::move(action)); }

void Driver::Carry(CompleteRequest action) { surroundings_.gate->Complete(std::move(action)); }

void Driver::Carry(TellRoundComplete action) { surroundings_.gate->Tell(action); }

void Driver::Carry(TellJobEnded action) { surroundings_.gate->Tell(action); }

void Driver::Carry(AskWorker action) { surroundings_.gate->Ask(action.task); }

void Driver::Carry(PersistRecord action) {
  if (surroundings_.record_writer != nullptr) {
    surroundings_.record_writer->Write(std::move(action));
  } else {
    surroundings_.queue->Post(RecordPersisted{action.record});
  }
}

void Driver::Carry(LogLine action) {
  if (surroundings_.log) surroundings_.log(action.level, action.text);
}

void Driver::Carry(Admit action) { surroundings_.transport->Admit(std::move(action.keys), now_); }

void Driver::Carry(Stop action) { stopped_ = std::move(action.status); }

}  // namespace banyan
