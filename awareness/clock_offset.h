// The difference between two processes' clocks, from messages that go there and back: the arithmetic of NTP (Mills, RFC
// 5905, section 8) with a filter that prefers short round trips and young ones. Monotonic clocks start anywhere, so the
// offset may be hours.
//
// Its error. One exchange errs by at most half its round trip: fully so when one direction takes all of it, and no
// method that sees only these two clocks can tell. The rate at which the clocks part is estimated once the window is
// long enough to show it better than the bound kMostDrift does; what remains unknown of it adds to the uncertainty with
// the age of the exchange.
// Thread-compatible; owned by LinkMeter.
#ifndef BANYAN_AWARENESS_CLOCK_OFFSET_H_
#define BANYAN_AWARENESS_CLOCK_OFFSET_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class ClockOffset {
 public:
  // Two clocks part by at most this much of the time that passes: crystals keep within 100 ppm each.
  static constexpr double kMostDrift = 200e-6;

  struct Exchange {
    Timestamp request_sent;      // own clock
    Timestamp request_received;  // the peer's clock
    Timestamp reply_sent;        // the peer's clock
    Timestamp reply_received;    // own clock
  };
  struct Estimate {
    absl::Duration offset;       // the peer's clock minus the own one
    absl::Duration uncertainty;  // to either side
  };

  // False, and not counted, when these times cannot be. An exchange that cannot be true together with those before it
  // means that the peer's clock is another one now: the earlier ones are forgotten.
  bool Add(const Exchange& exchange);
  std::optional<Estimate> At(Timestamp now) const;

 private:
  struct Sample {
    Timestamp at;  // own clock
    int64_t offset_ns = 0;
    int64_t round_trip_ns = 0;
  };

  void Learn();
  Estimate Predict(const Sample& sample, Timestamp now) const;

  std::deque<Sample> samples_;  // the oldest first
  // The rate at which the peer's clock gains on the own one, and its largest error.
  double drift_ = 0;
  double drift_error_ = kMostDrift;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_CLOCK_OFFSET_H_
