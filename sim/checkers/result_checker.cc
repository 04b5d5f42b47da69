#include "sim/checkers/result_checker.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compression/compression_rules.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "core/check.h"

namespace banyan {
namespace {

// Several roundings on each of several nodes in each round.
constexpr double kFloatTolerance = 1e-5;

}  // namespace

ResultChecker::ResultChecker(const TrainingPlan* plan, std::vector<WorkerName> workers, AggregationOp op,
                             const CompressionConfig& compression, Violations* violations, bool may_be_late)
    : plan_(plan),
      workers_(std::move(workers)),
      op_(op),
      violations_(violations),
      debts_(plan->tensors.size()),
      may_be_late_(may_be_late) {
  BANYAN_CHECK(!workers_.empty());
  for (const TrainingPlan::Tensor& tensor : plan->tensors) knowledge_.push_back(KnowledgeOf(tensor, compression));
}

ResultChecker::Knowledge ResultChecker::KnowledgeOf(const TrainingPlan::Tensor& tensor,
                                                    const CompressionConfig& compression) const {
  if (plan_->source != nullptr) return Knowledge::kNothing;
  if (op_ != AggregationOp::kSum && op_ != AggregationOp::kMean) return Knowledge::kNothing;
  const CompressionRule* rule = RuleFor(compression, tensor.name, tensor.elements);
  // Of which gradients a mean is made is not known; nor by what is divided that an encoding has kept back.
  const bool is_of_equals = plan_->equal_gradients && (rule == nullptr || !UsesErrorFeedback(*rule));
  if (may_be_late_ && op_ == AggregationOp::kMean && !is_of_equals) return Knowledge::kNothing;
  if (rule == nullptr || IsExact(tensor.type)) return Knowledge::kEachRound;
  return UsesErrorFeedback(*rule) ? Knowledge::kUpToFlush : Knowledge::kNothing;
}

void ResultChecker::ExpectVotes(const VoteRules& rules, const PrecisionBinding* binding) {
  rules_ = rules;
  binding_ = binding;
  if (rules.aggregate != VoteAggregate::kMean) return;
  for (size_t tensor = 0; tensor < knowledge_.size(); ++tensor) {
    const bool is_exact = IsExact(plan_->tensors[tensor].type);
    if (knowledge_[tensor] == Knowledge::kEachRound && !is_exact) knowledge_[tensor] = Knowledge::kUpToFlush;
  }
}

std::vector<float> ResultChecker::Expected(size_t tensor, Round round) const {
  if (plan_->source != nullptr) return {};
  if (plan_->KindOf(round) == RoundKind::kBroadcast) return SumOfGradients(*plan_, {&workers_[0], 1}, tensor, round);
  if (knowledge_[tensor] != Knowledge::kEachRound) return {};
  std::vector<float> expected = SumOfGradients(*plan_, workers_, tensor, round);
  if (op_ == AggregationOp::kMean && ReductionOf(plan_->tensors[tensor].type) == Reduction::kOfJob) {
    for (float& value : expected) value /= static_cast<float>(workers_.size());
  }
  return expected;
}

std::vector<float> ResultChecker::Voted(size_t tensor, Round round) const {
  const bool is_of_votes = rules_.has_value() && plan_->KindOf(round) == RoundKind::kAggregate;
  if (!is_of_votes || knowledge_[tensor] != Knowledge::kEachRound) return {};
  const int64_t elements = plan_->tensors[tensor].elements;
  std::vector<float> values(elements);
  std::vector<float> voted(elements);
  for (const SliceBinding& slice : binding_->SlicesOf(plan_->tensors[tensor].name, elements)) {
    VoteCount count(slice.elements, HasZeroVotes(*rules_));
    for (const WorkerName& worker : workers_) {
      plan_->Fill(worker, tensor, round, absl::MakeSpan(values));
      const absl::Span<const float> part = absl::MakeConstSpan(values).subspan(slice.first, slice.elements);
      count.Add(VoteCount::OfVoter(part, SliceScale(part), *rules_));
    }
    VoteDecision(count, *rules_).WriteTo(absl::MakeSpan(voted).subspan(slice.first, slice.elements));
  }
  return voted;
}

std::vector<float> ResultChecker::RightFor(size_t tensor, const RoundResult& result,
                                           absl::Span<const float> values) const {
  std::vector<float> right = result.expected;
  if (result.voted.empty()) return right;
  const absl::Span<const float> voted = absl::MakeConstSpan(result.voted);
  for (const SliceBinding& slice : binding_->SlicesOf(plan_->tensors[tensor].name, plan_->tensors[tensor].elements)) {
    if (voted.subspan(slice.first, slice.elements) != values.subspan(slice.first, slice.elements)) continue;
    std::copy_n(voted.begin() + slice.first, slice.elements, right.begin() + slice.first);
  }
  return right;
}

void ResultChecker::OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round,
                             absl::Span<const float> values) {
  ++results_;
  if (may_be_late_ && knowledge_[tensor] != Knowledge::kNothing && plan_->KindOf(round) != RoundKind::kBroadcast) {
    Debt& debt = workers_debts_[{tensor, worker}];
    BookPushed(tensor, round, values, debt);
    if (plan_->KindOf(round) == RoundKind::kFlush) CheckNothingOwed(now, tensor, round, NameOf(worker), debt);
  }
  if (MayDiffer(round)) return;
  const auto [entry, is_first] = rounds_.try_emplace({tensor, round});
  RoundResult& result = entry->second;
  const uint64_t hash = HashOf(values);
  if (is_first) {
    result.expected = Expected(tensor, round);
    result.voted = Voted(tensor, round);
    result.hash = hash;
    result.first = worker;
    Book(now, tensor, round, values);
  } else if (hash != result.hash) {
    replicas_identical_ = false;
    violations_->Add(now, "identical replicas",
                     absl::StrCat(plan_->tensors[tensor].name, " round ", round.value(), ": the results on nodes ",
                                  result.first.node.value(), " and ", worker.node.value(), " differ"));
  }
  if (!result.expected.empty()) CheckValues(now, worker, tensor, round, RightFor(tensor, result, values), values);
  if (++result.seen == workers_.size()) rounds_.erase(entry);
}

