#include "sim/checkers/contributor_checker.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// What says of a result in which epoch it was made has been sent by then.
constexpr absl::Duration kCheckAfter = absl::Seconds(1);
// Each mean of a sum is rounded once or twice.
constexpr double kMeansTolerance = 1e-6;

// Several roundings on each of several nodes in each round.
constexpr double kDebtTolerance = 1e-5;

}  // namespace

std::optional<ReturnedDebts::Miss> ReturnedDebts::Book(size_t tensor, Round round, absl::Span<const float> pushed,
                                                       absl::Span<const float> returned, bool is_flush) {
  const auto [entry, is_new] = debts_.try_emplace(tensor);
  Debt& debt = entry->second;
  if (is_new) debt = {{}, 0, BeginningOf(tensor, round)};
  debt.owed.resize(returned.size());
  double largest = 0;
  for (size_t i = 0; i < returned.size(); ++i) {
    debt.owed[i] += double{pushed[i]} - returned[i];
    largest = std::max({largest, std::abs(double{pushed[i]}), std::abs(double{returned[i]})});
  }
  debt.magnitude += largest;
  if (!is_flush) return std::nullopt;
  const Debt settled = std::move(debt);
  debts_.erase(entry);
  if (doubtful_.erase(tensor) > 0 || settled.begun.changes != changes_) return std::nullopt;
  if (!membership_->HasSameMembersSince(settled.begun.epoch)) return std::nullopt;
  for (size_t i = 0; i < settled.owed.size(); ++i) {
    if (std::abs(settled.owed[i]) > kDebtTolerance * settled.magnitude) return Miss{i, settled.owed[i]};
  }
  return std::nullopt;
}

ContributorChecker::ContributorChecker(const TrainingPlan* plan, ContributorFields* fields, AggregationOp op,
                                       const MembershipWatch* membership, const ChunkWatch* chunks,
                                       Violations* violations, bool may_be_late)
    : plan_(plan),
      fields_(fields),
      op_(op),
      membership_(membership),
      chunks_(chunks),
      violations_(violations),
      debts_(membership),
      may_be_late_(may_be_late) {}

void ContributorChecker::OnStarted(Timestamp /*now*/, WorkerName worker) {
  const bool is_first = !lives_.contains(worker);
  Life& life = lives_[worker];
  life = {life.start + 1, true};
  began_.erase(worker);
  if (!is_first) debts_.OnChange();
  if (!may_be_late_) return;
  for (auto& [name, debts] : late_debts_) debts.OnChange();
  late_debts_.erase(worker);
  ReturnedDebts& own = late_debts_.emplace(worker, membership_).first->second;
  // It may begin anywhere between two flushes.
  for (size_t tensor = 0; tensor < plan_->tensors.size(); ++tensor) own.OnDoubt(tensor);
}

void ContributorChecker::OnEnded(Timestamp /*now*/, WorkerName worker) {
  lives_[worker].is_up = false;
  debts_.OnChange();
  for (auto& [name, debts] : late_debts_) debts.OnChange();
}

bool ContributorChecker::IsThere(WorkerName worker, WorkerStart start) const {
  const Life& life = lives_.at(worker);
  const bool is_same = WorkerStart{life.start, membership_->StartsOf(worker.node)} == start;
  return life.is_up && is_same && membership_->IsMember(worker.node, membership_->epoch());
}

void ContributorChecker::OnPushed(Timestamp /*now*/, WorkerName worker, size_t tensor, Round round) {
  // What is skipped counts as if nothing had been pushed.
  if (!plan_->IsNotFinite(worker, tensor, round)) pushes_[{tensor, round}][worker] = StartOf(worker);
  began_.try_emplace(worker, membership_->epoch());
  debts_.OnPushed(tensor, round);
  for (auto& [name, debts] : late_debts_) debts.OnPushed(tensor, round);
}

void ContributorChecker::OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round,
                                  absl::Span<const float> values) {
  ++results_;
  while (!unchecked_.empty() && unchecked_.front().when + kCheckAfter <= now) {
    Check(unchecked_.front());
    unchecked_.pop_front();
  }
  if (may_be_late_ && plan_->KindOf(round) != RoundKind::kBroadcast) {
    return BookLate(now, worker, {tensor, round}, values);
  }
  CheckOneResult(now, worker, {tensor, round}, values);
}

