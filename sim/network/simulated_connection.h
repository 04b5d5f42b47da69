// Simulated connections, the messages that wait for their pace, and what stands in their way.
#ifndef BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_
#define BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "protocol/action.h"
#include "sim/agenda.h"
#include "sim/network/simulated_link.h"
#include "sim/traffic_observer.h"

namespace banyan {

// The messages that wait in the kernel of a sender whose connection has a pace. A message is passed on to its link
// early enough that its last byte leaves an idle link when the pace lets it. A link that is busier takes longer.
// Thread-compatible; owned by the simulated network.
template <typename Item>
class PacedQueue {
 public:
  // 0, as at first: what waits is due at once.
  void SetRate(int64_t now_ns, double rate_bps) {
    Count(now_ns);
    rate_bps_ = rate_bps;
  }
  bool holds_back() const { return rate_bps_ > 0 || !waiting_.empty(); }
  bool empty() const { return waiting_.empty(); }

  void Push(int64_t now_ns, int64_t size_bytes, Item item) {
    Count(now_ns);
    if (waiting_.empty()) unpaced_bits_ += BitsOf(size_bytes);
    waiting_.emplace_back(size_bytes, std::move(item));
  }

  // Returns the time at which the first message is to be passed on to a link of the rate `link_bps`, 0 for one without
  // limit. REQUIRES: !empty().
  int64_t DueNs(double link_bps) const {
    if (rate_bps_ == 0) return counted_ns_;
    const double on_link_s = link_bps > 0 ? BitsOf(waiting_.front().first) / link_bps : 0;
    return counted_ns_ + std::max<int64_t>(0, std::llround((unpaced_bits_ / rate_bps_ - on_link_s) * 1e9));
  }
  // The first. REQUIRES: !empty().
  Item Pop(int64_t now_ns) {
    Count(now_ns);
    Item first = std::move(waiting_.front().second);
    waiting_.pop_front();
    if (!waiting_.empty()) unpaced_bits_ += BitsOf(waiting_.front().first);
    return first;
  }

 private:
  static double BitsOf(int64_t size_bytes) { return 8.0 * static_cast<double>(size_bytes); }

  void Count(int64_t now_ns) {
    const double paced_bits = rate_bps_ * static_cast<double>(now_ns - counted_ns_) * 1e-9;
    unpaced_bits_ = rate_bps_ == 0 ? 0 : std::max(0.0, unpaced_bits_ - paced_bits);
    counted_ns_ = now_ns;
  }

  double rate_bps_ = 0;
  std::deque<std::pair<int64_t, Item>> waiting_;
  double unpaced_bits_ = 0;  // of the first, and of those before it
  int64_t counted_ns_ = 0;
};

// What stands in the way of connections, such as a NAT, a firewall or a tunnel: it stops some, and tells nobody. A
// value; thread-compatible.
struct MiddleBox {
  // A message of so many bytes, or more, stops its direction of its connection.
  int64_t drops_from_bytes = INT64_MAX;
  // A connection that was not used for longer is stopped, in both directions, when it is used again.
  absl::Duration forgets_after = absl::InfiniteDuration();
};

// A connection between two simulated processes: its ends, its state, and what is on its way. Thread-compatible; owned
// by the simulated network.
//
// Invariants:
// - A direction that is silent stays so until the connection is made anew.
struct SimulatedConnection {
  enum class State : uint8_t { kDialling, kUp, kLost, kClosed };

  struct Direction {
    SimulatedLink* link = nullptr;
    int64_t last_arrival_ns = 0;
    bool used = false;                   // since the connection was made
    bool is_silent = false;              // what is sent gets lost
    std::vector<MessageArrival> held{};  // until the direction is mended
  };

  // A connection at its accepting end.
  struct Acceptance {
    ConnectionId id;
    uint32_t life = 0;        // of the process that accepted it
    bool is_refused = false;  // it has closed it, and the opener does not know yet
  };

  NodeId SenderOf(bool to_opener) const { return to_opener ? acceptor : opener; }
  NodeId ReceiverOf(bool to_opener) const { return to_opener ? opener : acceptor; }
  Direction& Way(bool to_opener) { return to_opener ? backward : forward; }

  // The connection is made under this id of the acceptor.
  void Make(const Acceptance& acceptance, Timestamp now) {
    state = State::kUp;
    failed_dials = 0;
    ++generation;
    accepted = acceptance;
    for (Direction* direction : {&forward, &backward}) {
      direction->used = direction->is_silent = false;
      direction->last_arrival_ns = 0;
    }
    last_use = now;
  }

  // From now on nothing passes in these directions.
  void Silence(bool is_forward, bool is_backward) {
    forward.is_silent |= is_forward;
    backward.is_silent |= is_backward;
  }

  // Sends a message of this size past `box`. Returns whether it gets lost while the connection stays.
  bool Swallows(bool to_opener, int64_t size_bytes, const MiddleBox& box, Timestamp now) {
    if (now - std::exchange(last_use, now) > box.forgets_after) Silence(true, true);
    if (size_bytes >= box.drops_from_bytes) Way(to_opener).is_silent = true;
    return Way(to_opener).is_silent;
  }

  // Describes a message on this connection, which is the `index` and generation given, for observers.
  SentMessage Describe(Timestamp now, std::pair<ConnectionIndex, uint32_t> index, bool to_opener, int64_t size_bytes,
                       const Message& message, const Payload& payload) const {
    return {now,    SenderOf(to_opener), ReceiverOf(to_opener), channel, index.first, index.second, size_bytes, message,
            payload};
  }

  // Returns whether something that the opener has sent is still to arrive.
  bool IsMoving(Timestamp now) const {
    return !forward.is_silent && (forward.last_arrival_ns > now.nanoseconds() || !paced.empty());
  }

  NodeId opener;
  NodeId acceptor;
  bool resolved = false;  // the address has answered once, so that the acceptor is known
  std::string address;
  ConnectionId opener_id;
  Acceptance accepted;
  Channel channel = Channel::kControl;
  State state = State::kDialling;
  uint32_t generation = 0;
  uint32_t announced = 0;  // the generation whose ConnectionUp the opener has handled
  uint32_t failed_dials = 0;
  Timestamp last_use;  // in either direction
  Direction forward;
  Direction backward;
  PacedQueue<std::pair<Message, Payload>> paced;  // forward
  uint32_t pace_changes = 0;                      // and messages that it passed on
  // These tell of the generation before this one, or of this one when it is lost.
  uint32_t lost_generation = 0;
  Acceptance lost;
  int64_t survivors_until_ns = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SIMULATED_CONNECTION_H_
