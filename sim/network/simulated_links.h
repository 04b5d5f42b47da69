// The directed links of a simulation: those of the overlay, and others that are made when they are first asked for.
// Thread-compatible; owned by the simulated network.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_
#define BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_

#include <map>
#include <utility>

#include "core/check.h"
#include "core/ids.h"
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
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_LINKS_H_
