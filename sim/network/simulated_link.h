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
#ifndef BANYAN_SIM_NETWORK_SIMULATED_LINK_H_
#define BANYAN_SIM_NETWORK_SIMULATED_LINK_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
#include "core/time.h"
#include "sim/network/serializer.h"

namespace banyan {

struct LinkOptions {
  double rate_bps = 0;  // 0: without limit
  absl::Duration delay;
  absl::Duration jitter;     // uniform, 0 to this
  double loss_fraction = 0;  // of packets
  bool has_headers = false;  // of TCP and IP
};

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

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_LINK_H_
