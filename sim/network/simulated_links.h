// The directed links of a simulation: those of the overlay, and others that are made when they are first asked for.
// Thread-compatible; owned by the simulated network.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_
#define BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "core/check.h"
#include "core/ids.h"
#include "sim/network/serializer.h"
#include "sim/network/simulated_link.h"

namespace banyan {

class SimulatedLinks {
 public:
  using Links = std::map<std::pair<NodeId, NodeId>, SimulatedLink>;

  // `implicit`: what links outside the overlay are like: to and from the scheduler, and those that nobody should use.
  explicit SimulatedLinks(const LinkOptions& implicit) : implicit_options_(implicit) {}

  // REQUIRES: there is none yet.
  void Add(NodeId from, NodeId to, const LinkOptions& options) {
    const bool added = overlay_.emplace(std::pair(from, to), SimulatedLink(options)).second;
    BANYAN_CHECK(added);
  }
  // A wire that these links of the overlay share from now on. Returns its number.
  size_t AddSharedWire(double rate_bps, absl::Span<const std::pair<NodeId, NodeId>> links) {
    wires_.emplace_back(rate_bps);
    for (const auto& [from, to] : links) overlay_.at({from, to}).Share(&wires_.back());
    return wires_.size() - 1;
  }
  void SetSharedRate(size_t wire, double rate_bps) { wires_[wire].set_rate_bps(rate_bps); }
  // nullptr when the overlay has none. Pointers stay.
  SimulatedLink* Find(NodeId from, NodeId to) {
    const auto found = overlay_.find({from, to});
    return found == overlay_.end() ? nullptr : &found->second;
  }
  SimulatedLink* FindOrAdd(NodeId from, NodeId to) {
    if (SimulatedLink* link = Find(from, to)) return link;
    return &implicit_.emplace(std::pair(from, to), SimulatedLink(implicit_options_)).first->second;
  }

  const Links& overlay() const { return overlay_; }

 private:
  const LinkOptions implicit_options_;
  Links overlay_;
  Links implicit_;
  std::deque<Serializer> wires_;  // pointers stay
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_
