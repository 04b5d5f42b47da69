// The network collector (NETSTORM, section VIII-B): what is known of each directed link of the overlay, from the
// configuration at first and from the nodes' measurements later. Time is handed in. Thread-compatible; owned by the
// core.
//
// A value is never forgotten: without new samples it only grows old, and status says so. Its entries are the overlay's
// links, so nothing that a node sends makes it grow. Noise is averaged away and changes are taken soon (RateFilter).
#ifndef BANYAN_SCHEDULER_LINK_TABLE_H_
#define BANYAN_SCHEDULER_LINK_TABLE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/rate_filter.h"
#include "topology/capped_rates.h"
#include "topology/network_view.h"

namespace banyan {

// What no link between data centres has: measurements beyond are of a broken clock or a broken node, and are refused.
// The bounds are absolute, since a belief may be wrong by any factor: a link that nobody describes has a default.
inline constexpr double kLowestLinkBps = 1e3;
inline constexpr double kHighestLinkBps = 1e12;
inline constexpr absl::Duration kLongestLinkDelay = absl::Seconds(10);
// From this age on status calls a value old: links that carry nothing are measured by a real chunk far more often.
inline constexpr absl::Duration kOldAfter = absl::Minutes(2);
// A link that reaches this part of what a host's cap leaves it is held back by the cap and may well be faster.
inline constexpr double kHeldByCap = 0.5;

class LinkTable {
 public:
  struct Entry {
    explicit Entry(const NetworkLink& believed) : link(believed), rate(believed.throughput_bps) {}

    NetworkLink link;
    RateFilter rate;                      // what link.throughput_bps comes from
    std::optional<Timestamp> sampled_at;  // of what is in `link`; empty when believed or from before a restart
    // Of the last report, for status; empty before the first.
    std::optional<LinkMeasurement> reported;
  };

  explicit LinkTable(NetworkView believed);

  // Takes the measurements of links that leave `from`. Two kinds of samples may raise the known rate and never lower
  // it: of a sender that was not always busy, since idle time looks like a slow link, and of a link that a host's cap
  // held back. The delay counts in any case. INVALID_ARGUMENT names a link that does not exist or a measurement out of
  // bounds; what else the report says is taken.
  absl::Status Accept(Timestamp now, NodeId from, const std::vector<NodeReport::Link>& links);

  // What is known now.
  NetworkView View() const;
  // By (from, to).
  const std::vector<Entry>& entries() const { return entries_; }
  const NetworkView& believed() const { return believed_; }
  // Empty for a belief and for what was measured before a restart.
  std::optional<absl::Duration> AgeOf(const Entry& entry, Timestamp now) const;
  // Measured, but longer than kOldAfter ago, or before a restart.
  bool IsOld(const Entry& entry, Timestamp now) const;

  // What the caps of hosts leave of links under the policy in use (topology/capped_rates.h).
  void SetCappedRates(CappedRates rates) { capped_rates_ = std::move(rates); }

  // From now on changes count against what is known now: it is what the plan is made from.
  void MarkPlanned();
  // Whether the rate of a link has changed by more than this fraction since MarkPlanned: of the smaller of the two
  // values, so that a drop to a half and a doubling both are 1.
  bool ChangedBeyond(double fraction) const;
  // When samples last told that a link has another rate than before, and not only noise.
  std::optional<Timestamp> last_change() const { return last_change_; }

  // Takes the measured links of a state record read back.
  void Restore(const std::vector<NetworkLink>& measured);
  // Takes another configuration with the same nodes and links. What was measured stays, except on links whose belief
  // has changed: the user knows something new.
  void Believe(NetworkView believed);

 private:
  Entry* Find(NodeId from, NodeId to);
  static absl::Status Check(const LinkMeasurement& measurement);
  bool IsHeldByCap(const NetworkLink& link, double rate_bps) const;
  void Take(Timestamp now, Timestamp sampled_at, const LinkMeasurement& measurement, Entry& entry);

  NetworkView believed_;
  std::vector<Entry> entries_;       // by position in believed_.links()
  std::vector<double> planned_bps_;  // by position in entries_
  CappedRates capped_rates_;
  std::optional<Timestamp> last_change_;
};

// The links of a view whose values were measured.
std::vector<NetworkLink> MeasuredLinks(const NetworkView& view);

// `believed` with the values of these links in place of its own; links that it does not have are left out.
NetworkView WithMeasured(const NetworkView& believed, const std::vector<NetworkLink>& measured);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_LINK_TABLE_H_
