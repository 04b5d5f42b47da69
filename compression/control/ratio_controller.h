// Decides from how the rounds on one uplink went which share of a gradient the next round sends. Pure: no clock and no
// randomness, so the same observations give the same ratios. Thread-compatible; owned by whoever encodes for the
// uplink, one for each uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/check.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"
#include "proto/compression/ratio_numbers.h"

namespace banyan {

// The course of one round on one uplink.
struct RoundObservation {
  double ratio = 1;        // that it was encoded with, in (0, 1]
  int64_t sent_bytes = 0;  // payload after compression, resent bytes not counted
  // From the first byte sent to the last link ack, without the time in which there was nothing to send and nothing on
  // its way: a link that waits for the sender's children is not slow.
  absl::Duration duration = absl::ZeroDuration();
  // The delay of an iteration in DC2's terms: the length of the communication phase as far as this uplink can see it.
  absl::Duration delay = absl::ZeroDuration();
  // The part that this uplink may take of the time that a user gives a round, in (0, 1].
  double budget_share = 1;
  bool lost = false;  // whether anything was lost on the way and had to be sent again
};

class RatioController {
 public:
  virtual ~RatioController() = default;

  // A round is over. In the order of rounds. A round without bytes or without time changes nothing; values that make
  // no sense (negative, infinite) do no harm.
  virtual void Observe(const RoundObservation& round) = 0;

  // The share of elements to send in the next round, in (0, 1] and within the controller's own bounds.
  virtual double ratio() const = 0;
};

// Returns `duration` in seconds, made finite and not negative.
inline double BoundedSeconds(absl::Duration duration) {
  return absl::ToDoubleSeconds(std::clamp(duration, absl::ZeroDuration(), absl::Hours(1'000'000)));
}

// The same ratio in every round: what adaptive controllers are compared with. Thread-compatible; owned by whoever
// encodes for the uplink.
class FixedController : public RatioController {
 public:
  using Config = FixedConfig;

  // REQUIRES: CheckRatioControllerConfig passes.
  explicit FixedController(const Config& config) : ratio_(config.ratio) {
    BANYAN_CHECK(CheckRatioControllerConfig({.fixed = config}).ok());
  }

  void Observe(const RoundObservation&) override {}
  double ratio() const override { return ratio_; }

 private:
  double ratio_;
};

// ---- the controller that a configuration asks for (ratio_controller_factory.cc) ----

// A controller that has seen no round. INVALID_ARGUMENT as CheckRatioControllerConfig.
absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const RatioControllerConfig& config);

// The controller of a rule: its numbers over the defaults. INVALID_ARGUMENT names the number. A rule that was read from
// the file or the wire (proto/compression/compression_check.h) always has one; with a dense codec nobody asks it.
absl::StatusOr<std::unique_ptr<RatioController>> MakeRatioController(const CompressionRule& rule);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_RATIO_CONTROLLER_H_
