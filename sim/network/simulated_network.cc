#include "sim/network/simulated_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "proto/message.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

// What may travel over which connection: chunks and control messages apart, a greeting first between nodes, and answers
// on connections of their own. Pure function.
struct ConnectionUse {
  Channel channel = Channel::kControl;
  bool with_scheduler = false;  // one end is the scheduler
  bool by_opener = true;
  bool was_used = false;  // in this direction, since the connection was made
};

// Returns what is wrong with sending `message` so; empty when nothing is.
std::vector<const char*> WrongUses(const ConnectionUse& use, const Message& message) {
  std::vector<const char*> wrong;
  const bool is_hello = std::holds_alternative<PeerHello>(message);
  const bool is_chunk = std::holds_alternative<ChunkMessage>(message);
  if (!is_hello && is_chunk != (use.channel == Channel::kData)) {
    wrong.push_back(is_chunk ? "chunk on a control connection" : "control message on a data connection");
  }
  if (use.with_scheduler) return wrong;
  if (!use.by_opener) wrong.push_back("sent on a connection that the other node opened");
  if (use.by_opener && is_hello == use.was_used) {
    wrong.push_back(is_hello ? "hello after the first message" : "first message is no hello");
  }
  return wrong;
}

std::string NameOf(NodeId node) {
  return node == kSchedulerNode ? "the scheduler" : absl::StrCat("node ", node.value());
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(const NetworkOptions& options, uint64_t seed, Agenda* agenda, Violations* violations)
    : options_(options),
      random_(seed),
      agenda_(agenda),
      violations_(violations),
      links_(LinkOptions{.delay = options.scheduler_delay, .jitter = options.scheduler_jitter}) {}

void SimulatedNetwork::SetHostCaps(NodeId node, double up_bps, double down_bps) {
  HostOf(node).up = Serializer(up_bps);
  HostOf(node).down = Serializer(down_bps);
}

SimulatedNetwork::Host& SimulatedNetwork::HostOf(NodeId node) {
  if (hosts_.size() <= node.value()) hosts_.resize(node.value() + 1);
  return hosts_[node.value()];
}

void SimulatedNetwork::Listen(NodeId process, const std::string& address) {
  Host& host = HostOf(process);
  BANYAN_CHECK(!host.running);
  host.running = true;
  ++host.life;
  host.address = address;
  const bool added = addresses_.emplace(address, process).second;
  BANYAN_CHECK(added);
  for (TrafficObserver* observer : observers_) observer->OnProcessStarted(agenda_->now(), process);
  for (ConnectionIndex index : ConnectionsInUse(process, std::nullopt)) {
    if (!IsCut(process, connections_[index].opener)) MarkLost(index, LossOptions());
  }
}

bool SimulatedNetwork::IsHeard(NodeId acceptor, const Acceptance& acceptance) {
  const Host& host = HostOf(acceptor);
  return host.running && host.life == acceptance.life && !acceptance.is_refused;
}

void SimulatedNetwork::EndProcess(NodeId process, bool silently) {
  Host& host = HostOf(process);
  if (!host.running) return;
  host.running = false;
  host.still_until = Timestamp();
  addresses_.erase(host.address);
  for (ConnectionIndex index = 0; index < connections_.size(); ++index) {
    if (connections_[index].opener == process) {
      EndOpened(index, silently);
    } else if (connections_[index].acceptor == process && !silently) {
      EndAccepted(index);
    }
  }
}

// What a process had sent before its end arrives before the end does.
void SimulatedNetwork::EndOpened(ConnectionIndex index, bool silently) {
  Connection& connection = connections_[index];
  if (connection.state == State::kUp) {
    SendAllPaced(index);
    LossOptions loss;
    const int64_t now_ns = agenda_->now().nanoseconds();
    const int64_t last_ns = std::max(connection.forward.last_arrival_ns, now_ns + connection.forward.link->delay_ns());
    loss.survivors = absl::Nanoseconds(last_ns - now_ns);
    const bool is_told = !connection.forward.is_silent && !IsCut(connection.opener, connection.acceptor);
    if (!silently && is_told) loss.acceptor_notices = loss.survivors;
    MarkLost(index, loss);
  }
  connection.state = State::kClosed;
  outbound_.erase(std::pair(connection.opener.value(), connection.opener_id.value()));
}

void SimulatedNetwork::EndAccepted(ConnectionIndex index) {
  const Connection& connection = connections_[index];
  const bool is_told = !connection.backward.is_silent && !IsCut(connection.acceptor, connection.opener);
  if (connection.state != State::kUp || !is_told) return;
  LossOptions loss;
  loss.opener_notices = absl::Nanoseconds(connection.backward.link->delay_ns());
  MarkLost(index, loss);
}

void SimulatedNetwork::OpenConnection(NodeId opener, const Connect& connect) {
  const auto index = static_cast<ConnectionIndex>(connections_.size());
  const bool added = outbound_.emplace(std::pair(opener.value(), connect.connection.value()), index).second;
  if (!added || connect.connection >= kInboundConnection) {
    violations_->Add(agenda_->now(), "connection ids",
                     absl::StrCat(NameOf(opener), " opens connection ", connect.connection.value(),
                                  added ? ", an inbound id" : " a second time"));
    return;
  }
  Connection& connection = connections_.emplace_back();
  connection.opener = opener;
  connection.opener_id = connect.connection;
  connection.address = connect.address;
  connection.channel = connect.channel;
  agenda_->At(agenda_->now(), Dialled{index, false});
}

void SimulatedNetwork::Resolve(Connection* connection) {
  const auto found = addresses_.find(connection->address);
  if (found == addresses_.end()) return;
  connection->resolved = true;
  connection->acceptor = found->second;
  const NodeId opener = connection->opener;
  const NodeId acceptor = connection->acceptor;
  const bool with_scheduler = schedulers_.contains(opener) || schedulers_.contains(acceptor);
  if (!with_scheduler && (FindLink(opener, acceptor) == nullptr || FindLink(acceptor, opener) == nullptr)) {
    violations_->Add(
        agenda_->now(), "overlay links",
        absl::StrCat(NameOf(opener), " connects to ", NameOf(acceptor), " but the overlay has no such link"));
  }
  connection->forward.link = LinkFor(opener, acceptor);
  connection->backward.link = LinkFor(acceptor, opener);
}

bool SimulatedNetwork::Reachable(Connection* connection) {
  if (!connection->resolved) Resolve(connection);
  return connection->resolved && HostOf(connection->acceptor).running &&
         HostOf(connection->acceptor).still_until <= agenda_->now() &&
         !IsCut(connection->opener, connection->acceptor) && !IsCut(connection->acceptor, connection->opener);
}

void SimulatedNetwork::DialLater(ConnectionIndex index) {
  Connection& connection = connections_[index];
  absl::Duration pause = options_.redial_first;
  for (uint32_t i = 0; i < connection.failed_dials && pause < options_.redial_longest; ++i) pause *= 2;
  ++connection.failed_dials;
  agenda_->At(agenda_->now() + std::min(pause, options_.redial_longest) * (0.75 + 0.5 * random_.Unit()),
              Dialled{index, false});
}

std::optional<SimulatedNetwork::Delivery> SimulatedNetwork::Handle(const Dialled& dialled) {
  Connection& connection = connections_[dialled.connection];
  if (connection.state != State::kDialling || !HostOf(connection.opener).running) return std::nullopt;
  if (!Reachable(&connection)) {
    DialLater(dialled.connection);
    return std::nullopt;
  }
  if (!dialled.answered) {
    const int64_t round_trip_ns = connection.forward.link->delay_ns() + connection.backward.link->delay_ns();
    agenda_->At(agenda_->now() + absl::Nanoseconds(round_trip_ns), Dialled{dialled.connection, true});
    return std::nullopt;
  }
  const ConnectionId inbound_id(kInboundConnection.value() + inbound_.size());
  connection.Make({inbound_id, HostOf(connection.acceptor).life, false}, agenda_->now());
  inbound_.push_back(dialled.connection);
  return Delivery{connection.opener, ConnectionUp{connection.opener_id}};
}

std::optional<ConnectionIndex> SimulatedNetwork::FindConnection(NodeId process, ConnectionId id, bool* is_opener,
                                                                bool* is_current) {
  *is_opener = id < kInboundConnection;
  if (*is_opener) {
    const auto found = outbound_.find(std::pair(process.value(), id.value()));
    if (found == outbound_.end()) return std::nullopt;
    *is_current = true;
    return found->second;
  }
  const uint64_t position = id.value() - kInboundConnection.value();
  if (position >= inbound_.size() || connections_[inbound_[position]].acceptor != process) return std::nullopt;
  *is_current = connections_[inbound_[position]].accepted.id == id;
  return inbound_[position];
}

void SimulatedNetwork::ReportUse(NodeId process, const char* use, ConnectionId id) {
  violations_->Add(agenda_->now(), "connection ids",
                   absl::StrCat(NameOf(process), " ", use, " connection ", id.value(), ", which it does not have"));
}

void SimulatedNetwork::CloseConnection(NodeId process, ConnectionId id) {
  bool is_opener = false;
  bool is_current = false;
  const std::optional<ConnectionIndex> index = FindConnection(process, id, &is_opener, &is_current);
  if (!index.has_value()) return ReportUse(process, "closes", id);
  if (!is_current) return;
  if (!is_opener) return SendGoAway(*index);
  LossOptions loss;
  loss.survivors = absl::Seconds(1);
  loss.acceptor_notices = loss.survivors;
  MarkLost(*index, loss);
  connections_[*index].state = State::kClosed;
}

void SimulatedNetwork::SendGoAway(ConnectionIndex index) {
  Connection& connection = connections_[index];
  if (connection.state != State::kUp || connection.accepted.is_refused) return;
  connection.accepted.is_refused = true;
  MessageArrival go_away;
  go_away.connection = index;
  go_away.generation = connection.generation;
  go_away.to_opener = true;
  go_away.past_host_cap = true;
  go_away.is_go_away = true;
  if (connection.backward.is_silent) return;
  const int64_t arrival_ns = agenda_->now().nanoseconds() + connection.backward.link->delay_ns();
  Arrive(index, std::move(go_away), arrival_ns);
}

// In the order in which things were sent.
void SimulatedNetwork::Arrive(ConnectionIndex index, MessageArrival arrival, int64_t arrival_ns) {
  Connection& connection = connections_[index];
  Direction& direction = connection.Way(arrival.to_opener);
  if (IsCut(connection.SenderOf(arrival.to_opener), connection.ReceiverOf(arrival.to_opener))) {
    direction.held.push_back(std::move(arrival));
    return;
  }
  direction.last_arrival_ns = std::max(direction.last_arrival_ns, arrival_ns);
  agenda_->At(Timestamp::FromNanoseconds(direction.last_arrival_ns), std::move(arrival));
}

void SimulatedNetwork::ReleaseHeld(ConnectionIndex index, bool to_opener) {
  Connection& connection = connections_[index];
  Direction& direction = connection.Way(to_opener);
  std::vector<MessageArrival> held = std::move(direction.held);
  direction.held.clear();
  const int64_t arrival_ns = direction.link == nullptr ? 0 : agenda_->now().nanoseconds() + direction.link->delay_ns();
  for (MessageArrival& arrival : held) Arrive(index, std::move(arrival), arrival_ns);
}

void SimulatedNetwork::CheckUse(const Connection& connection, bool is_opener, const Direction& direction,
                                const Message& message) {
  const NodeId from = is_opener ? connection.opener : connection.acceptor;
  const NodeId to = is_opener ? connection.acceptor : connection.opener;
  const bool with_scheduler = schedulers_.contains(from) || schedulers_.contains(to);
  const ConnectionUse use{connection.channel, with_scheduler, is_opener, direction.used};
  for (const char* wrong : WrongUses(use, message)) {
    violations_->Add(agenda_->now(), "use of connections",
                     absl::StrCat(NameOf(from), " to ", NameOf(to), ": ", DescribeMessage(message), ": ", wrong));
  }
}

void SimulatedNetwork::OnUpHandled(NodeId opener, ConnectionId connection) {
  // Every generation is announced once, in order.
  ++connections_[outbound_.at(std::pair(opener.value(), connection.value()))].announced;
}

void SimulatedNetwork::SendMessage(NodeId from, Send send) {
  bool is_opener = false;
  bool is_current = false;
  const std::optional<ConnectionIndex> index = FindConnection(from, send.connection, &is_opener, &is_current);
  if (!index.has_value()) return ReportUse(from, "sends on", send.connection);
  Connection& connection = connections_[*index];
  if (!is_current || connection.state == State::kDialling || connection.state == State::kClosed) return;
  if (is_opener && connection.announced != connection.generation) return;
  if (!is_opener && connection.accepted.is_refused) return;
  Direction& direction = is_opener ? connection.forward : connection.backward;
  CheckUse(connection, is_opener, direction, send.message);
  direction.used = true;
  const bool twice = options_.duplicate_chance > 0 && std::holds_alternative<ChunkMessage>(send.message) &&
                     random_.Chance(options_.duplicate_chance);
  NotifySent(*index, !is_opener, send.message, send.payload);
  if (!is_opener) return Transmit(*index, true, std::move(send.message), std::move(send.payload));
  if (twice) SendForward(*index, send.message, send.payload);
  SendForward(*index, std::move(send.message), std::move(send.payload));
}

void SimulatedNetwork::SetPace(NodeId opener, const Pace& pace) {
  const auto found = outbound_.find(std::pair(opener.value(), pace.connection.value()));
  if (found == outbound_.end() || pace.rate_bps <= 0) {
    violations_->Add(agenda_->now(), "pace",
                     absl::StrCat(NameOf(opener), " paces connection ", pace.connection.value(), " at ", pace.rate_bps,
                                  " bit/s; expected one that it opened, and a rate"));
    return;
  }
  const double scale = static_cast<double>(options_.scale);
  connections_[found->second].paced.SetRate(agenda_->now().nanoseconds(),
                                            std::isfinite(pace.rate_bps) ? pace.rate_bps * scale : 0);
  SchedulePace(found->second);
}

void SimulatedNetwork::SendForward(ConnectionIndex index, Message message, Payload payload) {
  Connection& connection = connections_[index];
  if (!connection.paced.holds_back()) return Transmit(index, false, std::move(message), std::move(payload));
  const int64_t size_bytes = WireBytes(message, payload);
  const bool is_first = connection.paced.empty();
  connection.paced.Push(agenda_->now().nanoseconds(), size_bytes, {std::move(message), std::move(payload)});
  if (is_first) SchedulePace(index);
}

void SimulatedNetwork::SchedulePace(ConnectionIndex index) {
  Connection& connection = connections_[index];
  ++connection.pace_changes;
  if (connection.paced.empty()) return;
  agenda_->At(Timestamp::FromNanoseconds(connection.paced.DueNs(connection.forward.link->rate_bps())),
              PaceDue{index, connection.pace_changes});
}

std::optional<SimulatedNetwork::Delivery> SimulatedNetwork::Handle(const PaceDue& due) {
  Connection& connection = connections_[due.connection];
  if (due.change != connection.pace_changes || connection.paced.empty()) return std::nullopt;
  auto [message, payload] = connection.paced.Pop(agenda_->now().nanoseconds());
  Transmit(due.connection, false, std::move(message), std::move(payload));
  SchedulePace(due.connection);
  return std::nullopt;
}

void SimulatedNetwork::NotifySent(ConnectionIndex index, bool to_opener, const Message& message,
                                  const Payload& payload) {
  if (observers_.empty()) return;
  const Connection& connection = connections_[index];
  const SentMessage sent = connection.Describe(agenda_->now(), {index, connection.generation}, to_opener,
                                               WireBytes(message, payload), message, payload);
  for (TrafficObserver* observer : observers_) observer->OnSent(sent);
}

int64_t SimulatedNetwork::WireBytes(const Message& message, const Payload& payload) const {
  return HeaderBytes(message) + PayloadBytes(payload) * options_.scale;
}

void SimulatedNetwork::Transmit(ConnectionIndex index, bool to_opener, Message message, Payload payload) {
  Connection& connection = connections_[index];
  Direction& direction = connection.Way(to_opener);
  Direction& way_back = connection.Way(!to_opener);
  const NodeId from = connection.SenderOf(to_opener);
  const int64_t size_bytes = WireBytes(message, payload);
  if (connection.state != State::kUp) return;
  const auto box = middle_boxes_.find({from, connection.ReceiverOf(to_opener)});
  const bool is_lost = connection.Swallows(to_opener, size_bytes,
                                           box == middle_boxes_.end() ? MiddleBox() : box->second, agenda_->now());
  if (is_lost) return;
  const int64_t now_ns = agenda_->now().nanoseconds();
  int64_t arrival_ns = 0;
  if (connection.channel == Channel::kData) {
    Serializer& up = HostOf(from).up;
    arrival_ns = direction.link->SendData(now_ns, size_bytes, up.rate_bps() > 0 ? &up : nullptr, &random_);
  } else {
    arrival_ns = direction.link->SendControl(now_ns, size_bytes, &random_);
  }
  way_back.link->SendAcknowledgements(now_ns, size_bytes);
  Arrive(index,
         MessageArrival{index, connection.generation, to_opener, connection.channel == Channel::kControl, size_bytes,
                        std::move(message), std::move(payload)},
         arrival_ns);
}

void SimulatedNetwork::RenewConnection(NodeId opener, const Renew& renew) {
  const auto found = outbound_.find(std::pair(opener.value(), renew.connection.value()));
  if (found == outbound_.end()) return ReportUse(opener, "renews", renew.connection);
  const Connection& connection = connections_[found->second];
  const bool is_cut = IsCut(opener, connection.acceptor);
  const bool is_moving = !is_cut && connection.IsMoving(agenda_->now());
  if (connection.state != State::kUp || (renew.unless_moving && is_moving)) return;
  LossOptions loss;
  loss.opener_notices = absl::ZeroDuration();
  if (!is_cut && !connection.forward.is_silent)
    loss.acceptor_notices = absl::Nanoseconds(connection.forward.link->delay_ns());
  MarkLost(found->second, loss);
}

bool SimulatedNetwork::DelayAtHost(MessageArrival* arrival, NodeId to) {
  Serializer& down = HostOf(to).down;
  if (arrival->past_host_cap || down.rate_bps() == 0) return false;
  // The bytes came in while they were sent, not all at the end.
  const int64_t now_ns = agenda_->now().nanoseconds();
  const int64_t taken_ns = down.Reserve(now_ns - down.DurationNs(arrival->size_bytes), arrival->size_bytes);
  arrival->past_host_cap = true;
  if (taken_ns <= now_ns) return false;
  agenda_->At(Timestamp::FromNanoseconds(taken_ns), std::move(*arrival));
  return true;
}

std::optional<SimulatedNetwork::Delivery> SimulatedNetwork::Handle(MessageArrival arrival) {
  Connection& connection = connections_[arrival.connection];
  const NodeId to = connection.ReceiverOf(arrival.to_opener);
  if (!HostOf(to).running || DelayAtHost(&arrival, to)) return std::nullopt;
  const bool is_current = arrival.generation == connection.generation && connection.state == State::kUp;
  const bool survives = arrival.generation == connection.lost_generation &&
                        agenda_->now().nanoseconds() <= connection.survivors_until_ns && !arrival.to_opener;
  if (!is_current && !survives) return std::nullopt;
  const Acceptance& acceptance = is_current ? connection.accepted : connection.lost;
  if (!arrival.to_opener && !IsHeard(to, acceptance)) return std::nullopt;
  if (arrival.is_go_away) {
    MarkLost(arrival.connection, LossOptions{.survivors = {}, .opener_notices = {}, .acceptor_notices = {}});
    return Handle(LossNoticed{arrival.connection, arrival.generation, true});
  }
  const SentMessage sent = connection.Describe(agenda_->now(), {arrival.connection, arrival.generation},
                                               arrival.to_opener, arrival.size_bytes, arrival.message, arrival.payload);
  for (TrafficObserver* observer : observers_) observer->OnDelivered(sent);
  return Delivery{to, MessageReceived{arrival.to_opener ? connection.opener_id : acceptance.id,
                                      std::move(arrival.message), std::move(arrival.payload)}};
}

void SimulatedNetwork::SendAllPaced(ConnectionIndex index) {
  Connection& connection = connections_[index];
  while (!connection.paced.empty()) {
    auto [message, payload] = connection.paced.Pop(agenda_->now().nanoseconds());
    Transmit(index, false, std::move(message), std::move(payload));
  }
}

void SimulatedNetwork::MarkLost(ConnectionIndex index, const LossOptions& loss) {
  Connection& connection = connections_[index];
  if (connection.state != State::kUp) return;
  const Timestamp now = agenda_->now();
  SendAllPaced(index);  // what waits shares the fate of what is on its way
  connection.forward.held.clear();
  connection.backward.held.clear();
  connection.state = State::kLost;
  connection.lost_generation = connection.generation;
  connection.lost = connection.accepted;
  connection.survivors_until_ns = (now + loss.survivors).nanoseconds();
  agenda_->At(now + loss.opener_notices, LossNoticed{index, connection.generation, true});
  if (loss.acceptor_notices.has_value()) {
    agenda_->At(now + *loss.acceptor_notices, LossNoticed{index, connection.generation, false});
  }
}

std::optional<SimulatedNetwork::Delivery> SimulatedNetwork::Handle(const LossNoticed& notice) {
  Connection& connection = connections_[notice.connection];
  const NodeId process = notice.by_opener ? connection.opener : connection.acceptor;
  const NodeId peer = notice.by_opener ? connection.acceptor : connection.opener;
  if (!HostOf(process).running || connection.lost_generation != notice.generation) return std::nullopt;
  if (notice.by_opener) {
    if (connection.state != State::kLost) return std::nullopt;
    connection.state = State::kDialling;
    DialLater(notice.connection);
  } else {
    if (!IsHeard(process, connection.lost)) return std::nullopt;
    connection.survivors_until_ns = std::min(connection.survivors_until_ns, agenda_->now().nanoseconds() - 1);
  }
  for (TrafficObserver* observer : observers_)
    observer->OnLossNoticed(agenda_->now(), process, peer, notice.connection);
  return Delivery{process, ConnectionDown{notice.by_opener ? connection.opener_id : connection.lost.id}};
}

void SimulatedNetwork::Lose(ConnectionIndex connection, const LossOptions& loss) { MarkLost(connection, loss); }

void SimulatedNetwork::Stall(ConnectionIndex connection, Timestamp until) {
  Direction& forward = connections_[connection].forward;
  forward.last_arrival_ns = std::max(forward.last_arrival_ns, until.nanoseconds());
}

std::vector<ConnectionIndex> SimulatedNetwork::ConnectionsInUse(NodeId node, std::optional<NodeId> other) const {
  std::vector<ConnectionIndex> in_use;
  for (ConnectionIndex index : ConnectionsInUse()) {
    const Connection& connection = connections_[index];
    const bool opened = connection.opener == node && (!other.has_value() || connection.acceptor == *other);
    const bool accepted = connection.acceptor == node && (!other.has_value() || connection.opener == *other);
    if (opened || accepted) in_use.push_back(index);
  }
  return in_use;
}

std::vector<ConnectionIndex> SimulatedNetwork::ConnectionsInUse() const {
  std::vector<ConnectionIndex> in_use;
  for (ConnectionIndex index = 0; index < connections_.size(); ++index) {
    if (connections_[index].state == State::kUp) in_use.push_back(index);
  }
  return in_use;
}

void SimulatedNetwork::Cut(NodeId from, NodeId to) { cuts_.emplace(from, to); }

void SimulatedNetwork::Mend(NodeId from, NodeId to) {
  cuts_.erase({from, to});
  for (ConnectionIndex index : ConnectionsInUse(from, to)) {
    Connection& connection = connections_[index];
    const bool to_opener = connection.opener == to;
    const bool has_ended =
        HostOf(connection.acceptor).life != connection.accepted.life || !HostOf(connection.acceptor).running;
    if (to_opener && has_ended) {
      EndAccepted(index);  // which can be told now
    } else {
      ReleaseHeld(index, to_opener);
    }
  }
}

void SimulatedNetwork::Partition(NodeId a, NodeId b, absl::Duration noticed) {
  Cut(a, b);
  Cut(b, a);
  LossOptions loss;
  loss.opener_notices = noticed;
  loss.acceptor_notices = noticed;
  for (ConnectionIndex index : ConnectionsInUse(a, b)) MarkLost(index, loss);
}

void SimulatedNetwork::Heal(NodeId a, NodeId b) {
  Mend(a, b);
  Mend(b, a);
}

}  // namespace banyan
