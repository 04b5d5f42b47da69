#include "node/peers/peer_network.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "node/chunk_size.h"
#include "node/link/peer_link.h"
#include "node/step_context.h"

namespace banyan {
namespace {

// By default, as many chunks as this wait here for others.
constexpr int64_t kRelayChunks = 64;

LinkMeter::Settings MeterSettings(const TransmissionSettings& transmission) {
  return {transmission.probe_chunk_bytes, transmission.probe_chunks, transmission.estimator};
}

}  // namespace

PeerNetwork::Limits PeerNetwork::LimitsOf(const JobConfig& config, bool loss_limited) {
  Limits limits;
  const int64_t by_default_bytes = KeptBytes(kRelayChunks, config.chunk_max_elements);
  limits.relay_bytes = config.relay_bytes > 0 ? config.relay_bytes : by_default_bytes;
  limits.unknown_bytes = config.early_bytes > 0 ? config.early_bytes : by_default_bytes;
  limits.loss_limited = loss_limited;
  return limits;
}

PeerNetwork::PeerNetwork(Identity identity, const JobConfig& config, Limits limits, Listener* listener,
                         RoundRecorder* recorder)
    : config_(config),
      listener_(listener),
      recorder_(recorder),
      trimmer_(config.trimming, identity.node),
      neighbours_(identity, config,
                  {.unknown_bytes = limits.unknown_bytes,
                   .waiting_control = limits.waiting_control,
                   .inbound_connections = limits.inbound_connections},
                  &trimmer_),
      sender_(identity.node, config.resend_after, &neighbours_),
      relay_({.size_bytes = limits.relay_bytes, .denied_sources = limits.denied_sources}, &neighbours_, &trimmer_),
      denied_(limits.denied_sources),
      windows_({.fixed_bytes = config.window_bytes,
                .connections = config.connections_per_link,
                .bytes_per_connection = config.bytes_per_connection,
                .loss_limited = limits.loss_limited}),
      tick_(std::min(config.heartbeat, config.resend_after)) {}

void PeerNetwork::AddPolicy(StepContext& step, const PolicySlice& slice) {
  sender_.AddPolicy(slice);
  UseSettings(slice);
  windows_.AddPolicy(slice, sender_.selector());
  ResizeWindows(step.now);
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    const LinkWindow window = windows_.For(neighbour.node).value_or(LinkWindow());
    neighbours_.Add(step, neighbour, slice.version, window, MeterSettings(transmission_));
  }
  if (next_tick_ == kNever && !neighbours_.empty()) next_tick_ = step.now + tick_;
  // Only now: it may be for another of them.
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    for (MessageReceived& received : neighbours_.TakeEarly(neighbour.node, neighbour.incarnation))
      OnMessage(step, std::move(received));
  }
}

void PeerNetwork::UseSettings(const PolicySlice& slice) {
  if (slice.version < newest_policy_) return;
  newest_policy_ = slice.version;
  transmission_ = slice.transmission;
  for (auto& [node, neighbour] : neighbours_) neighbour.meter.Configure(MeterSettings(transmission_));
}

void PeerNetwork::ResizeWindows(Timestamp now) {
  for (auto& [node, neighbour] : neighbours_) ResizeWindow(neighbour, now);
}

void PeerNetwork::ResizeWindow(Neighbour& neighbour, Timestamp now) {
  PaceSearch::Shown shown = neighbour.Shown(now);
  std::optional<LinkWindow> window = windows_.For(neighbour.slice.node, shown);
  if (!window.has_value()) return;
  window->pace_bps = neighbour.pace_search.PaceFor(now, *window, shown);
  if (neighbour.pace_search.is_searching() && window->pace_bps < kUnpaced) {
    // The rate that is tried must fit into the window.
    shown.rate_bps = std::max(shown.rate_bps, window->pace_bps);
    window->size_bytes = std::max(window->size_bytes, windows_.For(neighbour.slice.node, shown)->size_bytes);
  }
  neighbour.link.Resize(*window);
}

void PeerNetwork::RetirePolicies(PolicyVersion oldest, Timestamp now) {
  neighbours_.RetirePolicies(oldest);
  sender_.RetirePolicies(oldest);
  windows_.RetirePolicies(oldest);
  ResizeWindows(now);
}

void PeerNetwork::SendChunk(StepContext& step, ChunkMessage message, Payload payload) {
  recorder_->OnReady(message, step.now);
  trimmer_.OnChunk(message, step.now);
  sender_.Send(step, std::move(message), std::move(payload));
}

