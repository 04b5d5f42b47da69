// Simulated links: one wire, one direction of a link, all links of a simulation.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_LINK_H_
#define BANYAN_SIM_NETWORK_SIMULATED_LINK_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/check.h"
#include "core/ids.h"
#include "core/random.h"
#include "core/time.h"

namespace banyan {

// A wire of a fixed rate that carries one thing after the other: what a link, or a host's cap over all its links, does
// to bytes. Thread-compatible value.
class Serializer {
 public:
  // `rate_bps` 0 means that bytes take no time.
  explicit Serializer(double rate_bps = 0) : rate_bps_(rate_bps) { BANYAN_CHECK(rate_bps >= 0); }

  double rate_bps() const { return rate_bps_; }
  void set_rate_bps(double rate_bps) { rate_bps_ = rate_bps; }

  int64_t DurationNs(int64_t size_bytes) const {
    return rate_bps_ == 0 ? 0 : static_cast<int64_t>(std::ceil(static_cast<double>(size_bytes) * 8e9 / rate_bps_));
  }

  // Returns the time at which the last of `size_bytes` bytes has left, if the first may leave at `earliest_ns`. The
  // wire is theirs until then.
  int64_t Reserve(int64_t earliest_ns, int64_t size_bytes) {
    free_ns_ = std::max(earliest_ns, free_ns_) + DurationNs(size_bytes);
    return free_ns_;
  }

  // Returns how long what comes now waits until the wire is its own.
  int64_t BacklogNs(int64_t now_ns) const { return std::max<int64_t>(0, free_ns_ - now_ns); }

  // Nothing leaves before `until_ns`.
  void Stall(int64_t until_ns) { free_ns_ = std::max(free_ns_, until_ns); }

 private:
  double rate_bps_;
  int64_t free_ns_ = 0;
};

struct LinkOptions {
  double rate_bps = 0;  // 0: without limit
  absl::Duration delay;
  absl::Duration jitter;     // uniform, 0 to this
  double loss_fraction = 0;  // of packets
  bool has_headers = false;  // of TCP and IP
};

// One direction of an overlay link, shared first come first served by all connections over it. Thread-compatible; owned
// by the simulated network.
//
// The model. Data waits for the bytes before it, then for its own at the link's rate, then for the propagation delay
// and a random jitter. Control messages have connections of their own whose few bytes do not queue behind data: they
// take their own serialisation, delay and jitter at once, and what they take of the rate is taken from the data that
// follows. Lost packets are sent again by the transport: a message with a lost packet, and all behind it on its
// connection, comes one round trip later; the rate is not lowered, as with a congestion control that does not read loss
// as congestion. With `has_headers` bytes take the wire for the headers of the packets that carry them too, and for the
// transport's acknowledgements on the way back. Links that share wires, such as those of routers, take what they carry
// of all of them.
class SimulatedLink {
 public:
  explicit SimulatedLink(const LinkOptions& options);

  // Returns the time at which the last byte of data handed over at `now_ns` reaches the other end. `host` is the
  // sender's cap, shared by all its links.
  int64_t SendData(int64_t now_ns, int64_t size_bytes, Serializer* host, Random* random);
  int64_t SendControl(int64_t now_ns, int64_t size_bytes, Random* random);

  // Carries what others send, who yield to nobody. What comes faster than the link carries is dropped when as much
  // waits as a router's queue holds: 50 ms, or the link's round trip where that is longer.
  void SendForeign(int64_t now_ns, int64_t size_bytes);

  // What the link carries takes its part of `wire` too, which outlives this.
  void Share(Serializer* wire) { shared_.push_back(wire); }

  // Sends on this link the acknowledgements of `acknowledged_bytes` bytes that the other direction has carried.
  void SendAcknowledgements(int64_t now_ns, int64_t acknowledged_bytes);

  // Holds everything that has not left yet until then.
  void Stall(Timestamp until) { wire_.Stall(until.nanoseconds()); }
  void set_rate_bps(double rate_bps) {
    wire_.set_rate_bps(rate_bps);
    foreign_.set_rate_bps(rate_bps);
  }

  // From now on this share of the rate is left, and delay and jitter are larger by these. Only 1 and zeros bring back
  // what was before.
  void Degrade(double rate_share, absl::Duration more_delay, absl::Duration more_jitter);

  double rate_bps() const { return wire_.rate_bps(); }
  int64_t delay_ns() const { return delay_ns_; }
  // Return the bytes of the messages, without packets' headers.
  int64_t data_bytes() const { return data_bytes_; }
  int64_t control_bytes() const { return control_bytes_; }

 private:
  int64_t OnWire(int64_t size_bytes) const;
  int64_t TravelNs(int64_t size_bytes, Random* random) const;

  Serializer wire_;
  std::vector<Serializer*> shared_;
  Serializer foreign_;  // what others send, as if they were alone
  int64_t delay_ns_;
  int64_t jitter_ns_;
  double loss_fraction_;
  double rate_share_ = 1;
  int64_t more_delay_ns_ = 0;
  int64_t more_jitter_ns_ = 0;
  bool has_headers_;
  int64_t data_bytes_ = 0;
  int64_t control_bytes_ = 0;
};

// The directed links of a simulation: those of the overlay, and others that are made when they are first asked for.
// Thread-compatible; owned by the simulated network.
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

#endif  // BANYAN_SIM_NETWORK_SIMULATED_LINK_H_
