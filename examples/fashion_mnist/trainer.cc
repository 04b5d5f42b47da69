// The training process of one worker: see trainer_options.h for its arguments.

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/trainer_options.h"
#include "examples/fashion_mnist/training_loop.h"
#include "examples/fashion_mnist/worker_training.h"
#include "posix/steady_clock.h"
#include "runtime/local_updates/local_updates.h"
#include "runtime/session/session.h"
#include "tools/reports/training_progress.h"

namespace banyan {
namespace {

// Between the lines that a person reads.
constexpr int64_t kRoundsPerLine = 50;
constexpr double kMomentum = 0.9;
// The node itself may be waiting for the scheduler.
constexpr absl::Duration kPatience = absl::Hours(1);

absl::StatusOr<ImageSet> LoadShard(const TrainerOptions& options) {
  absl::StatusOr<ImageSet> images = LoadFashionMnist(options.data, Split::kTraining);
  if (!images.ok()) return images.status();
  ImageSet shard = TakeShard(*images, static_cast<int>(options.rank), static_cast<int>(options.world));
  if (shard.size() < options.batch) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at least one batch of ", options.batch, " images for each process, got ", shard.size()));
  }
  return shard;
}

void ShowRound(const TrainerOptions& options, const RoundProgress& round) {
  if (options.json) {
    std::cout << FormatProgress(round) << std::endl;
  } else if (round.round % kRoundsPerLine == 0) {
    std::cerr << absl::StreamFormat("round %d  loss %.4f\n", round.round, round.loss);
  }
}

void ShowResult(const TrainerOptions& options, const TrainingResult& result) {
  if (options.json) {
    std::cout << FormatProgress(result) << std::endl;
    return;
  }
  std::cout << absl::StreamFormat("rank %d: %d rounds, parameters %s", result.rank, result.rounds, result.hash);
  if (result.accuracy.has_value()) std::cout << absl::StreamFormat(", test accuracy %.4f", *result.accuracy);
  std::cout << std::endl;
}

absl::StatusOr<TrainingResult> MakeResult(const TrainerOptions& options, int64_t rounds, Classifier& classifier) {
  TrainingResult result;
  result.rank = static_cast<int>(options.rank);
  result.rounds = rounds;
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    result.parameters += static_cast<int64_t>(parameter.values.size());
  }
  result.hash = absl::StrFormat("%016x", classifier.HashValues());
  // Each of them, since any other may have died.
  absl::StatusOr<ImageSet> images = LoadFashionMnist(options.data, Split::kTest);
  if (!images.ok()) return images.status();
  result.accuracy = classifier.MeasureAccuracy(*images);
  return result;
}

// Trains by local updates (DiLoCo): so many steps alone, then one round with all others.
class LocalTraining {
 public:
  LocalTraining(const TrainerOptions& options, Session& session, Classifier& classifier)
      : options_(options), session_(session), classifier_(classifier) {}

  // Begins together with the others, or where they are. Returns how many rounds they have done.
  absl::StatusOr<int64_t> Begin() {
    std::vector<ModelTensor> model;
    for (const Classifier::Parameter& parameter : classifier_.parameters()) {
      model.push_back({parameter.name, parameter.values});
    }
    auto updates = LocalUpdates::Begin(session_, {std::move(model)}, DiLoCo(options_.local_steps));
    if (!updates.ok()) return updates.status();
    updates_ = *std::move(updates);
    if (absl::Status status = session_.ShareState(updates_->StateParts()); !status.ok()) return status;
    const absl::StatusOr<uint64_t> done = session_.FetchState();
    if (absl::IsNotFound(done.status())) return 0;
    if (!done.ok()) return done.status();
    updates_->Load();
    round_ = static_cast<int64_t>(*done);
    return round_;
  }

