// Traffic of a made-up job, interval by interval, on links that share capacities: for tests. Links have much, little or
// nothing to send, and what is full is divided by weights that wander. Thread-compatible.
#ifndef BANYAN_TOPOLOGY_INFERENCE_FLUID_TRAFFIC_H_
#define BANYAN_TOPOLOGY_INFERENCE_FLUID_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "topology/inference/traffic_window.h"

namespace banyan {

class FluidTraffic {
 public:
  struct Shared {
    double capacity_bps = 0;
    std::vector<size_t> links;
  };

  // `rates_bps` are those of the links alone.
  FluidTraffic(std::vector<double> rates_bps, std::vector<Shared> shared, uint64_t seed);

  // May be changed at any time.
  std::vector<double>& rates_bps() { return rates_bps_; }
  std::vector<Shared>& shared() { return shared_; }

  // Returns what the links carry in the next interval, as it is measured.
  std::vector<LinkTraffic> Next();

 private:
  void Wander();
  std::vector<double> Divide() const;

  std::vector<double> rates_bps_;
  std::vector<Shared> shared_;
  Random random_;
  std::vector<double> weights_;
  std::vector<double> wants_bps_;  // infinite where a link has much to send
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_FLUID_TRAFFIC_H_
