#include "node/peers/neighbour_table.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/chunk_size.h"
#include "node/step_context.h"

namespace banyan {
namespace {

// Deadlines are reached a little late on a busy machine.
constexpr absl::Duration kMostLate = absl::Milliseconds(100);
// Of the silence that ends a peer: a connection that brings no echo for longer is made anew.
constexpr double kLongestEcho = 0.3;

}  // namespace

NeighbourTable::NeighbourTable(Identity identity, const JobConfig& config, Limits limits, const Trimmer* trimmer)
    : identity_(std::move(identity)), config_(config), limits_(limits), trimmer_(trimmer) {}

void NeighbourTable::Add(StepContext& step, const NeighbourSlice& slice, PolicyVersion policy, const LinkWindow& window,
                         const LinkMeter::Settings& meter) {
  if (Neighbour* known = Find(slice.node)) {
    if (policy < known->newest_policy) return;
    if (known->slice.incarnation == slice.incarnation && known->slice.address == slice.address) {
      // Named again, it is to be reached after all.
      if (policy > known->newest_policy) {
        known->is_out_of_reach = false;
        // Who is still silent is told of again: the scheduler plans with it after all.
        if (known->heartbeats.is_lost()) known->heartbeats.Forgive(step.now);
      }
      known->newest_policy = policy;
      known->slice = slice;
      return;
    }
    Close(step, slice.node);
  }
  const ConnectionId control(next_connection_++);
  std::vector<ConnectionId> data;
  for (uint32_t i = 0; i < std::max(1u, config_.connections_per_link); ++i) data.emplace_back(next_connection_++);
  const PeerLink::Options options = {.window = window,
                                     .resend_after = config_.resend_after,
                                     .lost_after = config_.lost_after,
                                     .first_sequence = FirstSequence(slice.node),
                                     .trimmer = trimmer_};
  neighbours_.emplace(slice.node, Neighbour{.slice = slice,
                                            .newest_policy = policy,
                                            .control = {control, slice.name, limits_.waiting_control},
                                            .link = PeerLink(options, data),
                                            .meter = LinkMeter(meter),
                                            .heartbeats = Heartbeats(step.now)});
  Open(step, control, slice, Channel::kControl);
  for (ConnectionId connection : data) Open(step, connection, slice, Channel::kData);
}

void NeighbourTable::Close(StepContext& step, NodeId node) {
  const auto close = [&](ConnectionId connection) {
    step.actions.emplace_back(std::in_place_type<Disconnect>, Disconnect{connection});
    return true;
  };
  const Incarnation incarnation = At(node).slice.incarnation;
  std::erase_if(outbound_, [&](const auto& entry) { return entry.second == node && close(entry.first); });
  std::erase_if(inbound_, [&](const auto& entry) {
    return entry.second.node == node && entry.second.incarnation == incarnation && close(entry.first);
  });
  next_sequences_[node] = At(node).link.next_sequence();
  neighbours_.erase(node);
}

uint64_t NeighbourTable::FirstSequence(NodeId node) const {
  const auto former = next_sequences_.find(node);
  return former == next_sequences_.end() ? 1 : former->second;
}

void NeighbourTable::CloseUnnamed(StepContext& step) {
  std::vector<NodeId> unnamed;
  for (auto& [node, neighbour] : neighbours_) {
    if (neighbour.newest_policy >= oldest_policy_) {
      neighbour.unnamed_since.reset();
      continue;
    }
    if (!neighbour.unnamed_since.has_value()) neighbour.unnamed_since = step.now;
    const bool is_idle = neighbour.link.queued_bytes() == 0 && neighbour.link.in_flight_bytes() == 0;
    if (is_idle && step.now - *neighbour.unnamed_since > config_.lost_after) unnamed.push_back(node);
  }
  for (NodeId node : unnamed) Close(step, node);
}

void NeighbourTable::Open(StepContext& step, ConnectionId connection, const NeighbourSlice& slice, Channel channel) {
  outbound_[connection] = slice.node;
  step.actions.emplace_back(std::in_place_type<Connect>, Connect{connection, slice.address, channel, slice.name});
}

std::deque<MessageReceived> NeighbourTable::TakeEarly(NodeId node, Incarnation incarnation) {
  auto early = unknown_.extract({node, incarnation});
  if (early.empty()) return {};
  unknown_bytes_ -= early.mapped().size_bytes;
  return std::move(early.mapped().messages);
}

Neighbour* NeighbourTable::Find(NodeId node) {
  auto found = neighbours_.find(node);
  return found == neighbours_.end() ? nullptr : &found->second;
}

const Neighbour* NeighbourTable::Find(NodeId node) const {
  auto found = neighbours_.find(node);
  return found == neighbours_.end() ? nullptr : &found->second;
}

std::string NeighbourTable::NameOf(NodeId node) const {
  const Neighbour* neighbour = Find(node);
  return neighbour == nullptr ? absl::StrCat("node ", node.value()) : neighbour->slice.name;
}

void NeighbourTable::OnConnectionUp(StepContext& step, ConnectionId connection) {
  auto entry = outbound_.find(connection);
  if (entry == outbound_.end()) return;
  Neighbour& neighbour = neighbours_.at(entry->second);
  step.SendTo(connection, PeerHello{kProtocolVersion, identity_.job, identity_.term, identity_.node,
                                    identity_.incarnation, entry->second});
  if (connection == neighbour.control.id()) {
    neighbour.heartbeats.OnConnectionUp();
    return neighbour.control.OnUp(step);
  }
  neighbour.link.OnConnectionUp(connection);
  Pump(step, neighbour);
}

Neighbour* NeighbourTable::OnConnectionDown(StepContext& step, ConnectionId connection) {
  inbound_.erase(connection);
  auto entry = outbound_.find(connection);
  if (entry == outbound_.end()) return nullptr;
  Neighbour& neighbour = neighbours_.at(entry->second);
  if (connection == neighbour.control.id()) {
    neighbour.control.OnDown();
    return nullptr;
  }
  const absl::Duration silence = neighbour.link.OnConnectionDown(connection, step.now);
  if (silence > absl::ZeroDuration()) neighbour.NoteRenewal(step, silence);
  return &neighbour;
}

void NeighbourTable::OnConnectFailed(StepContext& step, ConnectionId connection, const std::string& reason) {
  const auto entry = outbound_.find(connection);
  if (entry == outbound_.end()) return;
  Neighbour& neighbour = neighbours_.at(entry->second);
  // All lead to the same place, and one that is there proves it.
  if (connection != neighbour.control.id() || neighbour.control.is_up()) return;
  if (!neighbour.unreachable_since.has_value()) neighbour.unreachable_since = step.now;
  if (std::exchange(neighbour.unreachable, reason) == reason) return;
  step.Log(LogLevel::kWarning,
           absl::StrCat("cannot reach ", neighbour.slice.name, " at ", neighbour.slice.address, ": ", reason));
}

void NeighbourTable::OnOvertook(ConnectionId connection, uint64_t times) {
  const auto entry = outbound_.find(connection);
  if (entry != outbound_.end()) neighbours_.at(entry->second).link.reported().overtakings += times;
}

bool NeighbourTable::BecomesUnreachable(Neighbour& neighbour, Timestamp now) const {
  const bool is_wanted = neighbour.newest_policy >= oldest_policy_;
  const bool is_out = is_wanted && !neighbour.control.is_up() && neighbour.unreachable_since.has_value() &&
                      now - *neighbour.unreachable_since >= kUnreachableAfter;
  return is_out && !std::exchange(neighbour.is_out_of_reach, true);
}

void NeighbourTable::RenewUnechoed(StepContext& step, Neighbour& neighbour) const {
  if (!neighbour.control.is_up()) return;
  // An echo comes with the neighbour's next heartbeat.
  const absl::Duration echo_time = config_.heartbeat + 0.8 * std::min(config_.heartbeat, config_.resend_after);
  const absl::Duration unechoed = neighbour.heartbeats.UnechoedFor(step.now);
  if (unechoed <= std::max(kLongestEcho * config_.lost_after, echo_time)) return;
  // A neighbour that does not reach this node cannot echo, which a new connection does not change.
  const auto is_from_it = [&neighbour](const auto& entry) {
    return entry.second.node == neighbour.slice.node && entry.second.incarnation == neighbour.slice.incarnation;
  };
  if (std::none_of(inbound_.begin(), inbound_.end(), is_from_it)) return;
  neighbour.NoteRenewal(step, unechoed);
  neighbour.heartbeats.OnConnectionUp();
  step.actions.emplace_back(std::in_place_type<Renew>, Renew{neighbour.control.id()});
}

std::string NeighbourTable::ErrorIn(const PeerHello& hello, ConnectionId connection) const {
  if (hello.protocol_version != kProtocolVersion) {
    return absl::StrCat("expected protocol version ", kProtocolVersion, ", got ", hello.protocol_version);
  }
  if (hello.job != identity_.job) return absl::StrCat("expected job '", identity_.job, "', got '", hello.job, "'");
  if (hello.to != NodeId() && hello.to != identity_.node) {
    return absl::StrCat("this is ", identity_.name.empty() ? NameOf(identity_.node) : identity_.name, ", and ",
                        NameOf(hello.to), " was wanted; does its address lead here?");
  }
  if (hello.node == identity_.node || hello.node == kSchedulerNode) return "that is no neighbour's id";
  const auto bound = inbound_.find(connection);
  if (bound != inbound_.end()) return bound->second == hello ? "" : "its connection is another node's";
  return inbound_.size() >= limits_.inbound_connections ? "too many connections" : "";
}

void NeighbourTable::OnHello(StepContext& step, ConnectionId connection, const PeerHello& hello) {
  if (const std::string error = ErrorIn(hello, connection); !error.empty()) {
    step.rejections.Reject("hello", absl::StrCat("from node ", hello.node.value(), ": ", error), step.actions);
    step.actions.emplace_back(std::in_place_type<Disconnect>, Disconnect{connection, error});
    // Nobody tells of the end of a connection that this node has closed.
    inbound_.erase(connection);
    return;
  }
  inbound_[connection] = hello;
  if (Neighbour* known = FindOn(connection)) known->heartbeats.OnHeard(step.now);
}

Neighbour* NeighbourTable::FindOn(ConnectionId connection) {
  const auto sender = inbound_.find(connection);
  if (sender == inbound_.end()) return nullptr;
  Neighbour* known = Find(sender->second.node);
  return known != nullptr && known->slice.incarnation == sender->second.incarnation ? known : nullptr;
}

Neighbour* NeighbourTable::FindSender(StepContext& step, MessageReceived& received) {
  if (outbound_.contains(received.connection)) {
    step.rejections.Reject("message on a connection that this node has opened",
                           NameOf(outbound_.at(received.connection)), step.actions);
    return nullptr;
  }
  if (const auto* hello = std::get_if<PeerHello>(&received.message)) {
    OnHello(step, received.connection, *hello);
    return nullptr;
  }
  const auto sender = inbound_.find(received.connection);
  if (sender == inbound_.end()) {
    step.rejections.Reject("message before hello", absl::StrCat("on connection ", received.connection.value()),
                           step.actions);
    return nullptr;
  }
  Neighbour* known = FindOn(received.connection);
  if (known == nullptr) {
    KeepUnknown(step, {sender->second.node, sender->second.incarnation}, received);
    return nullptr;
  }
  known->heartbeats.OnHeard(step.now);
  const bool is_heartbeat = std::holds_alternative<PeerHeartbeat>(received.message);
  if (is_heartbeat && known->heard_on != received.connection) {
    known->heard_on = received.connection;
    known->heard_on_since = step.now;
    known->link.OnAckWayRenewed();
    next_stall_ = std::min(next_stall_, known->link.NextStall());
  }
  return known;
}

void NeighbourTable::KeepUnknown(StepContext& step, const Sender& from, MessageReceived& received) {
  if (std::holds_alternative<PeerHeartbeat>(received.message)) return;
  const auto* chunk = std::get_if<ChunkMessage>(&received.message);
  const int64_t size_bytes = chunk == nullptr ? 0 : KeptBytes(*chunk, received.payload);
  // Answers cannot be meant for this node, which has sent nothing there. A chunk comes again without a link ack.
  if (chunk == nullptr || !MakeRoom(from, size_bytes)) {
    return step.rejections.Reject("message of a node that no policy has named", NameOf(from.first), step.actions);
  }
  Unknown& unknown = unknown_[from];
  unknown_bytes_ += size_bytes;
  unknown.size_bytes += size_bytes;
  unknown.messages.push_back(std::move(received));
}

bool NeighbourTable::MakeRoom(const Sender& from, int64_t size_bytes) {
  const auto has_less = [](const auto& one, const auto& other) {
    return one.second.size_bytes < other.second.size_bytes;
  };
  const auto own = unknown_.find(from);
  const int64_t wanted_bytes = size_bytes + (own == unknown_.end() ? 0 : own->second.size_bytes);
  while (unknown_bytes_ + size_bytes > limits_.unknown_bytes) {
    const auto most = std::max_element(unknown_.begin(), unknown_.end(), has_less);
    if (most == unknown_.end() || most->second.size_bytes <= wanted_bytes) return false;
    const MessageReceived& newest = most->second.messages.back();
    const int64_t freed_bytes = KeptBytes(std::get<ChunkMessage>(newest.message), newest.payload);
    unknown_bytes_ -= freed_bytes;
    most->second.size_bytes -= freed_bytes;
    most->second.messages.pop_back();
    if (most->second.messages.empty()) unknown_.erase(most);
  }
  return true;
}

void NeighbourTable::Send(StepContext& step, NodeId to, Message message) {
  if (Neighbour* neighbour = Find(to)) neighbour->control.Send(step, std::move(message));
}

void NeighbourTable::Acknowledge(StepContext& step, Neighbour& from, const LinkAck::Entry& receipt, bool may_wait) {
  from.control.Acknowledge(step, receipt, may_wait);
  next_acks_ = std::min(next_acks_, from.control.next_acks());
}

void NeighbourTable::Pump(StepContext& step, Neighbour& neighbour) {
  neighbour.link.Pump(step.now, step.actions);
  next_hedge_ = std::min(next_hedge_, neighbour.link.NextHedge());
  next_stall_ = std::min(next_stall_, neighbour.link.NextStall());
}

bool NeighbourTable::BecomesLost(Neighbour& neighbour, Timestamp now) const {
  // It may never have seen the policies that named it: then it does not know that anybody listens.
  if (neighbour.newest_policy < oldest_policy_) neighbour.heartbeats.Forgive(now);
  return neighbour.heartbeats.BecomesLost(now, config_.lost_after);
}

void NeighbourTable::SendHeartbeat(StepContext& step, Neighbour& neighbour) const {
  if (!neighbour.control.is_up()) return;
  std::optional<PeerHeartbeat> heartbeat = neighbour.heartbeats.TakeDue(step.now, config_.heartbeat);
  if (heartbeat.has_value()) step.SendTo(neighbour.control.id(), *std::move(heartbeat));
}

void NeighbourTable::OnDeadline(StepContext& step) {
  if (step.now >= next_acks_) SendDueAcks(step);
  if (step.now >= next_hedge_) SendHedges(step);
  if (step.now >= next_stall_) RenewStalled(step);
}

void NeighbourTable::SendDueAcks(StepContext& step) {
  next_acks_ = kNever;
  for (auto& [node, neighbour] : neighbours_) {
    neighbour.control.SendDueAcks(step);
    next_acks_ = std::min(next_acks_, neighbour.control.next_acks());
  }
}

void NeighbourTable::SendHedges(StepContext& step) {
  next_hedge_ = kNever;
  for (auto& [node, neighbour] : neighbours_) {
    neighbour.link.Hedge(step.now, step.actions);
    next_hedge_ = std::min(next_hedge_, neighbour.link.NextHedge());
  }
}

void NeighbourTable::RenewStalled(StepContext& step) {
  // This process itself was stopped for a while: acks that came meanwhile are still to be read.
  const absl::Duration late = step.now - next_stall_;
  const bool was_stopped = late > kMostLate;
  next_stall_ = kNever;
  for (auto& [node, neighbour] : neighbours_) {
    if (was_stopped) neighbour.link.ExcusePause(late, step.now);
    for (const ConnectionId connection : neighbour.link.FindStalled(step.now)) {
      step.actions.emplace_back(std::in_place_type<Renew>, Renew{connection, /*unless_moving=*/true});
    }
    next_stall_ = std::min(next_stall_, neighbour.link.NextStall());
  }
}

void NeighbourTable::DropChunks(Epoch first_kept) {
  for (auto& [node, neighbour] : neighbours_) neighbour.link.Clear();
  for (auto& [sender, unknown] : unknown_) {
    std::erase_if(unknown.messages, [&, &unknown = unknown](const MessageReceived& received) {
      const ChunkMessage& chunk = std::get<ChunkMessage>(received.message);
      if (chunk.id.epoch >= first_kept) return false;
      const int64_t freed_bytes = KeptBytes(chunk, received.payload);
      unknown.size_bytes -= freed_bytes;
      unknown_bytes_ -= freed_bytes;
      return true;
    });
  }
  std::erase_if(unknown_, [](const auto& unknown) { return unknown.second.messages.empty(); });
}

}  // namespace banyan
