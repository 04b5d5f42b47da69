#include "sim/checkers/route_checker.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

bool VisitsANodeTwice(const std::vector<NodeId>& path) {
  const std::set<NodeId> nodes(path.begin(), path.end());
  return nodes.size() < path.size();
}

bool Contains(const std::vector<RouteSlice>& ways, const std::vector<NodeId>& path) {
  return std::any_of(ways.begin(), ways.end(), [&](const RouteSlice& way) { return way.path == path; });
}

}  // namespace

void RouteChecker::Complain(const SentMessage& sent, const std::string& rule, const std::string& what) {
  violations_->Add(sent.now, rule,
                   absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": ", what));
}

void RouteChecker::OnSent(const SentMessage& sent) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    CheckChunk(sent, *chunk);
  } else if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
    CheckSlice(sent, published->slice);
  }
}

void RouteChecker::OnDelivered(const SentMessage& sent) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    const bool is_relayed = chunk->route.path.size() > 2 && chunk->route.destination() != sent.to;
    if (is_relayed) passed_[sent.to].emplace(chunk->id, chunk->route.path);
  } else if (const auto* retired = std::get_if<PoliciesRetired>(&sent.message)) {
    const auto [entry, is_first] = retired_.try_emplace(sent.to, Retired{retired->oldest, sent.now});
    if (is_first || entry->second.oldest >= retired->oldest) return;
    entry->second = {retired->oldest, sent.now};
  }
}

void RouteChecker::OnProcessStarted(Timestamp /*now*/, NodeId process) {
  retired_.erase(process);
  passed_.erase(process);
}

void RouteChecker::CheckSlice(const SentMessage& sent, const PolicySlice& slice) {
  CheckWays(sent, slice.routes);
  CheckWays(sent, slice.auxiliary);
  const auto [entry, is_first] = slices_.try_emplace({sent.to, slice.version}, slice);
  if (is_first) return;
  const PolicySlice& before = entry->second;
  if (before.trees != slice.trees || before.routes != slice.routes || before.auxiliary != slice.auxiliary ||
      before.chunk_max_elements != slice.chunk_max_elements || before.transmission != slice.transmission) {
    Complain(sent, "policies do not change", "differs from what this node was sent under the same version");
  }
}

void RouteChecker::CheckWays(const SentMessage& sent, const std::vector<RouteSlice>& ways) {
  for (const RouteSlice& way : ways) {
    if (way.path.size() < 3 || VisitsANodeTwice(way.path)) Complain(sent, "no loops", "a way is none, or a loop");
    for (size_t hop = 0; hop + 1 < way.path.size(); ++hop) {
      if (links_.contains({way.path[hop], way.path[hop + 1]})) continue;
      Complain(sent, "overlay links",
               absl::StrCat("a way leads from ", way.path[hop].value(), " to ", way.path[hop + 1].value(),
                            " without a link"));
    }
  }
}

void RouteChecker::CheckChunk(const SentMessage& sent, const ChunkMessage& chunk) {
  const SourceRoute& route = chunk.route;
  if (route.hop + 1 >= route.path.size()) return;  // the checker of acks says so
  if (VisitsANodeTwice(route.path)) Complain(sent, "no loops", "its way visits a node twice");
  if (route.hop == 0) return CheckSource(sent, chunk);
  const auto passed = passed_.find(sent.from);
  if (passed == passed_.end() || !passed->second.contains({chunk.id, route.path})) {
    Complain(sent, "relays only forward", "it did not come to the relay on this way");
  }
}

void RouteChecker::CheckSource(const SentMessage& sent, const ChunkMessage& chunk) {
  // A paused process has messages waiting, and sends under an old policy before it sees the one that retires it.
  // What was sent before may go again: its acknowledgement was lost, or it waited on a link.
  const bool is_first = started_.emplace(chunk.id, NodePair(sent.from, chunk.route.destination())).second;
  const auto retired = retired_.find(sent.from);
  if (is_first && retired != retired_.end() && chunk.policy < retired->second.oldest &&
      retired->second.told_at + longest_pause_ < sent.now) {
    Complain(
        sent, "retired policies",
        absl::StrCat("policy ", chunk.policy.value(), " is retired, the oldest is ", retired->second.oldest.value()));
  }
  if (chunk.is_auxiliary) ++auxiliary_chunks_;
  const std::vector<NodeId>& path = chunk.route.path;
  if (path.size() == 2) {
    if (chunk.is_auxiliary) Complain(sent, "ways of the policy", "a link is no auxiliary path");
    return;
  }
  // The scheduler names the way of a training state, whatever the policy is.
  if (chunk.id.half == Half::kState) return;
  const auto slice = slices_.find({sent.from, chunk.policy});
  if (slice == slices_.end() || !Contains(chunk.is_auxiliary ? slice->second.auxiliary : slice->second.routes, path)) {
    Complain(sent, "ways of the policy",
             absl::StrCat("policy ", chunk.policy.value(), " gave this node no such ",
                          chunk.is_auxiliary ? "auxiliary_path" : "route"));
  }
}

}  // namespace banyan