bool ResultChecker::MayDiffer(Round round) const {
  if (!may_be_late_ || plan_->KindOf(round) == RoundKind::kBroadcast) return false;
  // After a flush everybody has the same parameters. An update may be the sum of several.
  const bool is_update = op_ == AggregationOp::kSum || op_ == AggregationOp::kMean;
  return is_update || plan_->KindOf(round) != RoundKind::kFlush;
}

// Rounds of such a tensor are open one at a time, so their first results come in order.
void ResultChecker::Book(Timestamp now, size_t tensor, Round round, absl::Span<const float> values) {
  const RoundKind kind = plan_->KindOf(round);
  if (knowledge_[tensor] != Knowledge::kUpToFlush || kind == RoundKind::kBroadcast) return;
  BookPushed(tensor, round, values, debts_[tensor]);
  if (kind == RoundKind::kFlush) CheckNothingOwed(now, tensor, round, "", debts_[tensor]);
}

void ResultChecker::BookPushed(size_t tensor, Round round, absl::Span<const float> values, Debt& debt) const {
  debt.owed.resize(values.size());
  const double weight = op_ == AggregationOp::kMean ? static_cast<double>(workers_.size()) : 1;
  const std::vector<float> pushed = SumOfGradients(*plan_, workers_, tensor, round);
  double largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    debt.owed[i] += pushed[i] / weight - values[i];
    largest = std::max({largest, std::abs(pushed[i] / weight), std::abs(double{values[i]})});
  }
  debt.magnitude += largest;
}

void ResultChecker::CheckNothingOwed(Timestamp now, size_t tensor, Round round, const std::string& whose,
                                     const Debt& debt) {
  for (size_t i = 0; i < debt.owed.size(); ++i) {
    if (std::abs(debt.owed[i]) <= kFloatTolerance * debt.magnitude) continue;
    violations_->Add(
        now, "nothing lost",
        absl::StrCat(plan_->tensors[tensor].name, ": after the flush in round ", round.value(), " element ", i,
                     whose.empty() ? "" : " of ", whose, " still misses ", debt.owed[i], " of what was pushed"));
    return;
  }
}

void ResultChecker::CheckValues(Timestamp now, WorkerName worker, size_t tensor, Round round,
                                absl::Span<const float> expected, absl::Span<const float> values) {
  // Sums are exact; a mean is rounded once or twice.
  const float tolerance = plan_->KindOf(round) != RoundKind::kBroadcast && op_ == AggregationOp::kMean ? 1e-6f : 0.0f;
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
