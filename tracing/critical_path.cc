#include "tracing/critical_path.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace banyan {
namespace {

// Chunks wait for a link nearly all the time.
constexpr double kNearlyAll = 0.7;

using Link = std::pair<NodeId, NodeId>;
using Hops = std::vector<const Hop*>;

// What something waited for last.
struct Cause {
  Timestamp at;
  const Hop* hop = nullptr;  // a chunk that came; else the mark
  PathPart::Kind mark = PathPart::Kind::kContribution;
};

struct BusyLink {
  Hops hops;                                        // in the order in which they came
  absl::Duration least = absl::InfiniteDuration();  // under way
};

class PathWalk {
 public:
  PathWalk(const JobTrace& trace, Round round) : trace_(trace), round_(round) {
    for (const Hop& hop : trace.hops) {
      BusyLink& link = links_[{hop.from, hop.to}];
      link.hops.push_back(&hop);
      link.least = std::min(link.least, hop.received_at - hop.sent_at);
      if (hop.journey.round == round) arrivals_[{hop.to, hop.journey.key}].push_back(&hop);
    }
  }

  std::optional<CriticalPath> Walk() {
    const Mark* last = nullptr;
    std::optional<Timestamp> begin;
    for (const Mark& mark : trace_.marks) {
      if (mark.round != round_) continue;
      if (mark.step == RoundRecords::Step::kContributed && !begin.has_value()) begin = mark.at;
      if (mark.step == RoundRecords::Step::kCompleted) last = &mark;
    }
    if (last == nullptr || !begin.has_value() || *begin >= last->at) return std::nullopt;
    path_ = {round_, *begin, last->at, {}};
    at_ = last->at;
    std::optional<Cause> cause = CauseOfCompletion(*last);
    NodeId node = last->node;
    while (cause.has_value() && at_ > path_.begin) {
      Add({PathPart::Kind::kWork, node, node, cause->at, {}});
      if (cause->hop == nullptr) {
        if (cause->mark == PathPart::Kind::kContribution) AddWorkers(node);
        Add({cause->mark, node, node, path_.begin, {}});
        break;
      }
      const Hop& first = FollowLink(*cause->hop);
      if (first.journey.round != round_) break;
      node = first.from;
      cause = CauseOfReady(first);
    }
    // Whatever is left was before this round's chunks: other rounds, or records that were left out.
    if (at_ > path_.begin) Add({PathPart::Kind::kWork, node, node, path_.begin, {}});
    std::reverse(path_.parts.begin(), path_.parts.end());
    return std::move(path_);
  }

 private:
  // Adds the part that ends where the last one begins.
  void Add(PathPart part) {
    part.begin = std::max(part.begin, path_.begin);
    part.end = at_;
    if (part.begin >= part.end) return;
    at_ = part.begin;
    path_.parts.push_back(std::move(part));
  }

  // Adds what the workers of the node took since it had completed the round before, and that round.
  void AddWorkers(NodeId node) {
    std::optional<Timestamp> former;
    for (const Mark& mark : trace_.marks) {
      const bool is_former = mark.node == node && mark.round < round_ && mark.at <= at_;
      if (is_former && mark.step == RoundRecords::Step::kCompleted) former = mark.at;
    }
    if (!former.has_value() || *former <= path_.begin) return;
    Add({PathPart::Kind::kContribution, node, node, *former, {}});
    Add({PathPart::Kind::kFormerRound, node, node, path_.begin, {}});
  }

  // Adds what the chunk waited for on the link and its way; returns the first chunk for which the link was busy.
  const Hop& FollowLink(const Hop& hop) {
    const BusyLink& link = links_.at({hop.from, hop.to});
    const Hop& first = FirstOfBusy(link, hop);
    PathPart part{PathPart::Kind::kFull, hop.from, hop.to, first.ready_at, {}};
    const Timestamp full_until = hop.received_at + -link.least;
    // The delay of the last one is a part of the time when the link was full, unless it is most of it.
    const bool is_full = &first != &hop && full_until - first.ready_at >= link.least;
    if (!is_full) part.kind = PathPart::Kind::kHop;
    if (is_full) Describe(link, hop, part);
    Add(std::move(part));
    return first;
  }

  static const Hop& FirstOfBusy(const BusyLink& link, const Hop& hop) {
    const Hop* first = &hop;
    for (;;) {
      const Timestamp carried_since = first->ready_at + link.least;
      const auto before = std::upper_bound(link.hops.begin(), link.hops.end(), carried_since,
                                           [](Timestamp time, const Hop* h) { return time < h->received_at; });
      if (before == link.hops.end() || (*before)->received_at >= first->received_at) return *first;
      if (*before == first) return *first;
      first = *before;
      if (first->journey.round != hop.journey.round) return *first;
    }
  }

