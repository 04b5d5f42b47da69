#include "sim/checkers/ack_checker.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/buffer.h"
#include "sim/message_facts.h"

namespace banyan {

AckChecker::AckChecker(const Limits& limits, std::function<Timestamp(NodeId)> clock, Violations* violations)
    : limits_(limits), clock_(std::move(clock)), violations_(violations) {}

void AckChecker::Complain(const SentMessage& sent, const std::string& rule, const std::string& what) {
  violations_->Add(sent.now, rule,
                   absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": ", what));
}

void AckChecker::OnSent(const SentMessage& sent) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    CheckChunk(sent, *chunk);
  } else if (const auto* link_ack = std::get_if<LinkAck>(&sent.message)) {
    CheckLinkAck(sent, *link_ack);
  } else if (const auto* delivery_ack = std::get_if<DeliveryAck>(&sent.message)) {
    CheckAnswer(sent, *delivery_ack, /*from_relay_too=*/false);
  } else if (const auto* busy = std::get_if<Busy>(&sent.message)) {
    CheckAnswer(sent, *busy, /*from_relay_too=*/true);
  }
}

void AckChecker::CheckChunk(const SentMessage& sent, const ChunkMessage& chunk) {
  if (chunk.route.hop + 1 >= chunk.route.path.size() || chunk.route.sender() != sent.from ||
      chunk.route.receiver() != sent.to) {
    return Complain(sent, "routes", "the route does not say so");
  }
  Link& link = links_[{sent.from, sent.to}];
  if (chunk.link_sequence <= link.last_sequence) {
    if (!link.may_begin_anew) Complain(sent, "link sequences", "does not rise");
    link.may_begin_anew = false;
    while (!link.in_flight.empty()) TakeBack(&link, link.in_flight.begin());
  }
  link.last_sequence = chunk.link_sequence;
  if (chunk.sent_at != clock_(sent.from)) Complain(sent, "timestamps", "sent_at is not the sender's time");
  const ChunkOnWay on_way(chunk.id, chunk.route.source(), chunk.route.destination());
  // Its ack waits unread: a hedge that was too early, or a resend.
  if (link.acknowledged.contains(on_way)) return;
  const int64_t bytes = PayloadBytes(sent.payload);
  InFlight& in_flight = link.in_flight[on_way];
  link.in_flight_bytes += bytes - in_flight.bytes;
  in_flight.connections[chunk.link_sequence] = sent.connection;
  in_flight.bytes = bytes;
  in_flight.sent_at = chunk.sent_at;
  link.by_sequence[chunk.link_sequence] = on_way;
  // A codec may make a chunk longer than it is plain.
  const int64_t most_bytes = limits_.window_bytes + std::max(limits_.chunk_bytes, bytes);
  if (limits_.window_bytes > 0 && link.in_flight_bytes > most_bytes) TakeBackOverdue(chunk, &link);
  if (limits_.window_bytes > 0 && link.in_flight_bytes > most_bytes) {
    Complain(sent, "bounded",
             absl::StrCat(link.in_flight_bytes, " bytes are on their way, the window has ", limits_.window_bytes));
  }
}

// The ack of one was lost; the sender will send it again. One of an earlier epoch the sender has dropped: it may have
// been sent after the new epoch was delivered, by a process that was paused then.
void AckChecker::TakeBackOverdue(const ChunkMessage& newest, Link* link) {
  for (auto entry = link->in_flight.begin(); entry != link->in_flight.end();) {
    const auto next = std::next(entry);
    const bool is_overdue = entry->second.sent_at + limits_.resend_after <= newest.sent_at;
    if (is_overdue || std::get<0>(entry->first).epoch < newest.id.epoch) TakeBack(link, entry);
    entry = next;
  }
}

void AckChecker::TakeBack(Link* link, std::map<ChunkOnWay, InFlight>::iterator entry) {
  link->in_flight_bytes -= entry->second.bytes;
  for (const auto& [sequence, connection] : entry->second.connections) link->by_sequence.erase(sequence);
  link->in_flight.erase(entry);
}