void ContributorChecker::BookLate(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values) {
  const auto debts = late_debts_.find(worker);
  const bool is_flush = plan_->KindOf(round.second) == RoundKind::kFlush;
  if (op_ == AggregationOp::kMean && fields_->are_ones()) return CheckMeansOfOnes(now, worker, round, values);
  if (op_ != AggregationOp::kSum || !fields_->IsSpread(round.first) || debts == late_debts_.end()) return;
  std::vector<float> pushed(values.size(), 0.0f);
  std::vector<float> gradient(values.size());
  if (is_flush) {
    Round& last = late_flushes_[{worker, round.first}];
    const auto end = pushes_.upper_bound(round);
    for (auto pushes = pushes_.lower_bound({round.first, last.Next()}); pushes != end; ++pushes) {
      if (plan_->KindOf(pushes->first.second) == RoundKind::kBroadcast) continue;
      for (const auto& [name, start] : pushes->second) {
        // A node that has fallen out goes on in its last epoch until it hears of it.
        if (!IsThere(name, start)) debts->second.OnDoubt(round.first);
        fields_->Fill(name, round.first, pushes->first.second, absl::MakeSpan(gradient));
        for (size_t i = 0; i < pushed.size(); ++i) pushed[i] += gradient[i];
      }
    }
    last = round.second;
    ++flushes_;
  }
  Unchecked result{now, round, worker, {}, {}, {}, {}};
  // As in Remember.
  if (!NotePushes(result)) debts->second.OnDoubt(round.first);
  const std::optional<ReturnedDebts::Miss> miss =
      debts->second.Book(round.first, round.second, pushed, values, is_flush);
  if (is_flush && !AllNodesPushed(result)) debts->second.OnDoubt(round.first);
  if (!miss.has_value()) return;
  Complain(result, static_cast<int64_t>(miss->element), "nothing lost",
           absl::StrCat("after the flush it still misses ", miss->owed, " of what was pushed"));
}

void ContributorChecker::CheckMeansOfOnes(Timestamp now, WorkerName worker, TensorRound round,
                                          absl::Span<const float> values) {
  const auto most = static_cast<double>(plan_->rounds);
  for (size_t i = 0; i < values.size(); ++i) {
    const double means = std::round(double{values[i]});
    if (means >= 0 && means <= most && std::abs(values[i] - means) <= kMeansTolerance * most) continue;
    return Complain({now, round, worker, {}, {}, {}, {}}, static_cast<int64_t>(i), "mean",
                    absl::StrCat("is ", values[i], ", and no whole number of means of ones"));
  }
  ++means_;
}

bool ContributorChecker::NotePushes(Unchecked& result) {
  bool all_are_there = true;
  for (const auto& [name, start] : pushes_[result.round]) {
    result.pushed.insert(name);
    const std::optional<Epoch> joined = membership_->JoinedIn(name.node);
    const bool is_there = IsThere(name, start) && joined.has_value();
    all_are_there = all_are_there && is_there;
    if (!is_there) continue;
    // Its node abstained before, and what an earlier epoch made stands without it.
    result.there[name] = std::max(*joined, began_.at(name));
    if (name.node == result.holder.node) result.on_holders_node.insert(name);
  }
  return all_are_there;
}

void ContributorChecker::Finish() {
  for (const Unchecked& result : unchecked_) Check(result);
  unchecked_.clear();
}

