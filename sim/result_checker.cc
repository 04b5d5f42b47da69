#include "sim/result_checker.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "sim/digest.h"

namespace banyan {
namespace {

uint64_t HashOf(absl::Span<const float> values) {
  return DigestBytes({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)}, 0);
}

}  // namespace

ResultChecker::ResultChecker(const TrainingPlan* plan, std::vector<WorkerName> workers, AggregationOp op,
                             bool is_compressed, Violations* violations)
    : plan_(plan), workers_(std::move(workers)), op_(op), is_compressed_(is_compressed), violations_(violations) {
  BANYAN_CHECK(!workers_.empty());
}

std::vector<float> ResultChecker::Expected(size_t tensor, Round round) const {
  if (plan_->source != nullptr) return {};
  if (plan_->KindOf(round) == RoundKind::kBroadcast) return SumOfGradients(*plan_, {&workers_[0], 1}, tensor, round);
  if (is_compressed_ || (op_ != AggregationOp::kSum && op_ != AggregationOp::kMean)) return {};
  std::vector<float> expected = SumOfGradients(*plan_, workers_, tensor, round);
  if (op_ == AggregationOp::kMean) {
    for (float& value : expected) value /= static_cast<float>(workers_.size());
  }
  return expected;
}

void ResultChecker::OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round,
                             absl::Span<const float> values) {
  ++results_;
  const auto [entry, is_first] = rounds_.try_emplace({tensor, round});
  RoundResult& result = entry->second;
  const uint64_t hash = HashOf(values);
  if (is_first) {
    result.expected = Expected(tensor, round);
    result.hash = hash;
    result.first = worker;
  } else if (hash != result.hash) {
    replicas_identical_ = false;
    violations_->Add(now, "identical replicas",
                     absl::StrCat(plan_->tensors[tensor].name, " round ", round.value(), ": the results on nodes ",
                                  result.first.node.value(), " and ", worker.node.value(), " differ"));
  }
  if (!result.expected.empty()) CheckValues(now, worker, tensor, round, result.expected, values);
  if (++result.seen == workers_.size()) rounds_.erase(entry);
}

void ResultChecker::CheckValues(Timestamp now, WorkerName worker, size_t tensor, Round round,
                                absl::Span<const float> expected, absl::Span<const float> values) {
  // Sums are exact; a mean is rounded once or twice.
  const float tolerance = plan_->KindOf(round) == RoundKind::kAggregate && op_ == AggregationOp::kMean ? 1e-6f : 0.0f;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - expected[i]) <= tolerance * std::abs(expected[i])) continue;
    violations_->Add(
        now, "exactly once",
        absl::StrCat(plan_->tensors[tensor].name, " round ", round.value(), " on node ", worker.node.value(),
                     ": element ", i, " is ", values[i], ", the members' contributions make ", expected[i]));
    return;
  }
}

void ResultChecker::OnMisuse(Timestamp now, WorkerName worker, const std::string& what) {
  violations_->Add(now, "session",
                   absl::StrCat("node ", worker.node.value(), " worker ", worker.worker.value(), ": ", what));
}

}  // namespace banyan
