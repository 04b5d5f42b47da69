#include "wan/forwarding_core.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "core/random.h"
#include "wan/hop_routes.h"

namespace banyan {
namespace {

constexpr absl::Duration kLeastQueueTime = absl::Milliseconds(50);

absl::Duration QueueTime(const ForwardingOptions& options, absl::Duration delay) {
  return options.queue_time.value_or(std::max(kLeastQueueTime, 2 * delay));
}

}  // namespace

ForwardingCore::ForwardingCore(const NetworkView& view, const ForwardingOptions& options)
    : view_(view), nodes_(view.nodes().size()), is_cut_(nodes_ * nodes_) {
  Random seeds(options.seed);
  for (const NetworkLink& link : view_.links()) {
    ChannelOptions channel;
    channel.rate_bps = link.throughput_bps;
    channel.delay = link.delay;
    channel.loss_fraction = link.loss_fraction;
    channel.queue_time = QueueTime(options, link.delay);
    channel.loss_seed = seeds.Next();
    channel.trim_bytes = options.trim_bytes;
    AddChannel(channel);
  }
  AddRoutes(options);
}

double ForwardingCore::RouteRate(size_t from, size_t to) const {
  double least_bps = std::numeric_limits<double>::infinity();
  for (const uint32_t channel : routes_[RouteIndex(from, to)]) {
    least_bps = std::min(least_bps, channels_[channel].link.rate_bps());
  }
  return least_bps;
}

absl::Duration ForwardingCore::ShortestDelay(size_t from, size_t to) const {
  absl::Duration shortest = absl::InfiniteDuration();
  for (const uint32_t channel : routes_[RouteIndex(from, to)]) {
    const bool is_link = channel < view_.links().size();
    if (is_link) shortest = std::min(shortest, view_.links()[channel].delay);
  }
  return shortest;
}

void ForwardingCore::Send(int64_t now_ns, size_t from, size_t to, SegmentTrain train) {
  train.route = static_cast<uint32_t>(RouteIndex(from, to));
  train.hop = 0;
  if (is_cut_[train.route]) train.alive = 0;
  Offer(now_ns, train);
}

void ForwardingCore::Advance(int64_t now_ns) {
  while (NextEventNs() <= now_ns) {
    const TimedQueue<uint32_t>::Item event = events_.Pop();
    Channel& channel = channels_[event.value];
    if (channel.scheduled_ns != event.time.nanoseconds()) continue;
    channel.scheduled_ns = kNeverNs;
    TakeArrivals(event.time.nanoseconds(), event.value);
    Schedule(event.value);
  }
}

bool ForwardingCore::SetRate(int64_t now_ns, NodeId from, NodeId to, double rate_bps) {
  const NetworkLink* link = view_.FindLink(from, to);
  if (link == nullptr) return false;
  const auto channel = static_cast<uint32_t>(link - view_.links().data());
  channels_[channel].link.SetRate(now_ns, rate_bps);
  Schedule(channel);
  return true;
}

bool ForwardingCore::SetCut(NodeId from, NodeId to, bool is_cut) {
  const NetworkLink* link = view_.FindLink(from, to);
  if (link == nullptr) return false;
  is_cut_[RouteIndexOf(*link)] = is_cut;
  return true;
}

size_t ForwardingCore::RouteIndexOf(const NetworkLink& link) const {
  const auto position = [this](NodeId id) {
    const auto found = std::find_if(view_.nodes().begin(), view_.nodes().end(),
                                    [id](const NetworkNode& node) { return node.id == id; });
    return static_cast<size_t>(found - view_.nodes().begin());
  };
  return RouteIndex(position(link.from), position(link.to));
}

std::vector<ChannelState> ForwardingCore::States(int64_t now_ns) {
  std::vector<ChannelState> states;
  for (size_t i = 0; i < view_.links().size(); ++i) {
    const NetworkLink& link = view_.links()[i];
    LinkChannel& channel = channels_[i].link;
    const int64_t queued_bytes = channel.QueuedBytes(now_ns);
    states.push_back({link.from, link.to, channel.rate_bps(), channel.counters(), queued_bytes,
                      channel.queue_limit_bytes(), is_cut_[RouteIndexOf(link)]});
  }
  return states;
}

uint32_t ForwardingCore::AddChannel(const ChannelOptions& options) {
  channels_.push_back({LinkChannel(options)});
  return static_cast<uint32_t>(channels_.size() - 1);
}

std::vector<std::optional<uint32_t>> ForwardingCore::AddCaps(const ForwardingOptions& options,
                                                             std::optional<double> NetworkNode::*cap_bps) {
  std::vector<std::optional<uint32_t>> caps(nodes_);
  for (size_t i = 0; i < nodes_; ++i) {
    const std::optional<double>& cap = view_.nodes()[i].*cap_bps;
    if (!cap.has_value()) continue;
    ChannelOptions channel;
    channel.rate_bps = *cap;
    channel.queue_time = QueueTime(options, absl::ZeroDuration());
    channel.trim_bytes = options.trim_bytes;
    caps[i] = AddChannel(channel);
  }
  return caps;
}

void ForwardingCore::AddRoutes(const ForwardingOptions& options) {
  const std::vector<std::optional<uint32_t>> up = AddCaps(options, &NetworkNode::up_cap_bps);
  const std::vector<std::optional<uint32_t>> down = AddCaps(options, &NetworkNode::down_cap_bps);
  std::vector<uint32_t> shared;
  for (const SharedCapacity& capacity : view_.shared()) {
    ChannelOptions channel;
    channel.rate_bps = capacity.capacity_bps;
    channel.queue_time = QueueTime(options, absl::ZeroDuration());
    channel.trim_bytes = options.trim_bytes;
    shared.push_back(AddChannel(channel));
  }
  routes_.resize(nodes_ * nodes_);
  for (size_t from = 0; from < nodes_; ++from) {
    const std::vector<std::vector<size_t>> paths = HopRoutesFrom(view_, from);
    for (size_t to = 0; to < nodes_; ++to) {
      const std::vector<size_t>& path = paths[to];
      if (path.size() < 2) continue;
      std::vector<uint32_t>& route = routes_[RouteIndex(from, to)];
      if (up[from].has_value()) route.push_back(*up[from]);
      for (size_t i = 0; i + 1 < path.size(); ++i) {
        const NetworkLink* link = view_.FindLink(view_.nodes()[path[i]].id, view_.nodes()[path[i + 1]].id);
        route.push_back(static_cast<uint32_t>(link - view_.links().data()));
        for (const size_t number : view_.SharedBy(route.back())) route.push_back(shared[number]);
      }
      if (down[to].has_value()) route.push_back(*down[to]);
    }
  }
}

void ForwardingCore::Offer(int64_t now_ns, const SegmentTrain& train) {
  const std::vector<uint32_t>& route = routes_[train.route];
  if (train.alive == 0 || train.hop == route.size()) {
    ended_.push_back({train, train.route % nodes_});
    return;
  }
  const uint32_t channel = route[train.hop];
  if (channels_[channel].link.Offer(now_ns, train)) {
    Schedule(channel);
    return;
  }
  ended_.push_back({train, train.route % nodes_});
  ended_.back().train.alive = 0;
}

void ForwardingCore::TakeArrivals(int64_t now_ns, uint32_t channel) {
  SegmentTrain train;
  while (channels_[channel].link.TakeArrival(now_ns, &train)) {
    ++train.hop;
    Offer(now_ns, train);
  }
}

void ForwardingCore::Schedule(uint32_t channel) {
  const int64_t next_ns = channels_[channel].link.NextArrivalNs();
  if (next_ns >= channels_[channel].scheduled_ns) return;
  channels_[channel].scheduled_ns = next_ns;
  events_.Push(Timestamp::FromNanoseconds(next_ns), channel);
}

}  // namespace banyan
