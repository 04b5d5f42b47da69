// Which share of what a link is to carry is sent at all, learned from how much of it went through in time. Where queues
// may cut, a little more is sent than went through, so that the last cut is made where the queue is: "under-compress
// and over-send" (Chen, Vargaftik, Ben Basat, HotNets 2024, section 5.3). Pure; thread-compatible; owned by whoever
// encodes.
//
// Invariants:
// - The share is in [kLeast, 1].
#ifndef BANYAN_NODE_TRIM_SENT_SHARE_H_
#define BANYAN_NODE_TRIM_SENT_SHARE_H_

#include <algorithm>

namespace banyan {

class SentShare {
 public:
  static constexpr double kLeast = 0.1;
  // Of contributions: queues may cut them, and so tell when more goes. Soon after a burst all is sent again.
  static SentShare OfContributions() { return SentShare(/*over_sent=*/1.25, /*growth=*/1.5); }
  // Of results, which nobody cuts: what is too much makes a round late, so that they grow little by little.
  static SentShare OfResults() { return SentShare(/*over_sent=*/1, /*growth=*/1.1); }

  double share() const { return share_; }

  // A round is over, in which this part of what was sent went through in time.
  void Observe(double kept) {
    const double factor = kept < 1 ? std::clamp(kept, 0.0, 1.0) * over_sent_ : growth_;
    share_ = std::clamp(share_ * factor, kLeast, 1.0);
  }

 private:
  // What is sent beyond what went through; by which the share grows after a round that went through whole.
  SentShare(double over_sent, double growth) : over_sent_(over_sent), growth_(growth) {}

  double over_sent_;
  double growth_;
  double share_ = 1;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRIM_SENT_SHARE_H_
