// Counts the policies that the scheduler published. Thread-compatible; owned by whoever runs the simulation, and
// outlives the network that it observes.
#ifndef BANYAN_SIM_CHECKERS_POLICY_COUNT_H_
#define BANYAN_SIM_CHECKERS_POLICY_COUNT_H_

#include <cstddef>
#include <set>
#include <variant>

#include "core/ids.h"
#include "sim/traffic_observer.h"

namespace banyan {

class PolicyCount : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const auto* published = std::get_if<PolicyPublished>(&sent.message);
    if (published != nullptr) versions_.insert(published->slice.version);
  }

  size_t count() const { return versions_.size(); }

 private:
  std::set<PolicyVersion> versions_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_POLICY_COUNT_H_