  void Describe(const BusyLink& link, const Hop& last, PathPart& part) const {
    part.begin = std::max(part.begin, path_.begin);
    for (const Hop* hop : link.hops) {
      if (part.begin < hop->received_at && hop->received_at <= last.received_at) part.carried_bytes += hop->size_bytes;
    }
    for (const auto& [ends, other] : links_) {
      if (ends == Link(part.from, part.to)) continue;
      const bool is_beside = ends.first == part.from || ends.second == part.to;
      if (!is_beside || WaitShare(other, part.begin, last.received_at) < kNearlyAll) continue;
      if (ends.first == part.from) part.also_to.insert(ends.second);
      if (ends.second == part.to) part.also_from.insert(ends.first);
    }
  }

  // Returns the share of the time in which chunks were on the link or waited for it, but for the link's delay.
  static double WaitShare(const BusyLink& link, Timestamp begin, Timestamp end) {
    std::vector<std::pair<Timestamp, Timestamp>> waits;
    for (const Hop* hop : link.hops) {
      const Timestamp until = std::min(end, hop->received_at + -link.least);
      const Timestamp since = std::max(begin, hop->ready_at);
      if (since < until) waits.emplace_back(since, until);
    }
    std::sort(waits.begin(), waits.end());
    absl::Duration busy = absl::ZeroDuration();
    Timestamp counted = begin;
    for (const auto& [since, until] : waits) {
      if (until <= counted) continue;
      busy += until - std::max(since, counted);
      counted = until;
    }
    return absl::FDivDuration(busy, end - begin);
  }

  // Keeps the later one.
  static void Consider(std::optional<Cause>& latest, const Cause& cause) {
    if (!latest.has_value() || cause.at >= latest->at) latest = cause;
  }

  // Considers what the node had of the key before any chunk: its own contribution, and its policy.
  void ConsiderMarks(NodeId node, KeyId key, Timestamp until, std::optional<Cause>& latest) const {
    for (const Mark& mark : trace_.marks) {
      if (mark.node != node || mark.key != key || mark.round != round_ || mark.at > until) continue;
      if (mark.step == RoundRecords::Step::kCompleted) continue;
      const bool is_policy = mark.step == RoundRecords::Step::kPolicyCame;
      Consider(latest, {mark.at, nullptr, is_policy ? PathPart::Kind::kPolicy : PathPart::Kind::kContribution});
    }
  }

  const Hops& ArrivalsAt(NodeId node, KeyId key) const {
    static const Hops kNone;
    const auto found = arrivals_.find({node, key});
    return found == arrivals_.end() ? kNone : found->second;
  }

  std::optional<Cause> CauseOfCompletion(const Mark& completed) const {
    std::optional<Cause> latest;
    ConsiderMarks(completed.node, completed.key, completed.at, latest);
    for (const Hop* hop : ArrivalsAt(completed.node, completed.key)) {
      const bool is_for_it = hop->journey.destination == completed.node && hop->received_at <= completed.at;
      if (is_for_it) Consider(latest, {hop->received_at, hop});
    }
    return latest;
  }

  // Returns for what the chunk of a hop waited last before it was ready there.
  std::optional<Cause> CauseOfReady(const Hop& ready) const {
    std::optional<Cause> latest;
    std::optional<Cause> result;
    for (const Hop* hop : ArrivalsAt(ready.from, ready.journey.key)) {
      if (hop->received_at > ready.ready_at || hop->journey.chunk != ready.journey.chunk) continue;
      if (ready.is_relayed()) {
        if (hop->journey == ready.journey) Consider(latest, {hop->received_at, hop});
      } else if (hop->journey.destination == ready.from) {
        if (!hop->journey.is_result) Consider(latest, {hop->received_at, hop});
        if (hop->journey.is_result && ready.journey.is_result) Consider(result, {hop->received_at, hop});
      }
    }
    // A result that came was passed on, whatever sums there were.
    if (result.has_value()) return result;
    if (!ready.is_relayed()) ConsiderMarks(ready.from, ready.journey.key, ready.ready_at, latest);
    return latest;
  }

  const JobTrace& trace_;
  const Round round_;
  std::map<Link, BusyLink> links_;
  std::map<std::pair<NodeId, KeyId>, Hops> arrivals_;  // of the round
  CriticalPath path_;
  Timestamp at_;  // how far the walk has come
};

}  // namespace

std::optional<CriticalPath> FindCriticalPath(const JobTrace& trace, Round round) {
  return PathWalk(trace, round).Walk();
}

}  // namespace banyan
