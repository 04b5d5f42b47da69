// A link for tests, with a rate, a round-trip time and a queue. A sender sends one round after the other on it and
// waits for the last ack. It closes the loop around a controller. Thread-compatible; on the test's stack.
#ifndef BANYAN_COMPRESSION_TESTING_TESTING_LINK_H_
#define BANYAN_COMPRESSION_TESTING_TESTING_LINK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "compression/control/ratio_controller.h"
#include "core/random.h"

namespace banyan {

class TestingLink {
 public:
  struct Options {
    double rate_bps = 200e6;
    absl::Duration round_trip = absl::Milliseconds(30);
    int64_t model_bytes = 46'200'000;        // uncompressed, per round
    double jitter = 0;                       // a round takes up to this share longer
    double size_noise = 0;                   // a round has up to this share more or fewer bytes than the ratio says
    int64_t queue_bytes = int64_t{1} << 40;  // what does not fit is lost and sent again after a round trip
    uint64_t seed = 1;
  };

  explicit TestingLink(const Options& options) : options_(options), random_(options.seed) {}

  void set_rate_bps(double rate_bps) { options_.rate_bps = rate_bps; }
  void set_round_trip(absl::Duration round_trip) { options_.round_trip = round_trip; }
  void set_queue_bytes(int64_t queue_bytes) { options_.queue_bytes = queue_bytes; }
  // Other traffic comes before the next round.
  void AddToQueue(int64_t bytes) { queued_bytes_ += static_cast<double>(bytes); }

  // Sends a round with that ratio.
  RoundObservation Send(double ratio) {
    const double noise = 1 + options_.size_noise * (2 * random_.Unit() - 1);
    const int64_t bytes = std::max<int64_t>(1, static_cast<int64_t>(ratio * noise * options_.model_bytes));
    const double excess = queued_bytes_ + static_cast<double>(bytes) - static_cast<double>(options_.queue_bytes);
    const bool is_lost = excess > 0;
    const double seconds = absl::ToDoubleSeconds(options_.round_trip) * (is_lost ? 2 : 1) +
                           (queued_bytes_ + static_cast<double>(bytes)) * 8 / options_.rate_bps;
    const absl::Duration duration = absl::Seconds(seconds * (1 + options_.jitter * random_.Unit()));
    // The round's own bytes have been acked, and those that were ahead of them are gone.
    queued_bytes_ = 0;
    return {.ratio = ratio, .sent_bytes = bytes, .duration = duration, .delay = duration, .lost = is_lost};
  }

  // Rounds with the ratios of `controller`, each observed by it.
  std::vector<RoundObservation> Run(RatioController& controller, int rounds) {
    std::vector<RoundObservation> observed;
    for (int i = 0; i < rounds; ++i) {
      observed.push_back(Send(controller.ratio()));
      controller.Observe(observed.back());
    }
    return observed;
  }

 private:
  Options options_;
  Random random_;
  double queued_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TESTING_TESTING_LINK_H_
