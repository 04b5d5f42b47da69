#include "tracing/critical_path.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace banyan {

// The trace by what a walk looks for, so that rounds do not look through each other's records. A view.
class TraceIndex {
 public:
  using Hops = std::vector<const Hop*>;
  using Marks = std::vector<const Mark*>;
  struct Link {
    Hops hops;                                        // in the order in which they came
    absl::Duration least = absl::InfiniteDuration();  // under way
    absl::Duration longest = absl::ZeroDuration();    // from when a chunk was ready until it had come
  };
  using Ends = std::pair<NodeId, NodeId>;

  explicit TraceIndex(const JobTrace& trace) {
    for (const Hop& hop : trace.hops) {
      Link& link = links_[{hop.from, hop.to}];
      link.hops.push_back(&hop);
      link.least = std::min(link.least, hop.received_at - hop.sent_at);
      link.longest = std::max(link.longest, hop.received_at - hop.ready_at);
      arrivals_[{hop.journey.round, hop.to, hop.journey.key}].push_back(&hop);
    }
    for (const Mark& mark : trace.marks) {
      marks_[mark.round].push_back(&mark);
      if (mark.step == RoundRecords::Step::kCompleted) completions_[mark.node].push_back(&mark);
    }
  }

  const std::map<Ends, Link>& links() const { return links_; }
  const Hops& ArrivalsAt(Round round, NodeId node, KeyId key) const {
    return FindIn(arrivals_, std::tuple(round, node, key));
  }
  const Marks& MarksOf(Round round) const { return FindIn(marks_, round); }
  const Marks& CompletionsOf(NodeId node) const { return FindIn(completions_, node); }

 private:
  template <typename Key, typename Value>
  static const Value& FindIn(const std::map<Key, Value>& table, const Key& key) {
    static const Value kNone;
    const auto found = table.find(key);
    return found == table.end() ? kNone : found->second;
  }

  std::map<Ends, Link> links_;
  std::map<std::tuple<Round, NodeId, KeyId>, Hops> arrivals_;
  std::map<Round, Marks> marks_;
  std::map<NodeId, Marks> completions_;
};

namespace {

using BusyLink = TraceIndex::Link;
using Link = TraceIndex::Ends;

// Chunks wait for a link nearly all the time.
constexpr double kNearlyAll = 0.7;

// What something waited for last.
struct Cause {
  Timestamp at;
  const Hop* hop = nullptr;  // a chunk that came; else the mark
  PathPart::Kind mark = PathPart::Kind::kContribution;
};

// Returns the first hop of the link that came after `time`.
auto FirstAfter(const BusyLink& link, Timestamp time) {
  return std::upper_bound(link.hops.begin(), link.hops.end(), time,
                          [](Timestamp t, const Hop* hop) { return t < hop->received_at; });
}

class PathWalk {
 public:
  PathWalk(const TraceIndex& index, Round round) : index_(index), round_(round) {}

  std::optional<CriticalPath> Walk() {
    const Mark* last = nullptr;
    std::optional<Timestamp> begin;
    for (const Mark* mark : index_.MarksOf(round_)) {
      if (mark->step == RoundRecords::Step::kContributed && !begin.has_value()) begin = mark->at;
      if (mark->step == RoundRecords::Step::kCompleted) last = mark;
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
    const TraceIndex::Marks& completions = index_.CompletionsOf(node);
    auto after = std::upper_bound(completions.begin(), completions.end(), at_,
                                  [](Timestamp time, const Mark* mark) { return time < mark->at; });
    while (after != completions.begin() && (*std::prev(after))->round >= round_) --after;
    std::optional<Timestamp> former;
    if (after != completions.begin()) former = (*std::prev(after))->at;
    if (!former.has_value() || *former <= path_.begin) return;
    Add({PathPart::Kind::kContribution, node, node, *former, {}});
    Add({PathPart::Kind::kFormerRound, node, node, path_.begin, {}});
  }

  // Adds what the chunk waited for on the link and its way; returns the first chunk for which the link was busy.
  const Hop& FollowLink(const Hop& hop) {
    const BusyLink& link = index_.links().at({hop.from, hop.to});
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
      const auto before = FirstAfter(link, carried_since);
      if (before == link.hops.end() || (*before)->received_at >= first->received_at) return *first;
      if (*before == first) return *first;
      first = *before;
      if (first->journey.round != hop.journey.round) return *first;
    }
  }

  void Describe(const BusyLink& link, const Hop& last, PathPart& part) const {
    part.begin = std::max(part.begin, path_.begin);
    const auto end = FirstAfter(link, last.received_at);
    for (auto hop = FirstAfter(link, part.begin); hop < end; ++hop) part.carried_bytes += (*hop)->size_bytes;
    for (const auto& [ends, other] : index_.links()) {
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
    const auto last = FirstAfter(link, end + link.longest);
    for (auto place = FirstAfter(link, begin); place < last; ++place) {
      const Timestamp until = std::min(end, (*place)->received_at + -link.least);
      const Timestamp since = std::max(begin, (*place)->ready_at);
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
    for (const Mark* mark : index_.MarksOf(round_)) {
      if (mark->node != node || mark->key != key || mark->at > until) continue;
      if (mark->step == RoundRecords::Step::kCompleted) continue;
      const bool is_policy = mark->step == RoundRecords::Step::kPolicyCame;
      Consider(latest, {mark->at, nullptr, is_policy ? PathPart::Kind::kPolicy : PathPart::Kind::kContribution});
    }
  }

  const TraceIndex::Hops& ArrivalsAt(NodeId node, KeyId key) const { return index_.ArrivalsAt(round_, node, key); }

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

  const TraceIndex& index_;
  const Round round_;
  CriticalPath path_;
  Timestamp at_;  // how far the walk has come
};

}  // namespace

PathFinder::PathFinder(const JobTrace& trace) : trace_(trace), index_(std::make_unique<const TraceIndex>(trace)) {}

PathFinder::~PathFinder() = default;

std::optional<CriticalPath> PathFinder::Find(Round round) const { return PathWalk(*index_, round).Walk(); }

std::vector<CriticalPath> PathFinder::FindAll() const {
  std::vector<CriticalPath> paths;
  for (const Round round : trace_.CompleteRounds()) {
    if (std::optional<CriticalPath> path = Find(round); path.has_value()) paths.push_back(*std::move(path));
  }
  return paths;
}

}  // namespace banyan