void ContributorChecker::CheckOneResult(Timestamp now, WorkerName worker, TensorRound round,
                                        absl::Span<const float> values) {
  const std::pair<WorkerName, WorkerStart> holder(worker, StartOf(worker));
  // A node that has fallen out may end its last epoch by itself, until it hears of it.
  if (!IsThere(holder.first, holder.second)) return;
  std::vector<Variant>& variants = variants_[round];
  const bool is_first = variants.empty();
  const uint64_t hash = HashOf(values);
  // What only those had who are gone may be made again, of others.
  std::erase_if(variants, [&](const Variant& variant) {
    return variant.hash != hash && std::none_of(variant.holders.begin(), variant.holders.end(),
                                                [&](const auto& other) { return IsThere(other.first, other.second); });
  });
  const bool is_known = !variants.empty() && variants.front().hash == hash;
  if (is_known) {
    variants.front().holders.push_back(holder);
    return;
  }
  if (!variants.empty()) {
    const Unchecked here{now, round, worker, {}, {}, {}, {}};
    Complain(here, 0, "identical replicas",
             absl::StrCat("differs from the result of ", NameOf(variants.front().holders.front().first)));
    return;
  }
  variants.push_back({hash, {holder}});
  if (!reads_values_ || (op_ != AggregationOp::kSum && op_ != AggregationOp::kMean)) return;
  if (is_first || !fields_->IsSpread(round.first)) Remember(now, worker, round, values);
}

void ContributorChecker::Remember(Timestamp now, WorkerName worker, TensorRound round, absl::Span<const float> values) {
  Unchecked result{now, round, worker, {values.begin(), values.end()}, {}, {}, {}};
  const bool all_are_there = NotePushes(result);
  const RoundKind kind = plan_->KindOf(round.second);
  if (!fields_->IsSpread(round.first) || kind == RoundKind::kBroadcast) {
    unchecked_.push_back(std::move(result));
    return;
  }
  std::vector<float> pushed(values.size(), 0.0f);
  std::vector<float> gradient(values.size());
  for (const WorkerName& name : result.pushed) {
    fields_->Fill(name, round.first, round.second, absl::MakeSpan(gradient));
    for (size_t i = 0; i < pushed.size(); ++i) pushed[i] += gradient[i];
  }
  // What somebody has pushed who is gone may be in the result or not. What came back of a round to nobody is unknown.
  if (!all_are_there || HasUnbookedPushes(round)) debts_.OnDoubt(round.first);
  booked_[round.first] = round.second;
  // As often as its pushes are in a mean: while nobody comes or goes, each is there once.
  const auto voters = static_cast<float>(op_ == AggregationOp::kMean ? result.pushed.size() : 1);
  std::vector<float> returned(values.begin(), values.end());
  for (float& value : returned) value *= voters;
  const std::optional<ReturnedDebts::Miss> miss =
      debts_.Book(round.first, round.second, pushed, returned, kind == RoundKind::kFlush);
  if (kind == RoundKind::kFlush) ++flushes_;
  // A node that abstains from a flush does not know of it, and gives what it has kept later.
  if (kind == RoundKind::kFlush && !AllNodesPushed(result)) debts_.OnDoubt(round.first);
  if (!miss.has_value()) return;
  Complain(result, static_cast<int64_t>(miss->element), "nothing lost",
           absl::StrCat("after the flush it still misses ", miss->owed, " of what was pushed"));
}

bool ContributorChecker::HasUnbookedPushes(TensorRound round) const {
  const auto last = booked_.find(round.first);
  const Round first = last == booked_.end() ? Round(0) : last->second.Next();
  return std::any_of(pushes_.lower_bound({round.first, first}), pushes_.lower_bound(round), [&](const auto& pushes) {
    return !pushes.second.empty() && plan_->KindOf(pushes.first.second) != RoundKind::kBroadcast;
  });
}

bool ContributorChecker::AllNodesPushed(const Unchecked& result) const {
  const std::optional<std::set<NodeId>> members = membership_->MembersOf(membership_->epoch());
  if (!members.has_value()) return false;
  std::set<NodeId> nodes;
  for (const auto& [name, joined] : result.there) nodes.insert(name.node);
  return std::includes(nodes.begin(), nodes.end(), members->begin(), members->end());
}

void ContributorChecker::Check(const Unchecked& result) {
  std::vector<ChunkWatch::Chunk> chunks = chunks_->ChunksOf(result.round.first, result.round.second);
  if (chunks.empty()) {
    // Nothing of it travelled, and each element stands for itself.
    for (size_t i = 0; i < result.values.size(); ++i) chunks.push_back({static_cast<int64_t>(i), 1, {}});
  }
  for (const ChunkWatch::Chunk& chunk : chunks) {
    if (plan_->KindOf(result.round.second) == RoundKind::kBroadcast) {
      CheckBroadcast(result, chunk);
    } else {
      CheckSum(result, chunk);
    }
  }
}

