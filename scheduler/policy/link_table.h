// The network collector (NETSTORM, section VIII-B): the rate and delay of each directed link of the overlay. They come
// from the configuration at first, and from the nodes' measurements later. Time is handed in. Thread-compatible; owned
// by Replanner.
//
// Invariants:
// - Its entries are the overlay's links: nothing that a node sends makes it grow.
// - A value is never forgotten. Without new samples it only grows old, and status says so.
// - A sample of a sender that was not always busy, or that a host's cap held back, never lowers a rate.
// - No link is faster than the overlay's caps of its ends, whatever a node says.
// - Noise is averaged away, and a change is taken within a few samples (RateFilter).
#ifndef BANYAN_SCHEDULER_POLICY_LINK_TABLE_H_
#define BANYAN_SCHEDULER_POLICY_LINK_TABLE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/policy/rate_filter.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/network_view.h"

namespace banyan {

// Bounds of a measurement. No link between data centres is beyond them: a broken clock or node is, and is refused. They
// are absolute, since the configured rate may be wrong by any factor: a link that nobody describes has a default.
inline constexpr double kLowestLinkBps = 1e3;
inline constexpr double kHighestLinkBps = 1e12;
inline constexpr absl::Duration kLongestLinkDelay = absl::Seconds(10);
// Status calls a value old from this age on. Even links that carry nothing are measured far more often.
inline constexpr absl::Duration kOldAfter = absl::Minutes(2);
// A link that reaches this part of what a host's cap leaves to it counts as held back by the cap. It may be faster.
inline constexpr double kHeldByCap = 0.5;

class LinkTable {
 public:
  struct Entry {
    explicit Entry(const NetworkLink& believed) : link(believed), rate(believed.throughput_bps) {}

    NetworkLink link;
    RateFilter rate;                      // the source of link.throughput_bps
    std::optional<Timestamp> sampled_at;  // of the value in `link`; empty when believed or from before a restart
    // The last report, for status; empty before the first.
    std::optional<LinkMeasurement> reported;
  };

  explicit LinkTable(NetworkView believed);

  // Takes the measurements of links that leave `from`. A sample of a sender that was not always busy may raise the
  // rate, never lower it: it shows what the sender had to send, and not what the link can carry. The same holds for a
  // link that a host's cap held back. The delay counts in any case. INVALID_ARGUMENT names the first link that does not
  // exist or measurement that is out of bounds; the others are taken.
  absl::Status Accept(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links);

  // Returns the links with the values that are known now.
  NetworkView View() const;
  // Returns the links by (from, to).
  const std::vector<Entry>& entries() const { return entries_; }
  const NetworkView& believed() const { return believed_; }
  // Returns the age of a value; empty when believed or measured before a restart.
  std::optional<absl::Duration> AgeOf(const Entry& entry, Timestamp now) const;
  // Returns whether a value was measured longer than kOldAfter ago, or before a restart.
  bool IsOld(const Entry& entry, Timestamp now) const;

  // Takes what the caps of hosts leave to each link under the policy in use (topology/evaluation/plan_rate.h).
  void SetCappedRates(CappedRates rates) { capped_rates_ = std::move(rates); }

  // Counts changes against today's values from now on: a plan is made from them.
  void MarkPlanned();
  // Returns whether the rate of a link has changed by more than `fraction` since MarkPlanned. The change is relative to
  // the smaller value, so that a drop to a half and a doubling both are 1.
  bool ChangedBeyond(double fraction) const;
  // A link is there again: that counts as a change of links.
  void NoteReturn(Timestamp now) {
    last_change_ = now;
    has_returned_ = true;
  }
  // Returns when samples last showed that a link's rate has changed, noise apart.
  std::optional<Timestamp> last_change() const { return last_change_; }

  // Takes the measured links of a state record read back.
  void Restore(const std::vector<NetworkLink>& measured);
  // Takes another configuration of these links or more. Measured values stay, except on links whose configured
  // values have changed: there the operator knows better.
  void Believe(NetworkView believed);

 private:
  Entry* Find(NodeId from, NodeId to);
  static absl::Status Check(const LinkMeasurement& measurement);
  // Returns the measurement as far as the caps of the ends allow.
  LinkMeasurement Plausible(const LinkMeasurement& measurement, const NetworkLink& link) const;
  bool IsHeldByCap(const NetworkLink& link, double rate_bps) const;
  void Take(Timestamp now, Timestamp sampled_at, const LinkMeasurement& measurement, Entry& entry);

  NetworkView believed_;
  std::vector<Entry> entries_;       // by position in believed_.links()
  std::vector<double> planned_bps_;  // by position in entries_
  CappedRates capped_rates_;
  std::optional<Timestamp> last_change_;
  bool has_returned_ = false;  // a link, since MarkPlanned
};

// Returns the links of a view whose rate or delay was measured. A link of which only the delay was stays kBelieved: it
// has another delay than in `believed`.
std::vector<NetworkLink> MeasuredLinks(const NetworkView& view, const NetworkView& believed);

// Returns the ends of the links of `believed` that a view does not have.
std::vector<std::pair<NodeId, NodeId>> MissingLinks(const NetworkView& view, const NetworkView& believed);

// Returns `view` without these links.
NetworkView WithoutLinks(const NetworkView& view, const std::vector<std::pair<NodeId, NodeId>>& left_out);

// Returns `believed` with the values of `measured` in place of its own. Links that it does not have are left out.
NetworkView WithMeasured(const NetworkView& believed, const std::vector<NetworkLink>& measured);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_LINK_TABLE_H_
