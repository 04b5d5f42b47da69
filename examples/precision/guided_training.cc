#include "examples/precision/guided_training.h"

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "core/check.h"
#include "examples/fashion_mnist/worker_training.h"
#include "precision/audit/audit_file.h"
#include "precision/audit/route_audit.h"
#include "precision/control/precision_controller.h"

namespace banyan {

// --- the reducer ---

VoteReducer::VoteReducer(int64_t elements, int64_t workers, const VoteRules& rules) : rules_(rules) {
  if (rules.aggregate == VoteAggregate::kMean) {
    feedback_.assign(static_cast<size_t>(workers), VoteFeedback(elements, rules));
  }
}

int64_t VoteReducer::Reduce(absl::Span<const absl::Span<const float>> gradients, bool is_low_bit,
                            absl::Span<float> result) {
  return is_low_bit ? ReduceVotes(gradients, result) : ReduceFloats(gradients, result);
}

int64_t VoteReducer::ReduceVotes(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result) {
  int64_t bytes = 0;
  VoteCount sum(static_cast<int64_t>(result.size()), HasZeroVotes(rules_));
  for (size_t worker = 0; worker < gradients.size(); ++worker) {
    const VoteCount vote = feedback_.empty()
                               ? VoteCount::OfVoter(gradients[worker], SliceScale(gradients[worker]), rules_)
                               : feedback_[worker].Vote(gradients[worker]);
    const std::vector<uint8_t> frame = EncodeCount(vote);
    bytes += static_cast<int64_t>(frame.size());
    const absl::StatusOr<VoteCount> arrived = DecodeCount(frame, vote.elements(), 1, vote.has_zero_votes());
    BANYAN_CHECK(arrived.ok());
    sum.Add(*arrived);
  }
  const std::vector<uint8_t> frame = EncodeDecision(VoteDecision(sum, rules_));
  const absl::StatusOr<VoteDecision> decision = DecodeDecision(frame, static_cast<int64_t>(result.size()));
  BANYAN_CHECK(decision.ok());
  decision->WriteTo(result);
  for (VoteFeedback& feedback : feedback_) feedback.Settle(decision->scale());
  return bytes + static_cast<int64_t>(frame.size() * gradients.size());
}

int64_t VoteReducer::ReduceFloats(absl::Span<const absl::Span<const float>> gradients, absl::Span<float> result) {
  std::fill(result.begin(), result.end(), 0.0f);
  for (const absl::Span<const float> values : gradients) {
    for (size_t i = 0; i < result.size(); ++i) result[i] += values[i];
  }
  for (VoteFeedback& feedback : feedback_) {
    const std::vector<float> residual = feedback.TakeResidual();
    for (size_t i = 0; i < result.size(); ++i) result[i] += residual[i];
  }
  const float part = 1.0f / static_cast<float>(gradients.size());
  for (float& value : result) value *= part;
  return static_cast<int64_t>(2 * gradients.size() * result.size() * sizeof(float));
}

// --- the training ---

namespace {

// Damage begins after two thirds of the rounds.
constexpr int64_t kDamagePart = 3;
constexpr int64_t kDamagedRounds = 30;
constexpr double kDamagedRate = 30;  // times the learning rate
constexpr float kPoison = -20;       // times a worker's gradient
// Diagnoses take longer than the round itself: some rounds of the warm-up are enough.
constexpr int64_t kDiagnoseEvery = 10;

class Training {
 public:
  Training(const GuidedTraining& options, GuidedModel& model)
      : options_(options),
        model_(model),
        controller_(options.profile, options.binding),
        audit_(options.profile.bits_per_element),
        damaged_from_(options.rounds - options.rounds / kDamagePart) {
    for (const GuidedModel::Parameter& parameter : model_.parameters()) {
      Tensor& tensor = tensors_.emplace_back();
      tensor.name = parameter.name;
      tensor.gradients.assign(static_cast<size_t>(options.workers), std::vector<float>(parameter.gradient.size()));
      tensor.slices = options.binding.SlicesOf(parameter.name, static_cast<int64_t>(parameter.gradient.size()));
      for (const SliceBinding& slice : tensor.slices) {
        tensor.reducers.emplace_back(slice.elements, options.workers, options.profile.rules);
      }
    }
  }

  void RunRound(int64_t round) {
    controller_.BeginRound();
    const double loss = ComputeGradients(round);
    losses_.push_back(loss);
    for (size_t i = 0; i < tensors_.size(); ++i) Reduce(round, tensors_[i], model_.parameters()[i].gradient);
    const double part = LearningRatePart(round, options_.rounds);
    const bool spikes = IsDamaged(round, Damage::kLearningRate);
    model_.ApplyGradients(options_.learning_rate * part * (spikes ? kDamagedRate : 1));
    const int64_t triggers = controller_.supervisor().record().triggers;
    controller_.Observe(
        {round + 1, loss, static_cast<double>(round + 1) / static_cast<double>(options_.rounds), part, std::nullopt});
    if (controller_.supervisor().record().triggers > triggers) Notice(round);
  }