void ContributorChecker::CheckBroadcast(const Unchecked& result, const ChunkWatch::Chunk& chunk) {
  const auto [tensor, round] = result.round;
  const auto first = static_cast<size_t>(chunk.first_element);
  const auto elements = static_cast<size_t>(chunk.elements);
  std::vector<float> gradient(result.values.size());
  // Round 0 is pushed with Init, which nobody is told of.
  const std::vector<WorkerName>& all = fields_->workers();
  const std::set<WorkerName> pushed = round == Round(0) ? std::set(all.begin(), all.end()) : result.pushed;
  for (const WorkerName& name : pushed) {
    fields_->Fill(name, tensor, round, absl::MakeSpan(gradient));
    if (absl::MakeSpan(gradient).subspan(first, elements) == absl::MakeSpan(result.values).subspan(first, elements)) {
      return;
    }
  }
  Complain(result, chunk.first_element, "exactly once",
           absl::StrCat("is the broadcast of none of those who pushed it; it begins with ", result.values[first]));
}

void ContributorChecker::CheckSum(const Unchecked& result, const ChunkWatch::Chunk& chunk) {
  const auto [tensor, round] = result.round;
  std::optional<Counts> first;
  for (int64_t i = chunk.first_element; i < chunk.first_element + chunk.elements; ++i) {
    const auto element = static_cast<size_t>(i);
    const float value = result.values[element];
    const std::optional<Counts> counts = op_ == AggregationOp::kMean ? fields_->OfMean(tensor, round, element, value)
                                                                     : fields_->OfSum(tensor, round, element, value);
    if (!counts.has_value()) {
      return Complain(result, i, "exactly once", absl::StrCat(value, " is made of no contributions to this round"));
    }
    if (!first.has_value()) {
      first = counts;
      CheckCounts(result, chunk, *counts);
    } else if (counts != first) {
      return Complain(result, i, "exactly once",
                      absl::StrCat("has contributors ", absl::StrJoin(*counts, ","), ", the chunk begins with ",
                                   absl::StrJoin(*first, ",")));
    }
  }
}

void ContributorChecker::CheckCounts(const Unchecked& result, const ChunkWatch::Chunk& chunk, const Counts& counts) {
  const std::set<WorkerName> required = Required(result, chunk);
  required_ += static_cast<int64_t>(required.size());
  for (size_t place = 0; place < counts.size(); ++place) {
    const WorkerName name = fields_->workers()[place];
    if (counts[place] > 1) {
      Complain(result, chunk.first_element, "exactly once", absl::StrCat("has ", NameOf(name), " more than once"));
    } else if (counts[place] == 1 && !result.pushed.contains(name)) {
      Complain(result, chunk.first_element, "exactly once", absl::StrCat("has ", NameOf(name), ", who pushed nothing"));
    } else if (counts[place] == 0 && required.contains(name)) {
      Complain(result, chunk.first_element, "exactly once", absl::StrCat("lacks ", NameOf(name)));
    }
  }
}

std::set<WorkerName> ContributorChecker::Required(const Unchecked& result, const ChunkWatch::Chunk& chunk) const {
  if (chunk.made_in.empty()) return result.on_holders_node;
  std::set<WorkerName> required;
  for (const auto& [name, began] : result.there) {
    const bool was_member = std::all_of(chunk.made_in.begin(), chunk.made_in.end(), [&](Epoch epoch) {
      return began <= epoch && membership_->IsMember(name.node, epoch);
    });
    if (was_member) required.insert(name);
  }
  return required;
}

void ContributorChecker::Complain(const Unchecked& result, int64_t element, const std::string& rule,
                                  const std::string& what) {
  violations_->Add(result.when, rule,
                   absl::StrCat(plan_->tensors[result.round.first].name, " round ", result.round.second.value(), " at ",
                                NameOf(result.holder), ": element ", element, " ", what));
}

}  // namespace banyan
