// NetSenseML's Algorithm 1 ("Network-aware gradient compression", section 4.1, equations 1 to 3). It senses bandwidth
// and propagation time from how long rounds take, and fits the ratio to the bandwidth-delay product. One interval is
// one round on one uplink: its bytes, from the first byte sent to the last link ack.
//
//   EBB = data_size / RTT       effective bottleneck bandwidth of an interval         (1)
//   BtlBw = max EBB, RTprop = min RTT over windows, BDP = BtlBw * RTprop              (2)
//   ratio = max(0.005, ratio * alpha)  if data_size > 0.9 BDP                         (3)
//           min(1, ratio + beta)       otherwise
//
// What the paper leaves open, and what holds here:
//  - The step of the start-up ramp ("quickly increase", beta 1) has no value: 0.05, which reaches 1 in 20 rounds. The
//    ramp ends by loss, by an RTT beyond twice RTprop (which the paper names as what others call congestion), or at
//    the greatest ratio.
//  - The paper keeps the greatest EBB and the least RTT for ever, so it would never see a link become slower. Here both
//    have windows: short for BtlBw, long for RTprop, since a path's rate changes more often than its length.
//  - After the start-up a loss changes nothing by itself; the time to resend shows in the RTT.
//
// What the rule as written does not do (netsense_on_link_test.cc shows it), and the least that makes it work:
//  - EBB counts the propagation time as time of sending. So BDP is never more than the most that an interval of the
//    window has sent. Hence the rule halves the ratio of data that fits. With windows of ten rounds, which a drop
//    needs, the ratio stays below 0.16 on whatever link; without windows a drop goes unseen. So a ratio is lowered only
//    if the interval's RTT agrees. On a link of rate B the RTT is RTprop + data_size / B. Thus data above 0.9 of the
//    true BDP shows as RTT > 1.9 RTprop.
//  - One step of beta = 0.01 is more than the whole BDP of a large model on a slow link. So a raised ratio stops
//    where, by the same model, its data would be `fill_share` of the BDP: 0.8, below 0.9, for noise. (What RTprop was
//    measured with is left out, since its time is in RTprop already.)
//  - A ratio that has settled never sees RTprop again once that leaves its window, and would take its own queue for
//    propagation. So before RTprop is forgotten one round is sent at the least ratio, as BBR drains the pipe to see it.
//
// What follows: rounds settle at 1.8 RTprop where the model is large enough. An RTT never stays above 1.9 RTprop unless
// the ratio is at its least. RTprop holds the sending time of the smallest round in its window. Where `least_ratio` of
// a model takes much longer than the propagation, rounds are measured against that time. Data that was far below the
// BDP (RTT about RTprop) may take up to 1.9 times as long after a drop: the rule aims at a share of the BDP, not at the
// time of before.
//
// Thread-compatible; owned by whoever encodes for the uplink.
#ifndef BANYAN_COMPRESSION_CONTROL_NETSENSE_CONTROLLER_H_
#define BANYAN_COMPRESSION_CONTROL_NETSENSE_CONTROLLER_H_

#include "compression/control/ratio_controller.h"
#include "compression/control/round_window.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

class NetSenseController : public RatioController {
 public:
  using Config = NetSenseConfig;

  // REQUIRES: CheckRatioControllerConfig passes.
  explicit NetSenseController(const Config& config);

  void Observe(const RoundObservation& round) override;
  double ratio() const override { return is_draining_ ? config_.least_ratio : ratio_; }

  bool is_starting_up() const { return is_starting_up_; }
  // Bytes per second; 0 before the first round.
  double bottleneck_bandwidth() const {
    return effective_bandwidths_.size() == 0 ? 0 : effective_bandwidths_.Greatest();
  }
  // RTprop in seconds; 0 before the first round.
  double propagation_seconds() const { return round_trips_.size() == 0 ? 0 : round_trips_.Least(); }

 private:
  // Returns whether the ramp goes on after `round`, which took `round_trip` seconds.
  bool RampsOn(const RoundObservation& round, double round_trip);
  void Adjust(const RoundObservation& round, double round_trip);
  // The ratio with which such a round would have sent `fill_share` of the BDP.
  double RatioThatFits(const RoundObservation& round, double round_trip) const;

  Config config_;
  double ratio_;
  bool is_starting_up_ = true;
  bool is_draining_ = false;          // in the next round
  RoundWindow effective_bandwidths_;  // EBB, bytes per second
  RoundWindow round_trips_;           // RTT, seconds
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_NETSENSE_CONTROLLER_H_