  GuidedOutcome Finish() {
    result_.quality = model_.Measure();
    result_.candidates = audit_.candidates();
    result_.all = audit_.all();
    result_.triggers = controller_.supervisor().record().triggers;
    result_.readmissions = controller_.supervisor().record().readmissions;
    if (options_.damage != Damage::kNone) result_.damaged_round = damaged_from_;
    return {result_, AuditJson(audit_, controller_), losses_};
  }

 private:
  struct Tensor {
    std::string name;
    std::vector<std::vector<float>> gradients;  // by worker
    std::vector<SliceBinding> slices;
    std::vector<VoteReducer> reducers;  // by slice
  };

  bool IsDamaged(int64_t round, Damage damage) const {
    return options_.damage == damage && round >= damaged_from_ && round < damaged_from_ + kDamagedRounds;
  }

  void Notice(int64_t round) {
    if (options_.damage == Damage::kNone || round < damaged_from_) {
      ++result_.false_triggers;
    } else if (!result_.noticed_round.has_value()) {
      result_.noticed_round = round;
    }
  }

  // Returns the mean loss of all workers.
  double ComputeGradients(int64_t round) {
    double loss = 0;
    const int64_t label_shift = IsDamaged(round, Damage::kLabels) ? 1 + round : 0;
    for (int64_t worker = 0; worker < options_.workers; ++worker) {
      loss += model_.ComputeGradients(worker, label_shift) / static_cast<double>(options_.workers);
      const float factor = worker == 0 && IsDamaged(round, Damage::kPoison) ? kPoison : 1;
      for (size_t i = 0; i < tensors_.size(); ++i) {
        const absl::Span<const float> gradient = model_.parameters()[i].gradient;
        std::transform(gradient.begin(), gradient.end(), tensors_[i].gradients[worker].begin(),
                       [factor](float value) { return factor * value; });
      }
    }
    return loss;
  }

  // What role and state say of a slice, apart from what the controller says of its route.
  PrecisionRoute Expected(const std::string& tensor, const SliceBinding& slice) const {
    if (!slice.is_candidate || controller_.is_warming_up()) return PrecisionRoute::kPlain;
    const auto admission = controller_.admissions().find(ScopeOf(options_.profile.scope, tensor, slice));
    if (admission == controller_.admissions().end() || !admission->second.is_admitted) return PrecisionRoute::kPlain;
    return controller_.veto() == Veto::kNone ? PrecisionRoute::kLowBit : PrecisionRoute::kFallback;
  }

  void Reduce(int64_t round, Tensor& tensor, absl::Span<float> result) {
    std::vector<SliceRoute> routes;
    int64_t bytes = 0;
    for (size_t i = 0; i < tensor.slices.size(); ++i) {
      const SliceBinding& slice = tensor.slices[i];
      std::vector<absl::Span<const float>> gradients;
      for (const std::vector<float>& values : tensor.gradients) {
        gradients.push_back(absl::MakeConstSpan(values).subspan(slice.first, slice.elements));
      }
      if (slice.is_candidate && controller_.is_warming_up() && round % kDiagnoseEvery == 0) {
        controller_.ObserveScope(ScopeOf(options_.profile.scope, tensor.name, slice),
                                 DiagnoseScope(gradients, options_.profile.rules));
      }
      PrecisionRoute route = controller_.RouteOf(tensor.name, slice);
      const int64_t slice_bytes = tensor.reducers[i].Reduce(gradients, route == PrecisionRoute::kLowBit,
                                                            result.subspan(slice.first, slice.elements));
      // What crossed the links says whether the slice was low-bit.
      const int64_t full_bytes = slice.elements * static_cast<int64_t>(sizeof(float)) * 2 * options_.workers;
      if (route == PrecisionRoute::kLowBit && slice_bytes == full_bytes) route = PrecisionRoute::kPlain;
      if (route != PrecisionRoute::kLowBit && slice_bytes != full_bytes) route = PrecisionRoute::kLowBit;
      routes.push_back({slice.elements, slice.is_candidate, Expected(tensor.name, slice), route});
      bytes += slice_bytes;
    }
    audit_.Record(tensor.name, routes, bytes);
    result_.full_bytes += static_cast<int64_t>(result.size() * sizeof(float)) * 2 * options_.workers;
  }

  const GuidedTraining& options_;
  GuidedModel& model_;
  PrecisionController controller_;
  RouteAudit audit_;
  const int64_t damaged_from_;
  std::vector<Tensor> tensors_;
  std::vector<double> losses_;
  GuidedResult result_;
};

}  // namespace

GuidedOutcome RunGuidedTraining(const GuidedTraining& training, GuidedModel& model) {
  Training run(training, model);
  for (int64_t round = 0; round < training.rounds; ++round) run.RunRound(round);
  return run.Finish();
}

}  // namespace banyan
