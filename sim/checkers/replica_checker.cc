#include "sim/checkers/replica_checker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace banyan {
void ReplicaChecker::OnStarted(Timestamp /*now*/, WorkerName worker) {
  Life& life = lives_[worker];
  life = {life.start + 1, true, std::nullopt, 0};
}

void ReplicaChecker::OnEnded(Timestamp /*now*/, WorkerName worker) { lives_[worker].is_up = false; }

bool ReplicaChecker::IsThere(WorkerName worker, WorkerStart start) const {
  const bool is_same = StartOf(worker) == start;
  return is_same && lives_.at(worker).is_up && membership_->IsMember(worker.node, membership_->epoch());
}

void ReplicaChecker::OnReplica(Timestamp now, WorkerName worker, const ReplicaMark& replica) {
  Life& life = lives_[worker];
  life.step = replica.step;
  if (!life.has_model_since.has_value()) life.has_model_since = now;
  // A node that has fallen out may end its last epoch by itself, until it hears of it.
  if (!IsThere(worker, StartOf(worker))) return;
  Variant& variant = variants_[{replica.lineage, replica.step}];
  // What only those had who are gone may be made again, of others.
  const bool is_gone = std::none_of(variant.holders.begin(), variant.holders.end(),
                                    [this](const auto& holder) { return IsThere(holder.first, holder.second); });
  if (is_gone) variant = {replica.results, {}};
  if (!variant.holders.empty()) ++compared_;
  if (variant.results != replica.results) {
    violations_->Add(now, "identical replicas",
                     absl::StrCat("the model of ", NameOf(worker), " after step ", replica.step,
                                  " differs from that of ", NameOf(variant.holders.front().first)));
    return;
  }
  variant.holders.emplace_back(worker, StartOf(worker));
}

void ReplicaChecker::OnBeganAlone(Timestamp now, WorkerName worker, Timestamp asked_at) {
  for (const auto& [name, life] : lives_) {
    const bool has_model = life.has_model_since.has_value() && *life.has_model_since < asked_at;
    if (name == worker || !has_model || !IsThere(name, StartOf(name)) || life.step >= last_step_) continue;
    // Nobody can fetch from it any more, though it may stay a member until the next epoch.
    if (membership_->HasLeft(name.node)) continue;
    violations_->Add(
        now, "states are shared",
        absl::StrCat(NameOf(worker), " begins with its own values, though ", NameOf(name), " has a model"));
    return;
  }
}

}  // namespace banyan
