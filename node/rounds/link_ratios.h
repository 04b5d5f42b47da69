// The ratio of each link under each rule of compression: which share of a tensor's elements a sparse codec sends to a
// neighbour in the next round. A controller per (rule, neighbour) learns from how the rounds went on that link.
// Thread-compatible; owned by RoundEngine.
#ifndef BANYAN_NODE_ROUNDS_LINK_RATIOS_H_
#define BANYAN_NODE_ROUNDS_LINK_RATIOS_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compression/control/ratio_controller.h"
#include "core/ids.h"
#include "proto/compression/compression_config.h"

namespace banyan {

class LinkRatios {
 public:
  // How a round went on the link to a neighbour; the ratio is filled in here.
  struct Observation {
    NodeId neighbour;
    RoundObservation round;
    double results_in_time = 1;  // the part of results in levels that left in time
  };

  // `config` must outlive this. REQUIRES: MakeRatioController accepts each of its rules.
  explicit LinkRatios(const CompressionConfig* config) : config_(config) {}

  // In (0, 1]. REQUIRES: `rule` is one of the configuration's.
  double RatioTo(NodeId neighbour, const CompressionRule& rule);
  // The least of those to these neighbours: one encoding goes to all of them. 1 for none.
  double LeastRatioTo(const std::vector<NodeId>& neighbours, const CompressionRule& rule);

  // A round is over on these links.
  void Observe(const std::vector<Observation>& links);

 private:
  RatioController& ControllerOf(NodeId neighbour, const CompressionRule& rule);

  const CompressionConfig* config_;
  std::map<std::pair<NodeId, size_t>, std::unique_ptr<RatioController>> controllers_;  // by neighbour and rule
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_LINK_RATIOS_H_
