// Breaks auxiliary paths in the middle: loses the connections between a relay and the next node right after a chunk on
// an auxiliary path was put on its way there. Thread-compatible; outlives the run.
#ifndef BANYAN_SIM_RUNS_PATH_BREAKER_H_
#define BANYAN_SIM_RUNS_PATH_BREAKER_H_

#include <cstdint>
#include <variant>

#include "absl/time/time.h"
#include "core/random.h"
#include "sim/network/simulated_network.h"
#include "sim/simulator.h"
#include "sim/traffic_observer.h"

namespace banyan {

class PathBreaker : public TrafficObserver {
 public:
  // At most `breaks` times, at each relayed chunk with the probability `chance`. Registers with the network of
  // `simulator`, which outlives this.
  PathBreaker(int breaks, double chance, uint64_t seed, Simulator* simulator)
      : breaks_left_(breaks), chance_(chance), random_(seed), simulator_(simulator) {
    if (breaks > 0) simulator->network()->AddObserver(this);
  }

  void OnSent(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    const bool is_relayed = chunk != nullptr && chunk->is_auxiliary && chunk->route.hop > 0;
    if (!is_relayed || breaks_left_ == 0 || !random_.Chance(chance_)) return;
    --breaks_left_;
    const absl::Duration delay = absl::Microseconds(random_.Between(0, 2000));
    simulator_->agenda()->CallAfter(delay, [this, relay = sent.from, next = sent.to] { Break(relay, next); });
  }

 private:
  void Break(NodeId relay, NodeId next) {
    LossOptions loss;
    loss.opener_notices = absl::Microseconds(random_.Between(0, 100000));
    if (random_.Chance(0.5)) loss.acceptor_notices = absl::Microseconds(random_.Between(0, 100000));
    for (ConnectionIndex connection : simulator_->network()->ConnectionsInUse(relay, next)) {
      simulator_->network()->Lose(connection, loss);
    }
  }

  int breaks_left_;
  const double chance_;
  Random random_;
  Simulator* const simulator_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_RUNS_PATH_BREAKER_H_
