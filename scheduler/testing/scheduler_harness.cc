#include "scheduler/testing/scheduler_harness.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {

SchedulerHarness::SchedulerHarness(OverlayConfig overlay, StoredRecords stored, size_t least_tail_bytes)
    : SchedulerHarness(
          std::move(overlay),
          SchedulerOptions{stored, StartId(stored.snapshot.size() + stored.tail.size() + 1), least_tail_bytes}) {}

SchedulerHarness::SchedulerHarness(OverlayConfig overlay, SchedulerOptions options)
    : core_(std::make_unique<SchedulerCore>(std::move(overlay), options)), stored_(std::move(options.stored)) {
  for (const std::string& record : stored_.tail) tail_bytes_ += record.size();
  Step(Started{});
}

SchedulerHarness::~SchedulerHarness() = default;

void SchedulerHarness::Step(Event event) { Carry(core_->Step(now_, std::move(event))); }

void SchedulerHarness::Receive(ConnectionId connection, Message message) {
  Step(MessageReceived{connection, std::move(message), {}});
}

void SchedulerHarness::Advance(absl::Duration duration, const std::vector<int>& alive) {
  const Timestamp end = now_ + duration;
  Timestamp next_beat = now_ + absl::Seconds(1);
  while (true) {
    const Timestamp next = std::min({end, next_beat, core_->NextDeadline()});
    now_ = std::max(now_, next);
    if (core_->NextDeadline() <= now_) {
      Step(DeadlineReached{});
    } else if (next_beat <= now_) {
      for (const int node : alive) Receive(node, Heartbeat{now_});
      next_beat = next_beat + absl::Seconds(1);
    } else {
      return;
    }
  }
}

void SchedulerHarness::JoinAll(int count) {
  for (int node = 1; node <= count; ++node) Receive(node, JoinOf(node));
}

void SchedulerHarness::StartJob(int count) {
  JoinAll(count);
  ForgetSent();
}

KeyId SchedulerHarness::AddKey(const std::string& name, int64_t elements) {
  Receive(1, RegisterKeys{{{name, elements}}});
  const std::vector<KeysAssigned> assigned = Sent<KeysAssigned>(1);
  EXPECT_FALSE(assigned.empty());
  return assigned.back().keys.back().key;
}

void SchedulerHarness::CloseRound(KeyId key, Round round, int count, uint64_t hash) {
  for (int node = 1; node <= count; ++node) Receive(node, RoundsClosed{{{key, round, hash}}});
}

void SchedulerHarness::BeginEpoch(const std::vector<int>& alive) { Advance(2 * kMembershipBatch, alive); }

void SchedulerHarness::ReportProgress(const std::vector<int>& nodes, Round next, uint32_t keys) {
  for (const int node : nodes) {
    const std::vector<EpochBegin> begun = Sent<EpochBegin>(node);
    ASSERT_FALSE(begun.empty()) << "node " << node;
    EpochReport report;
    report.epoch = begun.back().epoch;
    if (keys > 0) report.progress = {{KeyId(1), KeyId(keys), next}};
    Receive(node, report);
  }
}

void SchedulerHarness::PersistWaiting() {
  while (!waiting_records_.empty()) {
    const RecordId id = waiting_records_.front().record;
    Store(std::move(waiting_records_.front()));
    waiting_records_.pop_front();
    Step(RecordPersisted{id});
  }
}

void SchedulerHarness::Store(PersistRecord record) {
  if (record.is_snapshot) {
    stored_ = StoredRecords{std::move(record.bytes), {}, ""};
    tail_bytes_ = 0;
  } else {
    tail_bytes_ += record.bytes.size();
    history_.push_back(record.bytes);
    stored_.tail.push_back(std::move(record.bytes));
  }
}

void SchedulerHarness::ComputeWaiting() {
  for (StartComputation& started : std::exchange(waiting_computations_, {})) {
    started.computation->Run();
    Step(ComputationFinished{started.id, std::move(started.computation)});
  }
}

bool SchedulerHarness::HasLog(const std::string& part) const {
  return std::any_of(logs_.begin(), logs_.end(),
                     [&part](const LogLine& line) { return line.text.find(part) != std::string::npos; });
}

void SchedulerHarness::Carry(Actions actions) {
  for (Action& action : actions) {
    if (auto* send = std::get_if<Send>(&action); send != nullptr) {
      ExpectReadable(send->message);
      if (const auto* begin = std::get_if<EpochBegin>(&send->message); begin != nullptr) epoch_ = begin->epoch;
      sent_[send->connection].push_back(std::move(send->message));
    } else if (auto* record = std::get_if<PersistRecord>(&action); record != nullptr) {
      waiting_records_.push_back(std::move(*record));
    } else if (auto* started = std::get_if<StartComputation>(&action); started != nullptr) {
      waiting_computations_.push_back(std::move(*started));
    } else if (auto* line = std::get_if<LogLine>(&action); line != nullptr) {
      logs_.push_back(std::move(*line));
    } else if (auto* stop = std::get_if<Stop>(&action); stop != nullptr) {
      stopped_ = stop->status;
    } else if (auto* admit = std::get_if<Admit>(&action); admit != nullptr) {
      admitted_ = std::move(admit->keys);
    }
  }
  if (persists) PersistWaiting();
  if (computes) ComputeWaiting();
}

}  // namespace banyan