void PeerNetwork::GrantRoom(StepContext& step) {
  for (Grant& grant : denied_.TakeGrants()) SendOn(step, std::move(grant));
}

void PeerNetwork::GrantChunk(StepContext& step, NodeId source, const ChunkId& chunk) {
  if (std::optional<Grant> grant = denied_.TakeGrant(source, chunk)) SendOn(step, *std::move(grant));
}

void PeerNetwork::DropChunks(Epoch first_kept) {
  sender_.Clear();
  neighbours_.DropChunks(first_kept);
  denied_.Clear();
  relay_.Clear();
}

void PeerNetwork::BeginEpoch(Epoch epoch) {
  epoch_ = epoch;
  DropChunks(epoch);
}

void PeerNetwork::OnConnectionDown(StepContext& step, ConnectionId connection) {
  Neighbour* neighbour = neighbours_.OnConnectionDown(step, connection);
  if (neighbour == nullptr) return;
  if (!neighbour->link.is_up()) return ReturnAuxiliary(step, *neighbour);
  neighbours_.Pump(step, *neighbour);
}

void PeerNetwork::ReturnAuxiliary(StepContext& step, Neighbour& neighbour) {
  for (const ChunkPtr& chunk : neighbour.link.TakeAuxiliary()) {
    if (chunk->is_relayed()) {
      SendOn(step, relay_.GiveUp(std::move(chunk->message)));
    } else {
      sender_.SendOnPrimary(step, chunk);
    }
  }
  sender_.Fill(step);
}

void PeerNetwork::OnMessage(StepContext& step, MessageReceived received) {
  Neighbour* from = neighbours_.FindSender(step, received);
  if (from != nullptr) Dispatch(step, *from, std::move(received.message), std::move(received.payload));
}

void PeerNetwork::OnRejected(StepContext& step, ConnectionId connection, const absl::Status& reason) {
  Neighbour* from = neighbours_.FindOn(connection);
  if (from == nullptr) return;
  const std::string before = std::exchange(from->unreadable, std::string(reason.message()));
  if (before != from->unreadable) return;
  listener_->OnPeerLost(step, {from->slice.node, absl::StrCat("what it sends cannot be read: ", before)});
}

void PeerNetwork::Dispatch(StepContext& step, Neighbour& from, Message message, Payload payload) {
  if (auto* chunk = std::get_if<ChunkMessage>(&message))
    return OnChunk(step, from, std::move(*chunk), std::move(payload));
  if (auto* ack = std::get_if<LinkAck>(&message)) return OnLinkAck(step, from, *ack);
  if (auto* ack = std::get_if<DeliveryAck>(&message)) return OnRouted(step, from, std::move(*ack));
  if (auto* busy = std::get_if<Busy>(&message)) return OnRouted(step, from, std::move(*busy));
  if (auto* grant = std::get_if<Grant>(&message)) return OnRouted(step, from, std::move(*grant));
  if (auto* heartbeat = std::get_if<PeerHeartbeat>(&message)) return OnHeartbeat(from, *heartbeat, step.now);
  if (auto* wanted = std::get_if<StateManifestWanted>(&message)) return OnRouted(step, from, std::move(*wanted));
  if (auto* manifest = std::get_if<StateManifest>(&message)) return OnRouted(step, from, std::move(*manifest));
  if (auto* request = std::get_if<StateRequest>(&message)) return OnRouted(step, from, std::move(*request));
  if (auto* refused = std::get_if<StateRefused>(&message)) return OnRouted(step, from, std::move(*refused));
  step.rejections.Reject("message that no node sends to a node", from.slice.name, step.actions);
}

void PeerNetwork::OnChunk(StepContext& step, Neighbour& from, ChunkMessage message, Payload payload) {
  const SourceRoute& route = message.route;
  if (route.sender() != from.slice.node || route.receiver() != neighbours_.self()) {
    return step.rejections.Reject("chunk on a wrong link", absl::StrCat("from ", from.slice.name), step.actions);
  }
  if (recorder_->is_on()) recorder_->OnArrival(message, WireBytes(message, payload), step.now);
  const LinkAck::Entry receipt{message.link_sequence, message.sent_at, step.now};
  if (route.destination() == neighbours_.self()) {
    return OnChunkForHere(step, from, receipt, std::move(message), std::move(payload));
  }
  neighbours_.Acknowledge(step, from, receipt, message.ack_may_wait);
  // Nobody waits for it; its source drops it too as soon as it hears of the new epoch.
  if (message.id.epoch < epoch_) return;
  std::optional<Busy> refusal = relay_.Forward(step, from.slice.node, std::move(message), std::move(payload));
  if (refusal.has_value()) SendOn(step, *std::move(refusal));
}

