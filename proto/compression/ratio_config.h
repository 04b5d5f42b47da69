// The numbers of the ratio controllers, which compression/control has, with their defaults: what a rule of overlay.yaml
// becomes. proto/compression/ratio_numbers.h has their names and ranges. Values; thread-compatible.
#ifndef BANYAN_PROTO_COMPRESSION_RATIO_CONFIG_H_
#define BANYAN_PROTO_COMPRESSION_RATIO_CONFIG_H_

#include <cstdint>

#include "absl/time/time.h"
#include "proto/compression/compression_config.h"

namespace banyan {

struct FixedConfig {
  double ratio = 0.1;      // share of elements; the uniform ratio that both papers compare with
  double light_below = 0;  // of a codec in levels with a transform: the share that is cut from which on it is used

  friend bool operator==(const FixedConfig&, const FixedConfig&) = default;
};

// compression/control/netsense_controller.h says what each does, compression/netsense_encoding.h what the last three
// do.
struct NetSenseConfig {
  double start_ratio = 0.01;         // of the first round
  double start_step = 0.05;          // added per round of the start-up
  double excessive_delay = 2;        // times RTprop: a longer RTT ends the start-up
  double bdp_share = 0.9;            // data above this share of BDP lowers the ratio
  double fill_share = 0.8;           // of BDP: how far one raise may go; at most bdp_share
  double decrease_factor = 0.5;      // alpha
  double increase_step = 0.01;       // beta, per round
  double least_ratio = 0.005;        // share of elements
  double greatest_ratio = 1;         // share of elements
  int64_t bandwidth_rounds = 3;      // window of BtlBw
  int64_t propagation_rounds = 300;  // window of RTprop
  double quantize_below = 0.5;       // ratio from which on values stay float32; 0: always
  double quantize_rms = 1e-6;        // root mean square of values up to which they stay float32
  double prune_factor = 0.5;         // times 1 - ratio: the share of weights whose gradients are not sent

  friend bool operator==(const NetSenseConfig&, const NetSenseConfig&) = default;
};

enum class DelayLaw : uint8_t {
  kProportional,        // DA1
  kMultiplicative,      // DA2: additive increase, multiplicative decrease
  kAdditive,            // DA3: additive increase, additive decrease
  kGradient,            // DA4: normalized gradient of the delay
  kThresholdsGradient,  // DA5: the same between two thresholds
};

// The defaults are those of DC2's Table I; the window is that of the paper's experiments.
struct DelayAdaptiveConfig {
  DelayLaw law = DelayLaw::kMultiplicative;
  double delay_variation = 0.05;  // dvar: normalized distance from the average that changes nothing
  double increase_step = 0.005;   // kinc, per round
  double decrease_step = 0.005;   // kdec, per round
  double least_ratio = 0.005;     // kmin, share of elements
  double greatest_ratio = 0.3;    // kmax, share of elements
  double delay_slack = 1.25;      // alpha: times minimum and average, the thresholds of DA5
  double decrease_factor = 0.8;   // beta
  double start_ratio = 0.3;       // of the first round
  int64_t window_rounds = 50;     // w

  friend bool operator==(const DelayAdaptiveConfig&, const DelayAdaptiveConfig&) = default;
};

struct BudgetConfig {
  absl::Duration budget = absl::Seconds(1);  // of a whole round; an uplink has its part of it
  double start_ratio = 0.01;                 // of the first round: small, since the rate is unknown
  double least_ratio = 0.005;                // share of elements
  double greatest_ratio = 1;                 // share of elements
  double rise_weight = 0.5;                  // of the newest round where the uplink has become faster, in (0, 1]

  friend bool operator==(const BudgetConfig&, const BudgetConfig&) = default;
};

// The controller of an uplink, with its numbers.
struct RatioControllerConfig {
  RatioControllerKind kind = RatioControllerKind::kFixed;
  // Only the member that `kind` names is looked at.
  FixedConfig fixed = {};
  NetSenseConfig netsense = {};
  DelayAdaptiveConfig delay_adaptive = {};  // its law follows from the kind
  BudgetConfig budget = {};

  friend bool operator==(const RatioControllerConfig&, const RatioControllerConfig&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_RATIO_CONFIG_H_
