#include "examples/fashion_mnist/training_loop.h"

#include <utility>
#include <vector>

#include "posix/steady_clock.h"

namespace banyan {
namespace {

// Which weights are the smallest changes slowly.
constexpr int64_t kRoundsPerWeights = 10;

absl::Status WaitForAll(std::vector<Ticket>& tickets) {
  absl::Status first_error;
  for (Ticket& ticket : tickets) first_error.Update(ticket.Wait());
  return first_error;
}

}  // namespace

absl::Status TrainingLoop::ShareParameters() {
  std::vector<Ticket> tickets;
  for (const Classifier::Parameter& parameter : classifier_.parameters()) {
    tickets.push_back(session_.Init(parameter.name, parameter.values, parameter.values));
  }
  return WaitForAll(tickets);
}

absl::StatusOr<int64_t> TrainingLoop::JoinTraining() {
  std::vector<StatePart> parts;
  for (const Classifier::StatePiece& piece : classifier_.TrainingState()) parts.push_back({piece.name, piece.bytes});
  if (absl::Status status = session_.ShareState(std::move(parts)); !status.ok()) return status;
  shares_state_ = true;
  const absl::StatusOr<uint64_t> step = session_.FetchState();
  if (absl::IsNotFound(step.status())) return 0;
  if (!step.ok()) return step.status();
  round_ = static_cast<int64_t>(*step);
  return round_;
}

absl::StatusOr<RoundProgress> TrainingLoop::TrainRound(const Batch& batch) {
  RoundProgress result;
  result.rank = rank_;
  result.round = ++round_;
  std::vector<Ticket> tickets;
  if (result.round % kRoundsPerWeights == 1) RegisterWeights(tickets);
  result.loss = classifier_.ComputeGradients(batch, [&](size_t index) { tickets.push_back(Exchange(index)); });
  result.pushed_at = SteadyNow();
  if (absl::Status status = WaitForAll(tickets); !status.ok()) return status;
  result.pulled_at = SteadyNow();
  if (stepper_ == Stepper::kReplica) classifier_.ApplyGradients();
  session_.ReportLoss(static_cast<uint64_t>(round_), result.loss);
  absl::Status passed;
  if (shares_state_) passed = session_.PassBoundary(static_cast<uint64_t>(round_));
  if (!passed.ok()) return passed;
  return result;
}

void TrainingLoop::RegisterWeights(std::vector<Ticket>& tickets) {
  for (const Classifier::Parameter& parameter : classifier_.parameters()) {
    tickets.push_back(session_.RegisterWeights(parameter.name, parameter.values));
  }
}

Ticket TrainingLoop::Exchange(size_t index) {
  const std::vector<Classifier::Parameter>& parameters = classifier_.parameters();
  // The next forward pass needs the first layers first, which the backward pass gives last.
  const auto priority = static_cast<int32_t>(parameters.size() - index);
  const Classifier::Parameter& parameter = parameters[index];
  momentum_.AddTo(index, parameter.gradient);
  const absl::Span<float> result = stepper_ == Stepper::kReplica ? parameter.gradient : parameter.values;
  return session_.PushPull(parameter.name, parameter.gradient, result, {.priority = priority});
}

}  // namespace banyan
