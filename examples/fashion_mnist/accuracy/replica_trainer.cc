#include "examples/fashion_mnist/accuracy/replica_trainer.h"

#include <algorithm>

#include "core/check.h"
#include "examples/fashion_mnist/learning_rate.h"

namespace banyan {

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

}  // namespace banyan
