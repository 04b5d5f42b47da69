#include "tools/demo/demo_progress.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"

namespace banyan {

absl::Status CheckTraining(const DemoProgress& progress, double least_accuracy) {
  if (!progress.replicas_identical()) {
    return absl::DataLossError("expected identical replicas, and the training processes ended with different ones");
  }
  const std::optional<double> accuracy = progress.accuracy();
  if (!accuracy.has_value()) {
    return absl::OutOfRangeError(absl::StrFormat(
        "expected a test accuracy of at least %.3f, and no training process measured one", least_accuracy));
  }
  if (*accuracy >= least_accuracy) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrFormat(
      "expected a test accuracy of at least %.3f (--least-accuracy), reached %.3f", least_accuracy, *accuracy));
}

DemoProgress::DemoProgress(int nodes, int workers, int64_t rounds)
    : nodes_(nodes), workers_(workers), rounds_(rounds), by_rank_(static_cast<size_t>(workers)) {
  BANYAN_CHECK(nodes > 0 && workers > 0);
}

int DemoProgress::failures() const {
  return std::accumulate(processes_.begin(), processes_.end(), 0,
                         [](int sum, const DemoProcess& process) { return sum + process.failures; });
}

absl::Status DemoProgress::Add(const TrainingProgress& progress) {
  const int rank = std::visit([](const auto& kind) { return kind.rank; }, progress);
  if (rank < 0 || rank >= workers_) {
    return absl::InvalidArgumentError(absl::StrCat("expected a worker from 0 to ", workers_ - 1, ", got ", rank));
  }
  if (const auto* round = std::get_if<RoundProgress>(&progress)) return AddRound(*round);
  return AddResult(std::get<TrainingResult>(progress));
}

absl::Status DemoProgress::AddRound(const RoundProgress& round) {
  Worker& worker = by_rank_[static_cast<size_t>(round.rank)];
  const bool is_known = round.round >= 1 && round.round <= finished_rounds_;
  if (is_known && worker.was_lost) return absl::OkStatus();
  if (is_known || round.round < 1 || round.round > rounds_) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", round.rank, ": expected a round from ",
                                                   finished_rounds() + 1, " to ", rounds_, ", got ", round.round));
  }
  if (worker.is_lost) worker.first_round = round.round;
  worker.is_lost = false;
  if (!open_[round.round].by_rank.emplace(round.rank, round).second && !worker.was_lost) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", round.rank, " reports round ", round.round, " twice"));
  }
  FinishRounds();
  return absl::OkStatus();
}

void DemoProgress::Lose(int rank) {
  BANYAN_CHECK(rank >= 0 && rank < workers_);
  by_rank_[static_cast<size_t>(rank)].is_lost = true;
  by_rank_[static_cast<size_t>(rank)].was_lost = true;
  was_anybody_lost_ = true;
  results_.erase(rank);
  FinishRounds();
}

bool DemoProgress::IsComplete(int64_t number, const OpenRound& round) const {
  for (int rank = 0; rank < workers_; ++rank) {
    const Worker& worker = by_rank_[static_cast<size_t>(rank)];
    const bool takes_part = !worker.is_lost && worker.first_round <= number;
    if (takes_part && !round.by_rank.contains(rank)) return false;
  }
  return true;
}

// In order, also when lines of a later round come first. A round between that nobody has reported is one that all have
// lost.
void DemoProgress::FinishRounds() {
  while (!open_.empty()) {
    const auto& [number, round] = *open_.begin();
    const bool is_next = number == finished_rounds_ + 1 || was_anybody_lost_;
    if (!is_next || !IsComplete(number, round)) return;
    Finish(round);
    finished_rounds_ = number;
    open_.erase(open_.begin());
  }
}

void DemoProgress::Finish(const OpenRound& round) {
  Timestamp pushed_at;
  Timestamp pulled_at;
  double loss = 0;
  for (const auto& [rank, progress] : round.by_rank) {
    pushed_at = std::max(pushed_at, progress.pushed_at);
    pulled_at = std::max(pulled_at, progress.pulled_at);
    loss += progress.loss / static_cast<double>(round.by_rank.size());
  }
  loss_ = loss;
  sync_times_.push_back(pulled_at - pushed_at);
}

absl::Status DemoProgress::AddResult(const TrainingResult& result) {
  if (!results_.emplace(result.rank, result).second) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", result.rank, " reports its result twice"));
  }
  return absl::OkStatus();
}

absl::Duration DemoProgress::median_sync_time() const {
  if (sync_times_.empty()) return absl::ZeroDuration();
  std::vector<absl::Duration> sorted = sync_times_;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

bool DemoProgress::all_finished() const {
  if (results_.empty()) return false;
  for (int rank = 0; rank < workers_; ++rank) {
    if (!by_rank_[static_cast<size_t>(rank)].is_lost && !results_.contains(rank)) return false;
  }
  return true;
}

bool DemoProgress::replicas_identical() const {
  BANYAN_CHECK(all_finished());
  const TrainingResult& first = results_.begin()->second;
  return std::all_of(results_.begin(), results_.end(), [&first](const auto& entry) {
    const TrainingResult& result = entry.second;
    return result.hash == first.hash && result.rounds == first.rounds && result.parameters == first.parameters;
  });
}

std::optional<double> DemoProgress::accuracy() const {
  for (const auto& [rank, result] : results_) {
    if (result.accuracy.has_value()) return result.accuracy;
  }
  return std::nullopt;
}

}  // namespace banyan
