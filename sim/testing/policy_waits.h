// Counts the rounds in which a push came before the policy that governs it: those that waited for the scheduler.
// Thread-compatible; registered with the network and as the workers' listener, outlives the run.
#ifndef BANYAN_SIM_TESTING_POLICY_WAITS_H_
#define BANYAN_SIM_TESTING_POLICY_WAITS_H_

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "sim/processes/worker_listener.h"
#include "sim/traffic_observer.h"
#include "sim/training/training_plan.h"

namespace banyan {

class PolicyWaits : public TrafficObserver, public WorkerListener {
 public:
  explicit PolicyWaits(const TrainingPlan& plan) {
    for (const TrainingPlan::Tensor& tensor : plan.tensors) names_.push_back(tensor.name);
  }

  void OnDelivered(const SentMessage& sent) override {
    if (const auto* assigned = std::get_if<KeysAssigned>(&sent.message)) {
      for (const KeySlice& key : assigned->keys) keys_[key.name] = key.key;
    } else if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
      for (const PolicyAnswer::Binding& binding : answer->bindings) {
        Round& last = answered_[{sent.to, binding.key}];
        if (binding.last_round > last) last = binding.last_round;
      }
    }
  }
  void OnPushed(Timestamp /*now*/, WorkerName worker, size_t tensor, Round round) override {
    const auto key = keys_.find(names_[tensor]);
    const auto answered = key == keys_.end() ? answered_.end() : answered_.find({worker.node, key->second});
    if (answered == answered_.end() || answered->second < round) rounds_.insert(round);
  }

  const std::set<Round>& rounds() const { return rounds_; }
  size_t RoundsFrom(Round first) const {
    return static_cast<size_t>(std::distance(rounds_.lower_bound(first), rounds_.end()));
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, KeyId> keys_;
  std::map<std::pair<NodeId, KeyId>, Round> answered_;  // the last round that the node has an answer for
  std::set<Round> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_POLICY_WAITS_H_