  absl::StatusOr<RoundProgress> TrainRound(const ImageSet& shard, BatchOrder& order) {
    RoundProgress result;
    result.rank = static_cast<int>(options_.rank);
    result.round = ++round_;
    for (int64_t step = 0; step < options_.local_steps; ++step) {
      result.loss = classifier_.ComputeGradients(MakeBatch(shard, order.Next()), [](size_t) {});
      classifier_.ApplyGradients();
      result.pushed_at = SteadyNow();
      if (absl::Status status = updates_->Step(); !status.ok()) return status;
    }
    result.pulled_at = SteadyNow();
    session_.ReportLoss(static_cast<uint64_t>(round_), result.loss);
    const absl::Status passed = session_.PassBoundary(static_cast<uint64_t>(round_));
    return passed.ok() ? absl::StatusOr<RoundProgress>(result) : passed;
  }

 private:
  const TrainerOptions& options_;
  Session& session_;
  Classifier& classifier_;
  std::unique_ptr<LocalUpdates> updates_;
  int64_t round_ = 0;
};

absl::Status TrainIn(Session& session, const ImageSet& shard, const TrainerOptions& options) {
  // Every replica begins elsewhere: only the session can make them equal.
  const auto seed = static_cast<uint64_t>(options.seed * options.world + options.rank);
  Classifier classifier({.seed = seed,
                         .learning_rate = options.learning_rate,
                         .adam = options.optimizer == "adam",
                         .hidden = options.hidden});
  const double momentum = options.optimizer == "momentum" ? kMomentum : 0;
  using Stepper = TrainingLoop::Stepper;
  const Stepper stepper = options.optimizer == "node-adam" ? Stepper::kNodes : Stepper::kReplica;
  TrainingLoop loop(session, classifier, static_cast<int>(options.rank), momentum, stepper);
  LocalTraining local(options, session, classifier);
  const bool is_local = options.local_steps > 0;
  if (!is_local) {
    if (absl::Status status = loop.ShareParameters(); !status.ok()) return status;
  }
  BatchOrder order(shard.size(), options.batch, seed);
  const int64_t batches = std::max<int64_t>(1, options.local_steps);  // in a round
  const int64_t rounds = options.epochs > 0 ? options.epochs * order.batches_per_epoch() / batches : options.rounds;
  const absl::StatusOr<int64_t> done = is_local ? local.Begin() : loop.JoinTraining();
  if (!done.ok()) return done.status();
  if (*done > 0) std::cerr << absl::StreamFormat("goes on after round %d\n", *done);
  // This worker's own images, in the order in which it would have seen them.
  order.Skip(*done * batches);
  for (int64_t i = *done; i < rounds; ++i) {
    classifier.SetLearningRate(options.learning_rate * LearningRatePart(i, rounds));
    const absl::StatusOr<RoundProgress> round =
        is_local ? local.TrainRound(shard, order) : loop.TrainRound(MakeBatch(shard, order.Next()));
    if (!round.ok()) return round.status();
    ShowRound(options, *round);
  }
  absl::StatusOr<TrainingResult> result = MakeResult(options, rounds, classifier);
  if (!result.ok()) return result.status();
  ShowResult(options, *result);
  return absl::OkStatus();
}

absl::Status Train(const TrainerOptions& options) {
  const absl::StatusOr<ImageSet> shard = LoadShard(options);
  if (!shard.ok()) return shard.status();
  const absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Open({.node = options.node, .worker = static_cast<uint32_t>(options.worker), .open_timeout = kPatience});
  if (!session.ok()) return session.status();
  absl::Status status = TrainIn(**session, *shard, options);
  // Otherwise the node would take this worker's training for done.
  if (!status.ok()) (*session)->Abandon();
  return status;
}

int Main(absl::Span<const std::string> arguments) {
  TrainerOptions options;
  if (const std::optional<int> code = ParseTrainerOptions(arguments, options, std::cout, std::cerr); code.has_value()) {
    return *code;
  }
  UseOneThread();
  const absl::Status status = Train(options);
  if (status.ok()) return 0;
  std::cerr << "trainer: " << status.message() << std::endl;
  return 1;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) { return banyan::Main(std::vector<std::string>(argv + 1, argv + argc)); }
