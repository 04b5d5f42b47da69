#include "topology/advice/training_forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "topology/evaluation/round_time.h"
#include "topology/fit/model_fit.h"

namespace banyan {
namespace {

constexpr double kGroupBits = 32.0 * kAttachGroupElements;
constexpr int64_t kMostSteps = 1'000'000;
// Of bytes on links: headers of TCP and IP in packets of 1,500 bytes, and acknowledgements of what comes back.
constexpr double kHeaders = 1.05;
// What one thread of a trainer reads and writes for each float32: copies of what it sends and gets, and, of local
// updates, how far it has come and the outer step.
constexpr double kAttachBytes = 16;
constexpr double kLocalUpdateBytes = 56;

absl::Duration WorkOf(double elements, double bytes_per_element) {
  return absl::Seconds(elements * bytes_per_element / kSumBytesPerSecond);
}

int64_t FragmentsOf(SyncMethod method, int64_t steps) {
  return method == SyncMethod::kStreaming ? std::min(kStreamingFragments, steps) : 1;
}

}  // namespace

TrainingForecast::TrainingForecast(const NetworkView& view, Policy policy, std::vector<PlannedTensor> model,
                                   int64_t least_elements, double sent_part, absl::Duration step)
    : view_(view), policy_(std::move(policy)), model_(std::move(model)), sent_part_(kHeaders * sent_part), step_(step) {
  round_ = FitChunks(view, model_, least_elements, policy_, sent_part_);
  for (int64_t fragments = 1; fragments <= kStreamingFragments; ++fragments) {
    fragment_rounds_[fragments] = RoundOf(1.0 / static_cast<double>(fragments));
  }
}

absl::Duration TrainingForecast::RoundOf(double part) const {
  if (part >= 1) return round_;
  const auto whole = static_cast<double>(ElementsOf(model_));
  const auto elements = std::max<int64_t>(1, std::llround(part * whole));
  return PredictRoundTime(policy_, view_, {{elements, model_.front().element_bytes}}, sent_part_);
}

double TrainingForecast::Attach() const {
  // Links have work from the first group on, and the last group is known when the step ends.
  const double groups = std::ceil(BitsOf(model_) / kGroupBits);
  const absl::Duration first_group = step_ * (kForwardPart + (1 - kForwardPart) / groups);
  const absl::Duration work = WorkOf(static_cast<double>(ElementsOf(model_)) / groups, kAttachBytes);
  return absl::FDivDuration(step_, work + std::max(step_ + RoundOf(1 / groups), first_group + round_));
}

// Between two rounds of the model.
absl::Duration TrainingForecast::Waited(SyncMethod method, int64_t steps) const {
  const int64_t fragments = FragmentsOf(method, steps);
  const absl::Duration hidden =
      method == SyncMethod::kStreaming ? (steps / fragments - 1) * step_ : absl::ZeroDuration();
  const absl::Duration work = WorkOf(static_cast<double>(ElementsOf(model_)), kLocalUpdateBytes);
  return work + fragments * std::max(absl::ZeroDuration(), fragment_rounds_.at(fragments) - hidden);
}

double TrainingForecast::Utilisation(SyncMethod method, int64_t steps_per_sync) const {
  if (method == SyncMethod::kAttach) return Attach();
  const absl::Duration computed = steps_per_sync * step_;
  return absl::FDivDuration(computed, computed + Waited(method, steps_per_sync));
}

std::optional<int64_t> TrainingForecast::FewestSteps(SyncMethod method, double target) const {
  const auto suffices = [&](int64_t steps) { return Utilisation(method, steps) >= target; };
  if (method == SyncMethod::kAttach || !suffices(kMostSteps)) {
    return suffices(1) ? std::optional<int64_t>(1) : std::nullopt;
  }
  // More steps never wait for a greater part of the time.
  int64_t too_few = 0;
  int64_t enough = kMostSteps;
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (suffices(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace banyan
