#include "node/peer_network.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "node/early_store.h"
#include "node/rejection_log.h"

namespace banyan {
namespace {

// `time` plus the pause of this process during which nobody listened.
Timestamp WithPause(Timestamp time, absl::Duration pause, Timestamp now) { return std::min(time + pause, now); }

LinkMeter::Settings MeterSettings(const TransmissionSettings& transmission) {
  return {transmission.probe_chunk_bytes, transmission.probe_chunks, transmission.estimator};
}

SourceRoute Reversed(const SourceRoute& route, size_t from) {
  SourceRoute back;
  back.path.assign(route.path.rend() - static_cast<std::ptrdiff_t>(from) - 1, route.path.rend());
  return back;
}

}  // namespace

PeerNetwork::PeerNetwork(Identity identity, const JobConfig& config, Limits limits, Listener* listener)
    : identity_(std::move(identity)),
      config_(config),
      limits_(limits),
      listener_(listener),
      next_connection_(kFirstPeerConnection.value()),
      tracker_(config.resend_after),
      windows_({.fixed_bytes = config.window_bytes,
                .connections = config.connections_per_link,
                .bytes_per_connection = config.bytes_per_connection,
                .loss_limited = limits.loss_limited}),
      detours_(identity_.node),
      tick_(std::min(config.heartbeat, config.resend_after)) {}

PeerHello PeerNetwork::Hello() const {
  return {kProtocolVersion, identity_.job, identity_.term, identity_.node, identity_.incarnation};
}

PeerLink::Options PeerNetwork::LinkOptions(NodeId neighbour) const {
  return {.window = windows_.For(neighbour).value_or(LinkWindow()), .resend_after = config_.resend_after};
}

void PeerNetwork::ResizeWindows(Timestamp now) {
  for (auto& [node, neighbour] : neighbours_) {
    std::optional<LinkWindow> window = windows_.For(node);
    if (!window.has_value()) continue;
    const std::optional<LinkMeasurement> measured = neighbour.meter.Measure(now);
    if (measured.has_value()) window->pace_bps = PaceAfter(window->pace_bps, measured->rate_bps);
    neighbour.link.Resize(*window);
  }
}

void PeerNetwork::AddPolicy(StepContext& step, const PolicySlice& slice) {
  detours_.AddPolicy(slice);
  prober_.AddPolicy(slice);
  UseSettings(slice);
  windows_.AddPolicy(slice, detours_);
  ResizeWindows(step.now);
  for (const NeighbourSlice& neighbour : slice.neighbours) AddNeighbour(step, neighbour, slice.version);
  // Only now: it may be for another of them.
  for (const NeighbourSlice& neighbour : slice.neighbours) HandleEarly(step, neighbour.node);
}

void PeerNetwork::UseSettings(const PolicySlice& slice) {
  if (slice.version < newest_policy_) return;
  newest_policy_ = slice.version;
  transmission_ = slice.transmission;
  for (auto& [node, neighbour] : neighbours_) neighbour.meter.Configure(MeterSettings(transmission_));
}

void PeerNetwork::AddNeighbour(StepContext& step, const NeighbourSlice& neighbour, PolicyVersion policy) {
  if (auto known = neighbours_.find(neighbour.node); known != neighbours_.end()) {
    if (policy < known->second.newest_policy) return;
    known->second.newest_policy = policy;
    known->second.slice = neighbour;
    return;
  }
  const ConnectionId control(next_connection_++);
  std::vector<ConnectionId> data;
  for (uint32_t i = 0; i < std::max(1u, config_.connections_per_link); ++i) data.emplace_back(next_connection_++);
  Neighbour added{neighbour,
                  control,
                  false,
                  {},
                  PeerLink(LinkOptions(neighbour.node), data),
                  step.now,
                  step.now,
                  LinkMeter(MeterSettings(transmission_))};
  added.newest_policy = policy;
  neighbours_.emplace(neighbour.node, std::move(added));
  outbound_[control] = neighbour.node;
  step.actions.emplace_back(std::in_place_type<Connect>, Connect{control, neighbour.address, Channel::kControl});
  for (ConnectionId connection : data) {
    outbound_[connection] = neighbour.node;
    step.actions.emplace_back(std::in_place_type<Connect>, Connect{connection, neighbour.address, Channel::kData});
  }
  if (next_tick_ == kNever) next_tick_ = step.now + tick_;
}

void PeerNetwork::HandleEarly(StepContext& step, NodeId node) {
  auto early = unknown_.extract(node);
  if (early.empty()) return;
  for (MessageReceived& received : early.mapped()) {
    unknown_bytes_ -= KeptBytes(std::get<ChunkMessage>(received.message), received.payload);
    OnMessage(step, std::move(received));
  }
}

std::string PeerNetwork::NameOf(NodeId node) const {
  auto entry = neighbours_.find(node);
  return entry == neighbours_.end() ? absl::StrCat("node ", node.value()) : entry->second.slice.name;
}

void PeerNetwork::OnConnectionUp(StepContext& step, ConnectionId connection) {
  auto entry = outbound_.find(connection);
  if (entry == outbound_.end()) return;
  Neighbour& neighbour = neighbours_.at(entry->second);
  step.SendTo(connection, Hello());
  if (connection != neighbour.control) {
    neighbour.link.OnConnectionUp(connection);
    Pump(step, neighbour);
    return;
  }
  neighbour.control_up = true;
  while (!neighbour.waiting.empty()) {
    step.SendTo(connection, std::move(neighbour.waiting.front()));
    neighbour.waiting.pop_front();
  }
}

void PeerNetwork::OnConnectionDown(StepContext& step, ConnectionId connection) {
  inbound_.erase(connection);
  auto entry = outbound_.find(connection);
  if (entry == outbound_.end()) return;
  Neighbour& neighbour = neighbours_.at(entry->second);
  if (connection == neighbour.control) {
    neighbour.control_up = false;
    return;
  }
  neighbour.link.OnConnectionDown(connection);
  if (!neighbour.link.is_up()) return ReturnDetoured(step, neighbour);
  Pump(step, neighbour);
}

void PeerNetwork::OnHello(StepContext& step, ConnectionId connection, const PeerHello& hello) {
  auto refuse = [&](const std::string& why) {
    step.rejections.Reject("hello", absl::StrCat("from node ", hello.node.value(), ": ", why), step.actions);
    step.actions.emplace_back(std::in_place_type<Disconnect>, Disconnect{connection});
  };
  if (hello.protocol_version != kProtocolVersion) {
    return refuse(absl::StrCat("expected protocol version ", kProtocolVersion, ", got ", hello.protocol_version));
  }
  if (hello.job != identity_.job)
    return refuse(absl::StrCat("expected job '", identity_.job, "', got '", hello.job, "'"));
  if (hello.node == identity_.node || hello.node == kSchedulerNode) return refuse("that is no neighbour's id");
  auto known = neighbours_.find(hello.node);
  if (known != neighbours_.end() && known->second.slice.incarnation != hello.incarnation) {
    return refuse("it has been started again since this policy was made");
  }
  auto bound = inbound_.find(connection);
  if (bound != inbound_.end() && bound->second != hello) return refuse("its connection is another node's");
  if (bound == inbound_.end() && inbound_.size() >= limits_.inbound_connections) return refuse("too many connections");
  inbound_[connection] = hello;
  if (known != neighbours_.end()) known->second.last_heard = step.now;
}

void PeerNetwork::OnMessage(StepContext& step, MessageReceived received) {
  if (const auto* hello = std::get_if<PeerHello>(&received.message)) return OnHello(step, received.connection, *hello);
  auto sender = inbound_.find(received.connection);
  if (sender == inbound_.end()) {
    return step.rejections.Reject("message before hello", absl::StrCat("on connection ", received.connection.value()),
                                  step.actions);
  }
  const NodeId from = sender->second.node;
  auto known = neighbours_.find(from);
  if (known == neighbours_.end()) return KeepUnknown(step, from, received);
  if (known->second.slice.incarnation != sender->second.incarnation) {
    return step.rejections.Reject("message of another incarnation", NameOf(from), step.actions);
  }
  known->second.last_heard = step.now;
  Dispatch(step, from, std::move(received.message), std::move(received.payload));
}

void PeerNetwork::KeepUnknown(StepContext& step, NodeId from, MessageReceived& received) {
  if (std::holds_alternative<PeerHeartbeat>(received.message)) return;
  const auto* chunk = std::get_if<ChunkMessage>(&received.message);
  const int64_t size_bytes = chunk == nullptr ? 0 : KeptBytes(*chunk, received.payload);
  // Answers cannot be meant for this node, which has sent nothing there. A chunk comes again without a link ack.
  if (chunk == nullptr || unknown_bytes_ + size_bytes > limits_.unknown_bytes) {
    return step.rejections.Reject("message of a node that no policy has named", NameOf(from), step.actions);
  }
  unknown_bytes_ += size_bytes;
  unknown_[from].push_back(std::move(received));
}

void PeerNetwork::Dispatch(StepContext& step, NodeId from, Message message, Payload payload) {
  if (auto* chunk = std::get_if<ChunkMessage>(&message))
    return OnChunk(step, from, std::move(*chunk), std::move(payload));
  if (auto* ack = std::get_if<LinkAck>(&message)) return OnLinkAck(step, from, *ack);
  if (auto* ack = std::get_if<DeliveryAck>(&message)) return OnRouted(step, from, std::move(*ack));
  if (auto* busy = std::get_if<Busy>(&message)) return OnRouted(step, from, std::move(*busy));
  if (auto* grant = std::get_if<Grant>(&message)) return OnRouted(step, from, std::move(*grant));
  if (auto* heartbeat = std::get_if<PeerHeartbeat>(&message)) return OnHeartbeat(step, from, *heartbeat);
  step.rejections.Reject("message that no node sends to a node", NameOf(from), step.actions);
}

void PeerNetwork::OnChunk(StepContext& step, NodeId from, ChunkMessage message, Payload payload) {
  const SourceRoute& route = message.route;
  if (route.sender() != from || route.receiver() != identity_.node) {
    return step.rejections.Reject("chunk on a wrong link", absl::StrCat("from ", NameOf(from)), step.actions);
  }
  const LinkAck::Entry receipt{message.link_sequence, message.sent_at, step.now};
  if (route.destination() == identity_.node) {
    return OnChunkForHere(step, from, receipt, std::move(message), std::move(payload));
  }
  Acknowledge(step, from, receipt, message.ack_may_wait);
  Relay(step, from, std::move(message), std::move(payload));
}

template <typename Answer>
void PeerNetwork::AnswerChunk(StepContext& step, const ChunkMessage& chunk) {
  Answer answer;
  answer.route = Reversed(chunk.route, chunk.route.hop + 1);
  answer.chunks.push_back(chunk.id);
  const NodeId next = answer.route.receiver();
  SendControl(step, next, std::move(answer));
}

void PeerNetwork::AnswerBusy(StepContext& step, const ChunkMessage& chunk) { AnswerChunk<Busy>(step, chunk); }

void PeerNetwork::OnChunkForHere(StepContext& step, NodeId from, LinkAck::Entry receipt, ChunkMessage message,
                                 Payload payload) {
  ChunkMessage header;
  header.id = message.id;
  header.route = message.route;
  const bool is_direct = header.route.path.size() == 2;
  const bool ack_may_wait = message.ack_may_wait;
  const Verdict verdict = listener_->OnChunk(step, std::move(message), std::move(payload));
  receipt.is_delivered = is_direct && verdict == Verdict::kTaken;
  // Before a refusal, which would mean nothing to the sender without it.
  Acknowledge(step, from, receipt, ack_may_wait);
  if (verdict == Verdict::kTaken && !is_direct) AnswerChunk<DeliveryAck>(step, header);
  if (verdict != Verdict::kNoRoom) return;
  Deny(denied_, header);
  AnswerBusy(step, header);
}

void PeerNetwork::Deny(std::map<NodeId, SourceRoute>& denied, const ChunkMessage& chunk) {
  if (denied.size() >= limits_.denied_sources && denied.count(chunk.route.source()) == 0) return;
  denied[chunk.route.source()] = Reversed(chunk.route, chunk.route.hop + 1);
}

void PeerNetwork::Relay(StepContext& step, NodeId from, ChunkMessage message, Payload payload) {
  ++message.route.hop;
  auto next = neighbours_.find(message.route.receiver());
  if (next == neighbours_.end()) {
    step.rejections.Reject("chunk to be relayed to a node that is no neighbour", NameOf(from), step.actions);
    --message.route.hop;
    if (message.is_auxiliary) AnswerBusy(step, message);
    return;
  }
  if (message.is_auxiliary && !next->second.link.is_up()) {
    --message.route.hop;
    return AnswerBusy(step, message);
  }
  // One chunk of each neighbour always finds room, or it would never go: of two relays that forward to each other, each
  // could be full of what the other has just refused.
  uint32_t& relayed = relayed_chunks_[from];
  if (relayed > 0 && relay_bytes() + WireBytes(message, payload) > limits_.relay_bytes) {
    --message.route.hop;
    // Who has another way takes that instead of waiting for a grant.
    if (!message.is_auxiliary) Deny(denied_relays_, message);
    return AnswerBusy(step, message);
  }
  ++relayed;
  next->second.link.Enqueue(std::move(message), std::move(payload));
  Pump(step, next->second);
}

void PeerNetwork::OnHeartbeat(StepContext& step, NodeId from, const PeerHeartbeat& heartbeat) {
  Neighbour& neighbour = neighbours_.at(from);
  neighbour.echo = PeerHeartbeat::Echo{heartbeat.sent_at, step.now};
  neighbour.meter.OnHeartbeat(heartbeat, step.now);
}

void PeerNetwork::GrantRelayRoom(StepContext& step) {
  // Half empty, so that a grant is worth its way.
  const bool has_room = relay_bytes() <= limits_.relay_bytes / 2;
  for (auto next = denied_relays_.begin(); next != denied_relays_.end();) {
    const auto denied = next++;
    const NodeId back = denied->second.receiver();
    if (!has_room && relayed_chunks_[back] > 0) continue;
    SendControl(step, back, Grant{std::move(denied->second)});
    denied_relays_.erase(denied);
  }
}

void PeerNetwork::GrantRoom(StepContext& step) {
  for (auto& [source, route] : std::exchange(denied_, {})) SendControl(step, route.receiver(), Grant{route});
}

template <typename Routed>
void PeerNetwork::OnRouted(StepContext& step, NodeId from, Routed message) {
  if (message.route.sender() != from || message.route.receiver() != identity_.node) {
    return step.rejections.Reject("answer on a wrong link", absl::StrCat("from ", NameOf(from)), step.actions);
  }
  if (message.route.destination() == identity_.node) return Arrived(step, message);
  ++message.route.hop;
  const NodeId next = message.route.receiver();
  if (!IsNeighbour(next)) {
    return step.rejections.Reject("answer to be relayed to a node that is no neighbour", NameOf(from), step.actions);
  }
  SendControl(step, next, std::move(message));
}

void PeerNetwork::DropRound(KeyId key, Round round) {
  for (const auto& [destination, chunk] : tracker_.DropRound(key, round)) detours_.OnDone(destination, chunk);
}

void PeerNetwork::DropChunks() {
  tracker_.Clear();
  detours_.Clear();
  for (auto& [node, neighbour] : neighbours_) neighbour.link.Clear();
  unknown_.clear();
  unknown_bytes_ = 0;
  denied_.clear();
  denied_relays_.clear();
  relayed_chunks_.clear();
}

void PeerNetwork::SendControl(StepContext& step, NodeId to, Message message) {
  auto entry = neighbours_.find(to);
  if (entry == neighbours_.end()) return;
  // Acks keep their place before what is said later.
  if (std::optional<LinkAck> acks = entry->second.acks.Take()) Transmit(step, entry->second, *std::move(acks));
  Transmit(step, entry->second, std::move(message));
}

void PeerNetwork::Transmit(StepContext& step, Neighbour& neighbour, Message message) {
  if (neighbour.control_up) return step.SendTo(neighbour.control, std::move(message));
  if (neighbour.waiting.size() < limits_.waiting_control) return neighbour.waiting.push_back(std::move(message));
  step.rejections.Reject("answer dropped, too many wait for the connection", neighbour.slice.name, step.actions);
}

void PeerNetwork::RetirePolicies(PolicyVersion oldest, Timestamp now) {
  oldest_policy_ = std::max(oldest_policy_, oldest);
  detours_.RetirePolicies(oldest);
  prober_.RetirePolicies(oldest);
  windows_.RetirePolicies(oldest);
  ResizeWindows(now);
}

void PeerNetwork::CheckHeartbeat(StepContext& step, NodeId node, Neighbour& neighbour) {
  // It may never have seen the policies that named it: then it does not know that anybody listens.
  if (neighbour.newest_policy < oldest_policy_) neighbour.last_heard = step.now;
  if (step.now - neighbour.last_heard > config_.lost_after && !neighbour.lost) {
    neighbour.lost = true;
    listener_->OnPeerLost(step, node,
                          absl::StrCat("nothing heard from it for ", absl::FormatDuration(config_.lost_after)));
  }
  // However much else is sent: these times tell the clocks' offset.
  if (!neighbour.control_up || step.now - neighbour.last_heartbeat < config_.heartbeat) return;
  neighbour.last_heartbeat = step.now;
  step.SendTo(neighbour.control, PeerHeartbeat{step.now, std::exchange(neighbour.echo, std::nullopt)});
}

void PeerNetwork::Pump(StepContext& step, Neighbour& neighbour) {
  neighbour.link.Pump(step.now, step.actions);
  next_hedge_ = std::min(next_hedge_, neighbour.link.NextHedge());
}

void PeerNetwork::OnDeadline(StepContext& step) {
  if (step.now >= next_acks_) SendDueAcks(step);
  if (step.now >= next_hedge_) {
    next_hedge_ = kNever;
    for (auto& [node, neighbour] : neighbours_) {
      neighbour.link.Hedge(step.now, step.actions);
      next_hedge_ = std::min(next_hedge_, neighbour.link.NextHedge());
    }
  }
  if (step.now < next_tick_) return;
  // When this process itself was stopped for a while, what the neighbours sent meanwhile is still to be read.
  const absl::Duration late = step.now - next_tick_;
  next_tick_ = step.now + tick_;
  ResizeWindows(step.now);
  for (auto& [node, neighbour] : neighbours_) {
    if (late > tick_) neighbour.last_heard = WithPause(neighbour.last_heard, late, step.now);
    CheckHeartbeat(step, node, neighbour);
    neighbour.link.ResendOverdue(step.now);
    Pump(step, neighbour);
  }
  for (DeliveryTracker::Undelivered& chunk : tracker_.TakeOverdue(step.now)) Resend(step, std::move(chunk));
}

std::vector<NodeReport::Link> PeerNetwork::LinkReport(Timestamp now) const {
  std::vector<NodeReport::Link> links;
  for (const auto& [node, neighbour] : neighbours_) {
    const PeerLink::Counters& counters = neighbour.link.counters();
    links.push_back({node, counters.sent_bytes, counters.resent_bytes, counters.auxiliary_bytes, neighbour.busy_share,
                     transmission_.measures ? neighbour.meter.Measure(now) : std::nullopt});
  }
  return links;
}

std::vector<PeerNetwork::LinkRound> PeerNetwork::OnRoundComplete(Round round, Timestamp now) {
  std::vector<LinkRound> links;
  if (newest_complete_.has_value() && round <= *newest_complete_) return links;
  const double seconds = absl::ToDoubleSeconds(now - newest_complete_at_);
  for (auto& [node, neighbour] : neighbours_) {
    neighbour.link.CountBusy(now);
    const PeerLink::Counters& counters = neighbour.link.counters();
    const PeerLink::Counters before = std::exchange(neighbour.before_round, counters);
    const absl::Duration busy = counters.busy - before.busy;
    const uint64_t resent_bytes = counters.resent_bytes - before.resent_bytes;
    const uint64_t hedged_bytes = counters.hedged_bytes - before.hedged_bytes;
    const uint64_t new_bytes = counters.sent_bytes - before.sent_bytes - resent_bytes - hedged_bytes;
    const bool is_known = newest_complete_.has_value() && seconds > 0;
    neighbour.busy_share = is_known ? std::min(1.0, absl::ToDoubleSeconds(busy) / seconds) : 0;
    if (is_known) links.push_back({node, static_cast<int64_t>(new_bytes), busy, resent_bytes > 0});
  }
  newest_complete_ = round;
  newest_complete_at_ = now;
  return links;
}

int64_t PeerNetwork::relay_bytes() const {
  int64_t size_bytes = 0;
  for (const auto& [node, neighbour] : neighbours_) size_bytes += neighbour.link.relayed_bytes();
  return size_bytes;
}

}  // namespace banyan
