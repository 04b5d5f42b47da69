#include "sim/runs/training_simulation.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/cluster.h"
#include "sim/traffic_observer.h"

namespace banyan {
namespace {

constexpr absl::Duration kLongestTraining = absl::Hours(24 * 365);
constexpr double kElementBytes = sizeof(float);

// How much smaller what is sent has become by its encoding.
class VolumeMeter : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk == nullptr || chunk->id.round == Round(0)) return;
    for (const FrameHeader& frame : chunk->frames) {
      encoded_bytes_ += static_cast<double>(frame.size_bytes);
      // Later levels are of the same elements.
      if (frame.level == 0) plain_bytes_ += kElementBytes * static_cast<double>(frame.elements);
    }
  }
  double volume() const { return plain_bytes_ > 0 ? encoded_bytes_ / plain_bytes_ : 1; }

 private:
  double encoded_bytes_ = 0;
  double plain_bytes_ = 0;
};

class TrainingRun : private WorkerListener {
 public:
  explicit TrainingRun(const TrainingSimulationOptions& options)
      : options_(options), cluster_(MakeClusterOptions(options, this)) {
    for (const auto& [ends, link] : network().links()) first_rates_[ends] = link.rate_bps();
    network().AddObserver(&volume_);
    if (options_.rates.part && options_.rates.rounds == 0) StepByTime(0);
  }

  absl::StatusOr<TrainingReport> Run() {
    const bool trained = cluster_.RunUntilTrained(Timestamp() + kLongestTraining);
    if (!cluster_.failures().empty()) {
      const Cluster::Failure& failure = cluster_.failures().front();
      return absl::Status(failure.status.code(), absl::StrCat(failure.call, ": ", failure.status.message()));
    }
    if (!trained || !cluster_.violations()->empty()) return absl::InternalError(cluster_.violations()->Report());
    return MakeReport();
  }

 private:
  static ClusterOptions MakeClusterOptions(const TrainingSimulationOptions& options, WorkerListener* listener) {
    ClusterOptions cluster;
    cluster.seed = options.seed;
    cluster.overlay = options.overlay;
    cluster.plan.tensors = options.tensors;
    cluster.plan.source = options.source;
    cluster.plan.rounds = options.rounds;
    cluster.plan.seed = options.seed;
    cluster.plan.compute_time = options.compute_time;
    cluster.plan.weights_every = options.weights_every;
    cluster.check_messages = false;
    cluster.listener = listener;
    return cluster;
  }

  SimulatedNetwork& network() { return *cluster_.simulator()->network(); }

  int64_t CarriedBytes() {
    int64_t bytes = 0;
    for (const auto& [ends, link] : network().links()) bytes += link.data_bytes() + link.control_bytes();
    return bytes;
  }

  void SetRates(uint64_t step) {
    step_ = step;
    for (const auto& [ends, rate_bps] : first_rates_) {
      network().FindLink(ends.first, ends.second)->set_rate_bps(rate_bps * options_.rates.part(step, ends.first));
    }
  }

  void StepByTime(uint64_t step) {
    SetRates(step);
    cluster_.simulator()->agenda()->CallAfter(options_.rates.period, [this, step] { StepByTime(step + 1); });
  }

  void OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) override {
    if (round > last_pushed_) {
      if (last_pushed_ == Round(0)) bytes_before_ = CarriedBytes();
      last_pushed_ = round;
      const bool is_step =
          options_.rates.part && options_.rates.rounds > 0 && (round.value() - 1) % options_.rates.rounds == 0;
      if (is_step) SetRates((round.value() - 1) / options_.rates.rounds);
      round_steps_.push_back(step_);
    }
    if (options_.listener != nullptr) options_.listener->OnPushed(now, worker, tensor, round);
  }

  void OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) override {
    if (round == Round(0)) start_ = now;
    if (options_.listener != nullptr) options_.listener->OnResult(now, worker, tensor, round, values);
  }

  TrainingReport MakeReport() {
    TrainingReport report;
    for (const auto& [round, times] : cluster_.clock().rounds()) report.round_ends.push_back(times.last_pull - start_);
    report.round_steps = round_steps_;
    report.sent_bytes = CarriedBytes() - bytes_before_;
    report.volume = volume_.volume();
    report.replicas_identical = cluster_.results().replicas_identical();
    return report;
  }

  const TrainingSimulationOptions& options_;
  VolumeMeter volume_;
  Cluster cluster_;
  std::map<std::pair<NodeId, NodeId>, double> first_rates_;
  Timestamp start_;
  Round last_pushed_ = Round(0);
  int64_t bytes_before_ = 0;
  uint64_t step_ = 0;
  std::vector<uint64_t> round_steps_;
};

}  // namespace

absl::StatusOr<TrainingReport> SimulateTraining(const TrainingSimulationOptions& options) {
  if (options.tensors.empty() || options.rounds == 0) {
    return absl::InvalidArgumentError("there must be a tensor and a round to train");
  }
  return TrainingRun(options).Run();
}

}  // namespace banyan
