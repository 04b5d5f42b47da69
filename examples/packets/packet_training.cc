#include "examples/packets/packet_training.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "examples/fashion_mnist/worker_training.h"

namespace banyan {
namespace {

using Parameter = GuidedModel::Parameter;

std::vector<PacketTensor> ShapesOf(const GuidedModel& model) {
  std::vector<PacketTensor> shapes;
  for (const Parameter& parameter : model.parameters()) {
    shapes.push_back({parameter.rows, static_cast<int64_t>(parameter.gradient.size()) / parameter.rows});
  }
  return shapes;
}

std::vector<float> Gather(const GuidedModel& model, absl::Span<float> Parameter::*part) {
  std::vector<float> message;
  for (const Parameter& parameter : model.parameters()) {
    message.insert(message.end(), (parameter.*part).begin(), (parameter.*part).end());
  }
  return message;
}

void Scatter(absl::Span<const float> message, const GuidedModel& model, absl::Span<float> Parameter::*part) {
  auto next = message.begin();
  for (const Parameter& parameter : model.parameters()) {
    const absl::Span<float> to = parameter.*part;
    std::copy_n(next, to.size(), to.begin());
    next += static_cast<std::ptrdiff_t>(to.size());
  }
}

class Training {
 public:
  Training(const PacketTraining& options, GuidedModel& model) : options_(options), model_(model) {
    Random seeds(options.seed);
    for (int64_t worker = 0; worker < options.workers; ++worker) {
      senders_.push_back(MakePacketScheme(options.scheme, ShapesOf(model), options.cuts, seeds.Next()));
    }
  }

  void RunRound(int64_t round) {
    const std::vector<float> weights = Gather(model_, &Parameter::values);
    std::vector<float> mean(weights.size());
    for (int64_t worker = 0; worker < options_.workers; ++worker) {
      if (options_.cuts_weights) {
        std::vector<float> arrived = weights;
        Deliver(worker, arrived);
        Scatter(arrived, model_, &Parameter::values);
      }
      model_.ComputeGradients(worker, 0);
      std::vector<float> gradient = Gather(model_, &Parameter::gradient);
      if (!options_.cuts_weights) Deliver(worker, gradient);
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += gradient[i] / static_cast<float>(options_.workers);
    }
    Scatter(weights, model_, &Parameter::values);
    Scatter(mean, model_, &Parameter::gradient);
    model_.ApplyGradients(options_.learning_rate * LearningRatePart(round, options_.rounds));
  }

  PacketOutcome Finish() {
    outcome_.accuracy = model_.Measure().accuracy;
    double bits = 0;
    for (const std::unique_ptr<PacketScheme>& sender : senders_) bits += sender->arrived_bits();
    outcome_.error /= messages_;
    outcome_.worst /= messages_;
    outcome_.arrived_part = bits / full_bits_;
    return outcome_;
  }

 private:
  void Deliver(int64_t worker, std::vector<float>& message) {
    const std::vector<float> sent = message;
    senders_[static_cast<size_t>(worker)]->Deliver(absl::MakeSpan(message));
    double square = 0, error = 0, worst = 0;
    for (size_t i = 0; i < sent.size(); ++i) {
      const double off = static_cast<double>(message[i]) - sent[i];
      square += static_cast<double>(sent[i]) * sent[i];
      error += off * off;
      worst = std::max(worst, std::abs(off));
    }
    const auto elements = static_cast<double>(sent.size());
    outcome_.error += error / square;
    outcome_.worst += worst / std::sqrt(square / elements);
    full_bits_ += 32 * elements;
    ++messages_;
  }

  const PacketTraining& options_;
  GuidedModel& model_;
  std::vector<std::unique_ptr<PacketScheme>> senders_;  // by worker; of weights, to it
  PacketOutcome outcome_;
  double messages_ = 0;
  double full_bits_ = 0;
};

}  // namespace

PacketOutcome RunPacketTraining(const PacketTraining& training, GuidedModel& model) {
  Training run(training, model);
  for (int64_t round = 0; round < training.rounds; ++round) run.RunRound(round);
  return run.Finish();
}

}  // namespace banyan