void PeerNetwork::OnChunkForHere(StepContext& step, Neighbour& from, LinkAck::Entry receipt, ChunkMessage message,
                                 Payload payload) {
  ChunkMessage header;
  header.id = message.id;
  header.route = message.route;
  const bool is_direct = header.route.path.size() == 2;
  const bool ack_may_wait = message.ack_may_wait;
  const Verdict verdict = listener_->OnChunk(step, std::move(message), std::move(payload));
  receipt.is_delivered = is_direct && verdict == Verdict::kTaken;
  // Before a refusal, which would mean nothing to the sender without it.
  neighbours_.Acknowledge(step, from, receipt, ack_may_wait);
  if (verdict == Verdict::kTaken && !is_direct) SendOn(step, DeliveryAckOf(header));
  if (verdict != Verdict::kNoRoom) return;
  denied_.Add(header);
  SendOn(step, BusyOf(header));
}

void PeerNetwork::OnLinkAck(StepContext& step, Neighbour& from, const LinkAck& ack) {
  for (const LinkAck::Entry& entry : ack.entries) {
    const std::optional<PeerLink::Sent> sent = from.link.OnLinkAck(entry.link_sequence, step.now);
    if (sent.has_value()) OnReceived(from, *sent, entry, step.now);
  }
  if (transmission_.measures) LookAtMeter(from, step.now);
  neighbours_.Pump(step, from);
  sender_.Fill(step);
  for (Grant& grant : relay_.TakeGrants()) SendOn(step, std::move(grant));
}

void PeerNetwork::LookAtMeter(Neighbour& from, Timestamp now) {
  sender_.LookAtMeter(from, now);
  if (from.meter.TakeNews()) ResizeWindow(from, now);
}

void PeerNetwork::OnReceived(Neighbour& from, const PeerLink::Sent& sent, const LinkAck::Entry& entry, Timestamp now) {
  ChunkInFlight& chunk = *sent.chunk;
  if (transmission_.measures) {
    from.meter.OnAck({chunk.FrameBytes(), sent.sent_at, entry.received_at, chunk.message.is_auxiliary}, now);
  }
  if (chunk.is_relayed()) return relay_.OnForwarded(chunk.message);
  sender_.OnLinkAck(chunk, entry.is_delivered, now);
}

void PeerNetwork::OnHeartbeat(Neighbour& from, const PeerHeartbeat& heartbeat, Timestamp now) {
  if (from.heartbeats.OnHeartbeat(heartbeat, now)) {
    from.unreachable.clear();
    from.unreachable_since.reset();
    from.is_out_of_reach = false;
  }
  from.meter.OnHeartbeat(heartbeat, now);
  NoteClock(from, now);
}

void PeerNetwork::NoteClock(const Neighbour& neighbour, Timestamp now) const {
  if (!recorder_->is_on()) return;
  const std::optional<ClockOffset::Estimate> clock = neighbour.meter.clock().At(now);
  if (clock.has_value()) recorder_->OnClock({neighbour.slice.node, now, clock->offset, clock->uncertainty});
}

template <typename Routed>
void PeerNetwork::OnRouted(StepContext& step, Neighbour& from, Routed message) {
  if (message.route.sender() != from.slice.node || message.route.receiver() != neighbours_.self()) {
    return step.rejections.Reject("answer on a wrong link", absl::StrCat("from ", from.slice.name), step.actions);
  }
  if (message.route.destination() == neighbours_.self()) return Arrived(step, message);
  ++message.route.hop;
  if (!IsNeighbour(message.route.receiver())) {
    return step.rejections.Reject("answer to be relayed to a node that is no neighbour", from.slice.name, step.actions);
  }
  SendOn(step, std::move(message));
}

void PeerNetwork::Arrived(StepContext& step, const DeliveryAck& ack) {
  for (const ChunkId& chunk : ack.chunks) sender_.OnDelivered(ack.route.source(), chunk, step.now);
  sender_.Fill(step);
}

void PeerNetwork::CheckPresence(StepContext& step, Neighbour& neighbour) {
  if (neighbours_.BecomesLost(neighbour, step.now)) listener_->OnPeerLost(step, LossOf(neighbour));
  if (neighbours_.BecomesUnreachable(neighbour, step.now)) listener_->OnPeerLost(step, OutOfReach(neighbour));
  const StallWatch::SmallMessages small = {neighbour.heartbeats.echoed(), neighbour.heard_on_since};
  if (neighbour.link.BecomesBlocked(step.now, small)) listener_->OnPeerLost(step, BlockOf(neighbour, step.now));
  neighbours_.RenewUnechoed(step, neighbour);
  neighbours_.SendHeartbeat(step, neighbour);
}

