#include "scheduler/policy/link_outages.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "core/check.h"

namespace banyan {
namespace {

// Returns the most of `nodes` between which links of `view` lead, over none but them.
std::set<NodeId> LargestPart(const NetworkView& view, const std::set<NodeId>& nodes) {
  std::set<NodeId> left = nodes;
  std::set<NodeId> largest;
  while (left.size() > largest.size()) {
    std::set<NodeId> part;
    std::vector<NodeId> next = {*left.begin()};
    left.erase(left.begin());
    while (!next.empty()) {
      const NodeId node = next.back();
      next.pop_back();
      part.insert(node);
      for (const NetworkLink& link : view.LinksFrom(node)) {
        if (view.FindLink(link.to, node) != nullptr && left.erase(link.to) > 0) next.push_back(link.to);
      }
    }
    if (part.size() > largest.size()) largest = std::move(part);
  }
  return largest;
}

}  // namespace

void LinkOutages::Cut(Timestamp now, NodeId a, NodeId b, std::string why) {
  Entry& entry = entries_[std::minmax(a, b)];
  // After a long time without a complaint the link counts as good again.
  const bool is_recent = entry.length > absl::ZeroDuration() && now < entry.until + kLongestOutage;
  entry.length = is_recent ? std::min(2 * entry.length, kLongestOutage) : kFirstOutage;
  entry.until = now + entry.length;
  entry.is_out = true;
  entry.why = std::move(why);
}

void LinkOutages::ReturnBy(Timestamp latest) {
  for (auto& [ends, entry] : entries_) {
    if (entry.is_out) entry.until = std::min(entry.until, latest);
  }
}

bool LinkOutages::TakeReturned(Timestamp now) {
  bool has_returned = false;
  for (auto& [ends, entry] : entries_) {
    if (!entry.is_out || now < entry.until) continue;
    entry.is_out = false;
    entry.returned_at = now;
    has_returned = true;
  }
  std::erase_if(entries_, [now](const auto& entry) {
    return !entry.second.is_out && now >= entry.second.until + kLongestOutage;
  });
  return has_returned;
}

Timestamp LinkOutages::NextDeadline() const {
  Timestamp next = kNever;
  for (const auto& [ends, entry] : entries_) {
    if (entry.is_out) next = std::min(next, entry.until);
  }
  return next;
}

std::vector<LinkOutages::Outage> LinkOutages::All() const {
  std::vector<Outage> outages;
  for (const auto& [ends, entry] : entries_) {
    if (entry.is_out) outages.push_back({ends.first, ends.second, entry.until, entry.why});
  }
  return outages;
}

std::vector<LinkOutages::Outage> LinkOutages::Lately(Timestamp now) const {
  std::vector<Outage> returned;
  for (const auto& [ends, entry] : entries_) {
    if (entry.is_out || now - entry.returned_at > kLately) continue;
    returned.push_back({ends.first, ends.second, entry.returned_at, entry.why});
  }
  return returned;
}

NetworkView LinkOutages::Without(const NetworkView& view) const {
  if (empty()) return view;
  std::vector<NetworkLink> links;
  std::copy_if(view.links().begin(), view.links().end(), std::back_inserter(links),
               [this](const NetworkLink& link) { return !IsOut(link.from, link.to); });
  absl::StatusOr<NetworkView> without = view.WithLinks(std::move(links));
  BANYAN_CHECK(without.ok());
  return *std::move(without);
}

std::set<NodeId> LinkOutages::CutOff(const NetworkView& view, const std::set<NodeId>& nodes) const {
  if (empty() || LargestPart(view, nodes).size() < nodes.size()) return {};
  std::set<NodeId> most = LargestPart(Without(view), nodes);
  if (2 * most.size() <= nodes.size()) return {};
  std::set<NodeId> others;
  std::set_difference(nodes.begin(), nodes.end(), most.begin(), most.end(), std::inserter(others, others.end()));
  return others;
}

bool LinkOutages::IsOut(NodeId a, NodeId b) const {
  const auto found = entries_.find(std::minmax(a, b));
  return found != entries_.end() && found->second.is_out;
}

}  // namespace banyan
