// A link for tests: one queue of known rate and delay before a receiver with a clock of its own. Its sender keeps some
// chunks in flight. The sender's clock is the true one. Thread-compatible; on the test's stack.
#ifndef BANYAN_AWARENESS_TESTING_SYNTHETIC_LINK_H_
#define BANYAN_AWARENESS_TESTING_SYNTHETIC_LINK_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/random.h"
#include "core/time.h"

namespace banyan {

inline constexpr Timestamp kSyntheticStart = Timestamp::FromNanoseconds(int64_t{100'000'000'000'000});

class SyntheticLink {
 public:
  static constexpr absl::Duration kAcksPass = absl::Seconds(1);
  static constexpr absl::Duration kAcksCycle = absl::Seconds(5);

  struct Options {
    double rate_bps = 20e6;
    absl::Duration delay = absl::Milliseconds(15);
    absl::Duration jitter = absl::ZeroDuration();           // uniform, 0 to this, both ways; order is kept
    absl::Duration receiver_offset = absl::ZeroDuration();  // of its clock at the start
    double receiver_drift = 0;
    // Acks wait so long behind other traffic, except in the first kAcksPass of each kAcksCycle.
    absl::Duration acks_wait = absl::ZeroDuration();
  };
  struct Traffic {
    int in_flight = 8;  // at most
    int64_t chunk_bytes = 262144;
    int burst_chunks = 1 << 30;  // and then a rest, when all is acknowledged
    absl::Duration rest = absl::ZeroDuration();
  };
  struct Ack {
    int64_t size_bytes = 0;
    Timestamp sent_at;
    Timestamp received_at;  // the receiver's clock
    Timestamp acked_at;
  };

  explicit SyntheticLink(Options options) : options_(options) { rates_[kSyntheticStart] = options.rate_bps; }

  void SetRate(absl::Duration after_start, double rate_bps) { rates_[kSyntheticStart + after_start] = rate_bps; }
  // Nothing is read during a pause, and all of it right after.
  void PauseReceiver(absl::Duration after_start, absl::Duration length) {
    receiver_pauses_[kSyntheticStart + after_start] = length;
  }
  void PauseSender(absl::Duration after_start, absl::Duration length) {
    sender_pauses_[kSyntheticStart + after_start] = length;
  }

  Timestamp ReceiverClock(Timestamp time) const {
    const double drifted = options_.receiver_drift * absl::ToDoubleSeconds(time - kSyntheticStart);
    return time + options_.receiver_offset + absl::Seconds(drifted);
  }
  absl::Duration OneWay() {
    return options_.delay + absl::Nanoseconds(random_.Between(0, absl::ToInt64Nanoseconds(options_.jitter)));
  }

  // Sends until `length` after the call before, or the start.
  void Run(const Traffic& traffic, absl::Duration length, const std::function<void(const Ack&)>& on_ack) {
    const Timestamp until = now_ + length;
    int burst_left = traffic.burst_chunks;
    while (now_ < until) {
      for (; burst_left > 0 && static_cast<int>(acks_.size()) < traffic.in_flight; --burst_left) {
        Send(traffic.chunk_bytes);
      }
      if (acks_.empty()) {
        now_ = Awake(sender_pauses_, now_ + traffic.rest);
        burst_left = traffic.burst_chunks;
        continue;
      }
      const Ack ack = acks_.front();
      acks_.pop_front();
      now_ = ack.acked_at;
      on_ack(ack);
    }
  }

  Timestamp now() const { return now_; }

 private:
  static Timestamp Awake(const std::map<Timestamp, absl::Duration>& pauses, Timestamp time) {
    auto next = pauses.upper_bound(time);
    if (next == pauses.begin()) return time;
    --next;
    return std::max(time, next->first + next->second);
  }

  absl::Duration AcksWait(Timestamp time) const {
    const absl::Duration in_cycle = (time - kSyntheticStart) % kAcksCycle;
    return in_cycle < kAcksPass ? absl::ZeroDuration() : options_.acks_wait;
  }

  void Send(int64_t size_bytes) {
    const Timestamp begin = std::max(now_, wire_free_);
    const double rate_bps = std::prev(rates_.upper_bound(begin))->second;
    wire_free_ = begin + absl::Seconds(static_cast<double>(size_bytes) * 8 / rate_bps);
    arrived_ = std::max(arrived_, wire_free_ + OneWay());
    const Timestamp read = Awake(receiver_pauses_, arrived_);
    last_ack_ = std::max(last_ack_, read + OneWay() + AcksWait(read));
    acks_.push_back({size_bytes, now_, ReceiverClock(read), Awake(sender_pauses_, last_ack_)});
  }

  Options options_;
  std::map<Timestamp, double> rates_;  // from when on
  std::map<Timestamp, absl::Duration> receiver_pauses_;
  std::map<Timestamp, absl::Duration> sender_pauses_;
  Random random_{7};
  Timestamp now_ = kSyntheticStart;
  Timestamp wire_free_ = kSyntheticStart;
  Timestamp arrived_ = kSyntheticStart;
  Timestamp last_ack_ = kSyntheticStart;
  std::deque<Ack> acks_;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_TESTING_SYNTHETIC_LINK_H_
