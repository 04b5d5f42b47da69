#include "scheduler/precision/endpoint_guard.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/rounds/route_source.h"

namespace banyan {
namespace {

// Whether the rate is far from the one that was used.
bool IsOther(double rate, double used) { return std::abs(rate - used) > EndpointGuard::kChange * used; }

bool IsOther(const RoundWork::Processor& now, const RoundWork::Processor& used) {
  return IsOther(now.sum_rate, used.sum_rate) || IsOther(now.cast_rate, used.cast_rate) ||
         IsOther(now.count_rate, used.count_rate) || now.threads != used.threads;
}

// What the scheduling of one chunk at one node takes, about half a microsecond at each of some five stations, as memory
// that is read and written at kSumBytesPerSecond.
constexpr double kBytesPerVisit = 2.5e-6 * kSumBytesPerSecond;

// Bits of an element of the root's decision on so many votes (compression/counts/vote_frame.h); of a mean they are the
// counts.
double ResultBits(const VoteRules& rules, double voters) {
  if (rules.aggregate == VoteAggregate::kMean) return BitsOfVotes(voters, HasZeroVotes(rules));
  return rules.family == LowBitFamily::kBinary && rules.tie == TieRule::kPositive ? 1 : 2;
}

}  // namespace

RoundForecast::RoundForecast(Policy policy, NetworkView view, const VoteRules& rules,
                             std::vector<RoundWork::Processor> processors, std::vector<GuardedSize> sizes)
    : policy_(std::move(policy)),
      view_(std::move(view)),
      rules_(rules),
      processors_(std::move(processors)),
      sizes_(std::move(sizes)) {}

void RoundForecast::Run() {
  for (const GuardedSize& size : sizes_) predictions_[size] = Predict(size);
}

RoundForecast::Prediction RoundForecast::Predict(const GuardedSize& size) const {
  const PlannedTensor tensor(size.elements, size.element_bytes);
  RoundWork work;
  work.processors = processors_;
  const TensorRound full = PredictRoundOf(policy_, view_, tensor, work);
  work.is_low_bit = true;
  work.has_zero_votes = HasZeroVotes(rules_);
  double voters = 0;
  for (const RoundWork::Processor& processor : processors_) voters += processor.workers;
  // What earlier votes have left is read and written too (node/votes/vote_computations.h).
  work.cast_passes = rules_.aggregate == VoteAggregate::kMean ? 4 : 2;
  work.result_bits = ResultBits(rules_, voters);
  Policy low_bit = policy_;
  low_bit.chunk_max_elements = LowBitChunk(size.elements, policy_.chunk_max_elements);
  return {PredictRoundOf(low_bit, view_, tensor, work), full};
}

int64_t RoundForecast::size_bytes() const {
  double visits = 0;
  for (const GuardedSize& size : sizes_) {
    const int64_t chunks = std::min(size.elements / policy_.chunk_max_elements + 1, kScheduledChunks);
    // Each tree is built once, for votes and for floats.
    visits += 2 * static_cast<double>(view_.nodes().size()) *
              (static_cast<double>(chunks) + static_cast<double>(policy_.trees.size()));
  }
  return static_cast<int64_t>(kBytesPerVisit * visits);
}

void EndpointGuard::OnReport(NodeId node, const PrecisionReport& report) {
  if (report.services.empty()) return;
  RoundWork::Processor& processor = processors_[node];
  processor.threads = static_cast<int>(report.threads);
  for (const PrecisionReport::Service& service : report.services) {
    Work& work = work_[{node, service.kind}];
    // A node that began anew reports less.
    if (service.bytes < work.reported.bytes || service.time < work.reported.time) work = {};
    work.bytes += static_cast<double>(service.bytes - work.reported.bytes);
    work.time += service.time - work.reported.time;
    work.reported = service;
    if (work.bytes == 0 || work.time <= absl::ZeroDuration()) continue;
    const double rate = work.bytes / absl::ToDoubleSeconds(work.time);
    if (work.time > kRememberedWork) {
      work.bytes *= absl::FDivDuration(kRememberedWork, work.time);
      work.time = kRememberedWork;
    }
    (service.kind == ServiceKind::kSum    ? processor.sum_rate
     : service.kind == ServiceKind::kCast ? processor.cast_rate
                                          : processor.count_rate) = rate;
  }
}

std::unique_ptr<RoundForecast> EndpointGuard::Ask(const Policy& policy, const NetworkView& view,
                                                  const std::vector<double>& workers,
                                                  const std::vector<GuardedSize>& sizes) {
  const bool has_new_size =
      std::any_of(sizes.begin(), sizes.end(), [this](const GuardedSize& size) { return !asked_.contains(size); });
  const bool has_other_rate = std::any_of(processors_.begin(), processors_.end(), [this](const auto& node) {
    const auto used = used_.find(node.first);
    return used == used_.end() || IsOther(node.second, used->second);
  });
  if (policy.version == policy_ && !has_new_size && !has_other_rate) return nullptr;
  policy_ = policy.version;
  used_ = processors_;
  asked_ = {sizes.begin(), sizes.end()};
  std::vector<RoundWork::Processor> processors;
  for (size_t i = 0; i < view.nodes().size(); ++i) {
    const auto known = processors_.find(view.nodes()[i].id);
    processors.push_back(known == processors_.end() ? RoundWork::Processor() : known->second);
    processors.back().workers = workers[i];
  }
  return std::make_unique<RoundForecast>(policy, view, rules_, std::move(processors), sizes);
}

void EndpointGuard::Take(const RoundForecast& done) {
  predictions_ = done.predictions();
  allowed_.clear();
  for (const auto& [size, prediction] : predictions_) {
    if (prediction.is_shorter()) allowed_.insert(size);
  }
}

}  // namespace banyan
