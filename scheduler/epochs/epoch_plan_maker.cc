#include "scheduler/epochs/epoch_plan_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace banyan {
namespace {

// The open rounds of one key as a plan has them, but for the key.
using OfKey = std::vector<EpochPlan::Binding>;

// Joins consecutive keys that have the same.
class PlanWriter {
 public:
  explicit PlanWriter(EpochPlanRecord& plan) : plan_(plan) {}

  void Add(KeyId key, Round first_open, OfKey bindings) {
    AddFrontier(key, first_open);
    if (bindings != bindings_) Flush();
    if (bindings.empty()) return;
    if (bindings_.empty()) first_key_ = key;
    bindings_ = std::move(bindings);
    last_key_ = key;
  }
  void Flush() {
    for (EpochPlan::Binding& binding : bindings_) {
      binding.first_key = first_key_;
      binding.last_key = last_key_;
      plan_.bindings.push_back(binding);
    }
    bindings_.clear();
  }

 private:
  void AddFrontier(KeyId key, Round first_open) {
    std::vector<EpochPlan::Frontier>& frontiers = plan_.frontiers;
    if (frontiers.empty() || frontiers.back().first_open != first_open) frontiers.push_back({key, key, first_open});
    frontiers.back().last_key = key;
  }

  EpochPlanRecord& plan_;
  KeyId first_key_;
  KeyId last_key_;
  OfKey bindings_;
};

EpochPlan::Binding Entry(const BoundRounds& rounds, Attempt attempt, const PublishedPolicies& policies) {
  const int64_t elements = rounds.chunk_max_elements > 0 ? rounds.chunk_max_elements : policies.ChunkOf(rounds.policy);
  return {KeyId(), KeyId(), rounds.first_round, rounds.last_round, attempt, elements, rounds.route};
}

}  // namespace

EpochPlanRecord MakeEpochPlan(Epoch epoch, PolicyVersion policy, const EpochReports& reports, const KeyTable& keys,
                              const JobRounds& rounds, const PublishedPolicies& policies) {
  EpochPlanRecord plan = {epoch, policy, {}, {}};
  PlanWriter writer(plan);
  for (KeyId key(1); keys.Contains(key); key = key.Next()) {
    const Round after = rounds.AfterLast(key);
    // No member holds a round that never began, whatever it reports.
    const Round next = std::min(reports.LeastNext(key).value_or(after), after);
    const Round first_open = std::max(next, rounds.FirstOpen(key));
    OfKey bindings;
    for (const BoundRounds& run : rounds.OpenFrom(key, first_open)) {
      bindings.push_back(Entry(run, run.attempt.Next(), policies));
    }
    writer.Add(key, first_open, std::move(bindings));
  }
  writer.Flush();
  return plan;
}

EpochPlanRecord RepeatEpochPlan(Epoch epoch, const KeyTable& keys, const JobRounds& rounds,
                                const PublishedPolicies& policies) {
  EpochPlanRecord plan = {epoch, policies.Oldest(), {}, {}};
  PlanWriter writer(plan);
  for (KeyId key(1); keys.Contains(key); key = key.Next()) {
    OfKey bindings;
    for (const BoundRounds& run : rounds.OpenFrom(key, rounds.FirstOpen(key))) {
      if (run.policy == plan.policy) bindings.push_back(Entry(run, run.attempt, policies));
    }
    writer.Add(key, rounds.FirstOpen(key), std::move(bindings));
  }
  writer.Flush();
  // Nothing of these keys is closed: a plan of the job's start has no frontier for them either.
  std::erase_if(plan.frontiers, [](const EpochPlan::Frontier& run) { return run.first_open == Round(0); });
  return plan;
}

}  // namespace banyan
