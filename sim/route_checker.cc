#include "sim/route_checker.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

// A paused process has messages waiting, and sends under an old policy before it sees the one that retires it.
constexpr absl::Duration kLongestPause = absl::Seconds(4);

bool VisitsANodeTwice(const std::vector<NodeId>& path) {
  const std::set<NodeId> nodes(path.begin(), path.end());
  return nodes.size() < path.size();
}

bool Contains(const std::vector<RouteSlice>& ways, const std::vector<NodeId>& path) {
  return std::any_of(ways.begin(), ways.end(), [&](const RouteSlice& way) { return way.path == path; });
}

}  // namespace

void RouteChecker::Complain(const Traffic& traffic, const std::string& rule, const std::string& what) {
  violations_->Add(traffic.now, rule,
                   absl::StrCat("node ", traffic.from.value(), " to node ", traffic.to.value(), ": ",
                                DescribeMessage(traffic.message), ": ", what));
}

void RouteChecker::OnSent(const Traffic& traffic) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&traffic.message)) {
    CheckChunk(traffic, *chunk);
  } else if (const auto* published = std::get_if<PolicyPublished>(&traffic.message)) {
    CheckSlice(traffic, published->slice);
  }
}

void RouteChecker::OnDelivered(const Traffic& traffic) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&traffic.message)) {
    const bool is_relayed = chunk->route.path.size() > 2 && chunk->route.destination() != traffic.to;
    if (is_relayed) passed_[traffic.to].emplace(chunk->id, chunk->route.path);
  } else if (const auto* retired = std::get_if<PoliciesRetired>(&traffic.message)) {
    const auto [entry, is_first] = retired_.try_emplace(traffic.to, Retired{retired->oldest, traffic.now});
    if (is_first || entry->second.oldest >= retired->oldest) return;
    entry->second = {retired->oldest, traffic.now};
  }
}

void RouteChecker::CheckSlice(const Traffic& traffic, const PolicySlice& slice) {
  CheckWays(traffic, slice.routes);
  CheckWays(traffic, slice.auxiliary);
  const auto [entry, is_first] = slices_.try_emplace({traffic.to, slice.version}, slice);
  if (is_first) return;
  const PolicySlice& before = entry->second;
  if (before.trees != slice.trees || before.routes != slice.routes || before.auxiliary != slice.auxiliary ||
      before.chunk_max_elements != slice.chunk_max_elements || before.transmission != slice.transmission) {
    Complain(traffic, "policies do not change", "differs from what this node was sent under the same version");
  }
}

void RouteChecker::CheckWays(const Traffic& traffic, const std::vector<RouteSlice>& ways) {
  for (const RouteSlice& way : ways) {
    if (way.path.size() < 3 || VisitsANodeTwice(way.path)) Complain(traffic, "no loops", "a way is none, or a loop");
    for (size_t hop = 0; hop + 1 < way.path.size(); ++hop) {
      if (links_.contains({way.path[hop], way.path[hop + 1]})) continue;
      Complain(traffic, "overlay links",
               absl::StrCat("a way leads from ", way.path[hop].value(), " to ", way.path[hop + 1].value(),
                            " without a link"));
    }
  }
}

void RouteChecker::CheckChunk(const Traffic& traffic, const ChunkMessage& chunk) {
  const SourceRoute& route = chunk.route;
  if (route.hop + 1 >= route.path.size()) return;  // the checker of acks says so
  if (VisitsANodeTwice(route.path)) Complain(traffic, "no loops", "its way visits a node twice");
  if (route.hop == 0) return CheckSource(traffic, chunk);
  const auto passed = passed_.find(traffic.from);
  if (passed == passed_.end() || !passed->second.contains({chunk.id, route.path})) {
    Complain(traffic, "relays only forward", "it did not come to the relay on this way");
  }
}

void RouteChecker::CheckSource(const Traffic& traffic, const ChunkMessage& chunk) {
  // What was sent before may go again: its acknowledgement was lost, or it waited on a link.
  const bool is_first = started_.emplace(chunk.id, NodePair(traffic.from, chunk.route.destination())).second;
  const auto retired = retired_.find(traffic.from);
  if (is_first && retired != retired_.end() && chunk.policy < retired->second.oldest &&
      retired->second.told_at + kLongestPause < traffic.now) {
    Complain(
        traffic, "retired policies",
        absl::StrCat("policy ", chunk.policy.value(), " is retired, the oldest is ", retired->second.oldest.value()));
  }
  if (chunk.is_auxiliary) ++detoured_chunks_;
  const std::vector<NodeId>& path = chunk.route.path;
  if (path.size() == 2) {
    if (chunk.is_auxiliary) Complain(traffic, "ways of the policy", "a link is no detour");
    return;
  }
  const auto slice = slices_.find({traffic.from, chunk.policy});
  if (slice == slices_.end() || !Contains(chunk.is_auxiliary ? slice->second.auxiliary : slice->second.routes, path)) {
    Complain(traffic, "ways of the policy",
             absl::StrCat("policy ", chunk.policy.value(), " gave this node no such ",
                          chunk.is_auxiliary ? "detour" : "route"));
  }
}

}  // namespace banyan
