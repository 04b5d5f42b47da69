#include "bench/training_steps.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "posix/steady_clock.h"
#include "runtime/local_updates/local_updates.h"
#include "topology/advice/training_forecast.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Hours(1);
constexpr absl::Duration kFlushTime = absl::Seconds(10);
// For a result that is there already.
constexpr absl::Duration kLeastWait = absl::Milliseconds(1);
constexpr char kAttach[] = "attach";
constexpr char kDiLoCo[] = "diloco";
constexpr char kStreaming[] = "streaming";

// What keeps steps as long as they are told to be: one that wakes up late does not delay those after it.
// Thread-compatible.
class StepClock {
 public:
  void Compute(double seconds) {
    done_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::this_thread::sleep_until(done_);
  }
  // Called when steps have waited for others.
  void Restart() { done_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point done_ = Clock::now();
};

// The next parts of `values`, of at most so many elements each.
std::vector<absl::Span<float>> PartsOf(absl::Span<float> values, size_t most) {
  std::vector<absl::Span<float>> parts;
  for (size_t first = 0; first < values.size(); first += most) parts.push_back(values.subspan(first, most));
  return parts;
}

// One way to train. Thread-compatible.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual absl::Status Begin() = 0;
  // Computes for so many seconds, and synchronises what is due.
  virtual absl::Status Step(double seconds) = 0;
  virtual absl::Status Finish() = 0;
  void Restart() { clock_.Restart(); }

 protected:
  StepClock clock_;
};

class AttachTrainer : public Trainer {
 public:
  AttachTrainer(Session& session, absl::Span<float> model)
      : session_(session), groups_(PartsOf(model, kAttachGroupElements)) {}

  absl::Status Begin() override {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (absl::Status status = session_.Init(KeyOf(i), groups_[i], groups_[i]).Wait(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Step(double seconds) override {
    std::vector<Ticket> tickets;
    clock_.Compute(kForwardPart * seconds);
    for (size_t i = 0; i < groups_.size(); ++i) {
      clock_.Compute((1 - kForwardPart) * seconds / static_cast<double>(groups_.size()));
      tickets.push_back(session_.PushPull(KeyOf(i), groups_[i], groups_[i]));
    }
    absl::Status status;
    for (Ticket& ticket : tickets) status.Update(ticket.Wait());
    clock_.Restart();
    return status;
  }

  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  static std::string KeyOf(size_t group) { return absl::StrCat("gradients/", group); }

  Session& session_;
  const std::vector<absl::Span<float>> groups_;
};

class LocalTrainer : public Trainer {
 public:
  LocalTrainer(Session& session, absl::Span<float> model, const TrainingSteps& steps)
      : session_(session), model_(model), options_(DiLoCo(steps.steps_per_sync)) {
    if (steps.method == kDiLoCo) return;
    fragments_ = std::min(kStreamingFragments, steps.steps_per_sync);
    options_.fragment_sync_delay = steps.steps_per_sync / fragments_ - 1;
    options_.fragment_update_alpha = 0.5;
  }

  absl::Status Begin() override {
    std::vector<std::vector<ModelTensor>> fragments;
    const size_t most = (model_.size() + static_cast<size_t>(fragments_) - 1) / static_cast<size_t>(fragments_);
    for (const absl::Span<float> part : PartsOf(model_, most)) fragments.push_back({{"values", TensorView(part)}});
    absl::StatusOr<std::unique_ptr<LocalUpdates>> updates =
        LocalUpdates::Begin(session_, std::move(fragments), options_);
    if (updates.ok()) updates_ = *std::move(updates);
    return updates.status();
  }

  absl::Status Step(double seconds) override {
    clock_.Compute(seconds);
    const absl::Duration waited = updates_->waited();
    absl::Status status = updates_->Step();
    if (updates_->waited() - waited > kLeastWait) clock_.Restart();
    return status;
  }

  absl::Status Finish() override { return updates_->Flush(kFlushTime); }

 private:
  Session& session_;
  const absl::Span<float> model_;
  LocalUpdateOptions options_;
  int64_t fragments_ = 1;
  std::unique_ptr<LocalUpdates> updates_;
};

absl::Status Train(Trainer& trainer, int64_t steps, double seconds) {
  absl::Status status;
  for (int64_t i = 0; status.ok() && i < steps; ++i) status = trainer.Step(seconds);
  return status;
}

absl::Status TrainRounds(RoundBarrier& barrier, const AllReduceMember& member, Trainer& trainer,
                         const TrainingSteps& steps) {
  for (int64_t round = 1;; ++round) {
    const double seconds = round == 1 ? 0 : steps.step_seconds;
    barrier.Arrive(member.rank, round);
    if (!barrier.AwaitOpening(round, kPatience)) return trainer.Finish();
    trainer.Restart();
    absl::Status status = Train(trainer, steps.steps_per_sync, seconds);
    RoundSpan span;
    span.start_ns = SteadyNow().nanoseconds();
    status.Update(Train(trainer, steps.syncs * steps.steps_per_sync, seconds));
    span.end_ns = SteadyNow().nanoseconds();
    if (!status.ok()) return status;
    barrier.End(member.rank, round, span);
    if (!barrier.AwaitAllEnded(round, kPatience)) return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<TrainingSteps> ParseTrainingSteps(const std::vector<std::string>& words) {
  TrainingSteps steps;
  const bool has_all = words.size() == 4 && absl::SimpleAtoi(words[1], &steps.steps_per_sync) &&
                       absl::SimpleAtod(words[2], &steps.step_seconds) && absl::SimpleAtoi(words[3], &steps.syncs);
  if (has_all) steps.method = words[0];
  const bool is_known = steps.method == kAttach || steps.method == kDiLoCo || steps.method == kStreaming;
  if (is_known && steps.steps_per_sync >= 1 && steps.step_seconds >= 0 && steps.syncs >= 1) return steps;
  return absl::InvalidArgumentError(
      absl::StrCat("expected attach, diloco or streaming, steps, seconds and synchronisations, got '",
                   absl::StrJoin(words, " "), "'"));
}

absl::Status RunTrainingSteps(RoundBarrier& barrier, const AllReduceMember& member, Session& session, int64_t elements,
                              const TrainingSteps& steps) {
  std::vector<float> model(static_cast<size_t>(elements));
  FillValues(member.rank, 1, absl::MakeSpan(model));
  std::unique_ptr<Trainer> trainer;
  if (steps.method == kAttach) {
    trainer = std::make_unique<AttachTrainer>(session, absl::MakeSpan(model));
  } else {
    trainer = std::make_unique<LocalTrainer>(session, absl::MakeSpan(model), steps);
  }
  if (absl::Status status = trainer->Begin(); !status.ok()) return status;
  return TrainRounds(barrier, member, *trainer, steps);
}

}  // namespace banyan
