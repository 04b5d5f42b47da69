#include "tools/demo/demo_progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

DemoProgress::DemoProgress(int nodes, int workers, int64_t rounds) : nodes_(nodes), workers_(workers), rounds_(rounds) {
  BANYAN_CHECK(nodes > 0 && workers > 0);
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
  if (round.round <= finished_rounds() || round.round > rounds_) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", round.rank, ": expected a round from ",
                                                   finished_rounds() + 1, " to ", rounds_, ", got ", round.round));
  }
  OpenRound& open = open_[round.round];
  if (!open.by_rank.emplace(round.rank, round).second) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", round.rank, " reports round ", round.round, " twice"));
  }
  // In order, so that sync_times_ is indexed by round even when lines of a later round come first.
  while (!open_.empty() && open_.begin()->first == finished_rounds() + 1 &&
         static_cast<int>(open_.begin()->second.by_rank.size()) == workers_) {
    Finish(open_.begin()->second);
    open_.erase(open_.begin());
  }
  return absl::OkStatus();
}

void DemoProgress::Finish(const OpenRound& round) {
  Timestamp pushed_at;
  Timestamp pulled_at;
  double loss = 0;
  for (const auto& [rank, progress] : round.by_rank) {
    pushed_at = std::max(pushed_at, progress.pushed_at);
    pulled_at = std::max(pulled_at, progress.pulled_at);
    loss += progress.loss / workers_;
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
