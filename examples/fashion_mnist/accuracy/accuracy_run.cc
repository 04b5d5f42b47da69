#include "examples/fashion_mnist/accuracy/accuracy_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "examples/fashion_mnist/accuracy/accuracy_scenario.h"
#include "examples/fashion_mnist/classifier.h"
#include "examples/fashion_mnist/worker_training.h"
#include "sim/runs/training_simulation.h"

namespace banyan {

// --- all replicas as one model ---

ReplicaTrainer::ReplicaTrainer(const ReplicaTrainerOptions& options, absl::Span<const WorkerName> workers,
                               const ImageSet* training_images, const ImageSet* test_images)
    : options_(options),
      test_images_(test_images),
      sample_images_(
          TakeShard(*test_images, 0, static_cast<int>(1 + (test_images->size() - 1) / options.sampled_images))),
      classifier_(options.model),
      results_(classifier_.parameters().size()),
      losses_(options.rounds, 0.0) {
  for (size_t rank = 0; rank < workers.size(); ++rank) {
    ImageSet images = TakeShard(*training_images, static_cast<int>(rank), static_cast<int>(workers.size()));
    BatchOrder order(images.size(), options.batch, options.model.seed * workers.size() + rank);
    shards_.emplace(workers[rank], Shard{std::move(images), std::move(order), LocalMomentum(options.momentum)});
  }
}

std::vector<TrainingPlan::Tensor> ReplicaTrainer::tensors() const {
  std::vector<TrainingPlan::Tensor> tensors;
  for (const Classifier::Parameter& parameter : classifier_.parameters()) {
    // The next forward pass needs the first layers first.
    const auto priority = static_cast<int32_t>(classifier_.parameters().size() - tensors.size());
    tensors.push_back({parameter.name, static_cast<int64_t>(parameter.values.size()), priority});
  }
  return tensors;
}

void ReplicaTrainer::Fill(WorkerName worker, size_t tensor, Round round, absl::Span<float> values) {
  const Classifier::Parameter& parameter = classifier_.parameters()[tensor];
  if (round > Round(0) && computed_ != std::pair(worker, round)) ComputeGradients(worker, round);
  const absl::Span<float> source = round == Round(0) ? parameter.values : parameter.gradient;
  std::copy(source.begin(), source.end(), values.begin());
}

void ReplicaTrainer::FillWeights(size_t tensor, absl::Span<float> values) {
  const absl::Span<float> source = classifier_.parameters()[tensor].values;
  std::copy(source.begin(), source.end(), values.begin());
}

void ReplicaTrainer::ComputeGradients(WorkerName worker, Round round) {
  BANYAN_CHECK(round == taken_.Next());
  Shard& shard = shards_.at(worker);
  const double loss = classifier_.ComputeGradients(MakeBatch(shard.images, shard.order.Next()), [](size_t) {});
  losses_[round.value() - 1] += loss / static_cast<double>(shards_.size());
  for (size_t i = 0; i < classifier_.parameters().size(); ++i) {
    shard.momentum.AddTo(i, classifier_.parameters()[i].gradient);
  }
  computed_ = {worker, round};
}

void ReplicaTrainer::OnResult(Timestamp /*now*/, WorkerName /*worker*/, size_t tensor, Round round,
                              absl::Span<const float> values) {
  if (round <= taken_ || !results_[tensor].empty()) return;
  results_[tensor].assign(values.begin(), values.end());
  if (++heard_ == results_.size()) TakeStep();
}

void ReplicaTrainer::TakeStep() {
  for (size_t i = 0; i < results_.size(); ++i) {
    const absl::Span<float> gradient = classifier_.parameters()[i].gradient;
    std::copy(results_[i].begin(), results_[i].end(), gradient.begin());
    results_[i].clear();
  }
  heard_ = 0;
  const double part = LearningRatePart(static_cast<int64_t>(taken_.value()), static_cast<int64_t>(options_.rounds));
  classifier_.SetLearningRate(options_.model.learning_rate * part);
  classifier_.ApplyGradients();
  taken_ = taken_.Next();
  const uint64_t done = taken_.value() * options_.measurements / options_.rounds;
  if (done > measurements_.size()) {
    const bool is_last = taken_.value() == options_.rounds;
    measurements_.push_back({taken_.value(), classifier_.MeasureAccuracy(is_last ? *test_images_ : sample_images_)});
  }
}

// --- a training ---

namespace {

// With momentum, as DC2 trains (section V-A). The same for all combinations.
constexpr double kLearningRate = 0.06;
constexpr double kMomentum = 0.9;
constexpr uint64_t kMeasurementsPerEpoch = 4;
// Of an uncompressed job, for the time of a synchronisation: by half of them the plan has settled.
constexpr uint64_t kCalibrationRounds = 60;

ClassifierOptions ModelOptions(uint64_t seed) { return {.seed = seed, .learning_rate = kLearningRate}; }

std::vector<WorkerName> WorkersOf(const OverlayConfig& overlay) {
  std::vector<WorkerName> workers;
  for (uint32_t node = 0; node < overlay.nodes.size(); ++node) {
    for (int worker = 0; worker < overlay.nodes[node].workers; ++worker) {
      workers.push_back({NodeId(node + 1), WorkerId(static_cast<uint32_t>(worker))});
    }
  }
  return workers;
}

std::vector<TrainingPlan::Tensor> ModelTensors() {
  const Classifier classifier(ModelOptions(1));
  std::vector<TrainingPlan::Tensor> tensors;
  for (const Classifier::Parameter& parameter : classifier.parameters()) {
    tensors.push_back({parameter.name, static_cast<int64_t>(parameter.values.size()), 0});
  }
  return tensors;
}

// Images per second while the profile had each of its values.
std::map<double, double> PaceAtMbps(const TrainingReport& report, const RateProfile& rates, double mbps,
                                    double samples_per_round) {
  std::map<double, std::pair<double, double>> totals;  // samples and seconds
  absl::Duration begin;
  for (size_t i = 0; i < report.round_ends.size(); ++i) {
    auto& [samples, seconds] = totals[mbps * rates.part(report.round_steps[i], NodeId(1))];
    samples += samples_per_round;
    seconds += absl::ToDoubleSeconds(report.round_ends[i] - begin);
    begin = report.round_ends[i];
  }
  std::map<double, double> pace;
  for (const auto& [rate, total] : totals) pace[rate] = total.first / total.second;
  return pace;
}

AccuracyResult MakeResult(const AccuracySetup& setup, const TrainingReport& report, const ReplicaTrainer& trainer) {
  AccuracyResult result;
  const std::vector<ReplicaTrainer::Measurement>& measurements = trainer.measurements();
  result.accuracy = measurements.back().accuracy;
  for (const ReplicaTrainer::Measurement& measurement : measurements) {
    const double seconds = absl::ToDoubleSeconds(report.round_ends[measurement.round - 1]);
    result.course.emplace_back(seconds, measurement.accuracy);
    if (measurement.accuracy >= setup.target && !result.seconds_to_target.has_value()) {
      result.seconds_to_target = seconds;
    }
  }
  result.sent_bytes = static_cast<double>(report.sent_bytes);
  result.seconds = absl::ToDoubleSeconds(report.simulated());
  result.volume = report.volume;
  result.replicas_identical = report.replicas_identical;
  return result;
}

}  // namespace

int64_t WorkerCount(const OverlayConfig& overlay) { return static_cast<int64_t>(WorkersOf(overlay).size()); }

int64_t ModelElements() {
  int64_t elements = 0;
  for (const TrainingPlan::Tensor& tensor : ModelTensors()) elements += tensor.elements;
  return elements;
}

absl::StatusOr<absl::Duration> CalibrateComputeTime(const OverlayConfig& overlay) {
  TrainingSimulationOptions options;
  options.overlay = overlay;
  options.overlay.compression = {};
  options.tensors = ModelTensors();
  options.rounds = kCalibrationRounds;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  if (!report.ok()) return report.status();
  std::vector<absl::Duration> durations;
  for (size_t i = kCalibrationRounds / 2; i < kCalibrationRounds; ++i) {
    durations.push_back(report->round_ends[i] - report->round_ends[i - 1]);
  }
  std::sort(durations.begin(), durations.end());
  return durations[durations.size() / 2] / kReferenceSynchronisation;
}

absl::StatusOr<AccuracyResult> RunAccuracy(const AccuracySetup& setup, const CompressionConfig& compression,
                                           double mbps, uint64_t seed) {
  const std::vector<WorkerName> workers = WorkersOf(setup.overlay);
  const int64_t samples_per_round = setup.batch * static_cast<int64_t>(workers.size());
  const int64_t rounds_per_epoch = setup.images.training.size() / samples_per_round;
  if (rounds_per_epoch == 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected at least ", samples_per_round, " images for a round of ",
                                                   workers.size(), " workers, got ", setup.images.training.size()));
  }
  const auto rounds = static_cast<uint64_t>(setup.epochs * rounds_per_epoch);
  ReplicaTrainer trainer({.model = ModelOptions(seed),
                          .momentum = kMomentum,
                          .batch = setup.batch,
                          .rounds = rounds,
                          .measurements = kMeasurementsPerEpoch * static_cast<uint64_t>(setup.epochs)},
                         workers, &setup.images.training, &setup.images.test);
  TrainingSimulationOptions options;
  options.overlay = setup.overlay;
  ScaleRates(mbps, options.overlay);
  options.overlay.compression = compression;
  options.overlay.trimming = {.policy = TrimPolicyKind::kRandom, .share = setup.trimmed};
  options.tensors = trainer.tensors();
  options.rounds = rounds;
  options.seed = seed;
  options.compute_time = setup.compute_time;
  options.weights_every = static_cast<uint64_t>(setup.weights_every);
  options.rates = MakeRateProfile(setup.scenario, rounds, seed);
  options.source = &trainer;
  options.listener = &trainer;
  const absl::StatusOr<TrainingReport> report = SimulateTraining(options);
  if (!report.ok()) return report.status();
  AccuracyResult result = MakeResult(setup, *report, trainer);
  result.samples_per_second = static_cast<double>(samples_per_round) * static_cast<double>(rounds) / result.seconds;
  const bool alike = setup.scenario == AccuracyScenario::kDegrading || setup.scenario == AccuracyScenario::kFluctuating;
  if (alike) {
    result.pace_at_mbps = PaceAtMbps(*report, options.rates, mbps, static_cast<double>(samples_per_round));
  }
  return result;
}

}  // namespace banyan