void AckChecker::CheckLinkAck(const SentMessage& sent, const LinkAck& ack) {
  const Link& link = links_[{sent.to, sent.from}];
  for (const LinkAck::Entry& entry : ack.entries) {
    const auto delivered = link.delivered.find(entry.link_sequence);
    if (delivered == link.delivered.end()) {
      Complain(sent, "acks", absl::StrCat("sequence ", entry.link_sequence, " has not arrived"));
      continue;
    }
    const auto arrival = std::find_if(delivered->second.begin(), delivered->second.end(),
                                      [&](const Arrival& candidate) { return candidate.sent_at == entry.sent_at; });
    if (arrival == delivered->second.end()) {
      Complain(sent, "timestamps", absl::StrCat("sequence ", entry.link_sequence, " was not sent then"));
    } else if (entry.is_delivered && !arrival->is_direct) {
      Complain(sent, "acks", absl::StrCat("sequence ", entry.link_sequence, " was not sent straight to it"));
    }
    if (entry.received_at > clock_(sent.from)) Complain(sent, "timestamps", "received in the future");
  }
}

template <typename Answer>
void AckChecker::CheckAnswer(const SentMessage& sent, const Answer& answer, bool from_relay_too) {
  if (answer.route.hop != 0) return;  // checked where it was made
  const NodeId maker = answer.route.source();
  const NodeId chunks_source = answer.route.destination();
  if (maker != sent.from) return Complain(sent, "routes", "the route does not start here");
  const std::set<ChunkOnWay>& arrived = arrived_[maker];
  for (const ChunkId& id : answer.chunks) {
    const auto found = arrived.lower_bound(ChunkOnWay(id, chunks_source, NodeId(0)));
    const bool known = found != arrived.end() && std::get<0>(*found) == id && std::get<1>(*found) == chunks_source;
    const bool for_maker = arrived.contains(ChunkOnWay(id, chunks_source, maker));
    if (!for_maker && !(from_relay_too && known)) Complain(sent, "acks", "names a chunk that has not arrived");
  }
}

void AckChecker::OnDelivered(const SentMessage& sent) {
  if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    const Arrival arrival{chunk->sent_at, chunk->route.path.size() == 2};
    links_[{sent.from, sent.to}].delivered[chunk->link_sequence].push_back(arrival);
    arrived_[sent.to].emplace(chunk->id, chunk->route.source(), chunk->route.destination());
  } else if (const auto* begin = std::get_if<EpochBegin>(&sent.message)) {
    if (begun_.Rises(sent.to, begin->epoch)) ForgetInFlight(sent.to);
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    if (planned_.Rises(sent.to, plan->epoch)) ForgetInFlight(sent.to);
  } else if (const auto* ack = std::get_if<LinkAck>(&sent.message)) {
    Link& link = links_[{sent.to, sent.from}];
    for (const LinkAck::Entry& entry : ack->entries) {
      const auto on_way = link.by_sequence.find(entry.link_sequence);
      if (on_way == link.by_sequence.end()) continue;
      link.acknowledged.insert(on_way->second);
      TakeBack(&link, link.in_flight.find(on_way->second));
    }
  }
}

void AckChecker::ForgetInFlight(NodeId node) {
  for (auto& [ends, link] : links_) {
    if (ends.first != node) continue;
    link.may_begin_anew = true;
    while (!link.in_flight.empty()) TakeBack(&link, link.in_flight.begin());
  }
}

// What came to the process before has come to nobody now.
void AckChecker::OnProcessStarted(Timestamp /*now*/, NodeId process) {
  ForgetInFlight(process);
  begun_.Forget(process);
  planned_.Forget(process);
  arrived_.erase(process);
  for (auto& [ends, link] : links_) {
    if (ends.first == process) link.last_sequence = 0;
    if (ends.second != process) continue;
    link.may_begin_anew = true;
    link.delivered.clear();
    link.acknowledged.clear();
  }
}

void AckChecker::OnLossNoticed(Timestamp /*now*/, NodeId node, NodeId peer, uint32_t connection) {
  Link& link = links_[{node, peer}];
  for (auto entry = link.in_flight.begin(); entry != link.in_flight.end();) {
    const auto next = std::next(entry);
    std::erase_if(entry->second.connections, [&](const auto& copy) {
      if (copy.second != connection) return false;
      link.by_sequence.erase(copy.first);
      return true;
    });
    if (entry->second.connections.empty()) TakeBack(&link, entry);
    entry = next;
  }
}

}  // namespace banyan
