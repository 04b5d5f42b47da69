// What the links of an overlay have carried in the last intervals of time, all of the same length. Thread-compatible
// value. It holds numbers only for links that have carried something.
#ifndef BANYAN_TOPOLOGY_INFERENCE_TRAFFIC_WINDOW_H_
#define BANYAN_TOPOLOGY_INFERENCE_TRAFFIC_WINDOW_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/types/span.h"

namespace banyan {

// What a link, by its number, has done in one interval.
struct LinkTraffic {
  size_t link = 0;
  double rate_bps = 0;     // what it has carried: over the length of the interval, or while it was busy
  bool is_busy = false;    // it had more to send all the time
  double reached_bps = 0;  // the rate that was measured meanwhile, if any, however short
};

class TrafficWindow {
 public:
  static constexpr size_t kIntervals = 90;

  struct Sample {
    double rate_bps = 0;
    bool is_busy = false;
    double reached_bps = 0;
  };
  using Series = std::vector<Sample>;  // by interval, the newest last

  // Adds the next interval. Links that are not in it have carried nothing.
  void Add(absl::Span<const LinkTraffic> interval);

  // Returns how many intervals there are.
  size_t intervals() const { return intervals_; }
  // Returns the series of all links that have carried something, each with a sample for each interval.
  const std::map<size_t, Series>& links() const { return links_; }
  // Returns the series of a link, or nullptr when it has carried nothing.
  const Series* Find(size_t link) const;
  // Returns the rate that the link has reached; 0 when none was measured. A measurement or two may be mistaken, so this
  // is the third best.
  double ReachedBps(size_t link) const;

 private:
  size_t intervals_ = 0;
  std::map<size_t, Series> links_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_INFERENCE_TRAFFIC_WINDOW_H_