PeerLost PeerNetwork::LossOf(const Neighbour& neighbour) const {
  if (!neighbour.unreachable.empty() && !neighbour.control.is_up()) return OutOfReach(neighbour);
  const bool is_heard = !neighbour.heartbeats.is_silent();
  return {neighbour.slice.node,
          absl::StrCat(is_heard ? "it is heard, and echoes no heartbeat for " : "nothing heard from it for ",
                       absl::FormatDuration((is_heard ? Heartbeats::kLostWithoutEcho : 1) * config_.lost_after))};
}

PeerLost PeerNetwork::OutOfReach(const Neighbour& neighbour) {
  return {neighbour.slice.node,
          absl::StrCat("it cannot be reached at ", neighbour.slice.address, ": ", neighbour.unreachable)};
}

PeerLost PeerNetwork::BlockOf(const Neighbour& neighbour, Timestamp now) {
  const absl::Duration silence = absl::Trunc(neighbour.link.stall_watch().Silence(now), absl::Milliseconds(100));
  return {neighbour.slice.node,
          absl::StrCat("it connects at ", neighbour.slice.address, ", but large messages do not pass (path MTU?): no ",
                       "chunk was acknowledged for ", absl::FormatDuration(silence), ", on new connections either")};
}

std::vector<PeerLost> PeerNetwork::LostNeighbours(Timestamp now) const {
  std::vector<PeerLost> lost;
  for (const auto& [node, neighbour] : neighbours_) {
    if (neighbour.heartbeats.is_lost() || (neighbour.is_out_of_reach && !neighbour.control.is_up())) {
      lost.push_back(LossOf(neighbour));
    } else if (neighbour.link.stall_watch().is_blocked()) {
      lost.push_back(BlockOf(neighbour, now));
    }
  }
  return lost;
}

void PeerNetwork::OnDeadline(StepContext& step) {
  neighbours_.OnDeadline(step);
  if (step.now < next_tick_) return;
  const absl::Duration late = step.now - next_tick_;
  next_tick_ = step.now + tick_;
  ResizeWindows(step.now);
  for (auto& [node, neighbour] : neighbours_) {
    // This process itself was stopped for a while: what the neighbours sent meanwhile is still to be read.
    if (late > tick_) {
      neighbour.heartbeats.ExcusePause(late, step.now);
      neighbour.link.ExcusePause(late, step.now);
    }
    CheckPresence(step, neighbour);
    neighbour.link.ResendOverdue(step.now);
    neighbours_.Pump(step, neighbour);
  }
  neighbours_.CloseUnnamed(step);
  sender_.ResendOverdue(step);
  // A primary path that has come to a standstill tells nobody, nor does an auxiliary path that may be tried again.
  sender_.Fill(step);
}

std::vector<NodeReport::Link> PeerNetwork::LinkReport(Timestamp now) const {
  std::vector<NodeReport::Link> links;
  for (const auto& [node, neighbour] : neighbours_) links.push_back(neighbour.Report(transmission_.measures, now));
  return links;
}

bool PeerNetwork::EndsStep(KeyId key, size_t keys) {
  const bool has_next = in_step_.contains(key);
  if (has_next) BeginStep();
  in_step_.insert(key);
  awaited_ -= in_last_step_.count(key);
  const bool is_whole = in_step_.size() >= keys || (!in_last_step_.empty() && awaited_ == 0);
  if (is_whole) BeginStep();
  return has_next || is_whole;
}

void PeerNetwork::BeginStep() {
  in_last_step_ = std::exchange(in_step_, {});
  awaited_ = in_last_step_.size();
}

std::optional<std::vector<PeerNetwork::LinkRound>> PeerNetwork::OnRoundComplete(KeyId key, Round round, size_t keys,
                                                                                Timestamp now) {
  trimmer_.OnRoundComplete(round, now);
  if (!EndsStep(key, keys)) return std::nullopt;
  const bool is_known = step_ended_.has_value() && now > *step_ended_;
  const auto took = is_known ? std::optional<absl::Duration>(now - *step_ended_) : std::nullopt;
  std::vector<LinkRound> links;
  for (auto& [node, neighbour] : neighbours_) {
    NoteClock(neighbour, now);
    const LinkRound link = neighbour.EndRound(took, now);
    if (is_known) links.push_back(link);
  }
  step_ended_ = now;
  return links;
}

}  // namespace banyan
