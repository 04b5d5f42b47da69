#include "node/peers/delivery_tracker.h"

#include <algorithm>

namespace banyan {
namespace {

// An ack this many times later than the slowest recent one is overdue.
constexpr int kOverdueFactor = 4;
// A refused chunk waits for its grant; the grant itself may be lost, so it is tried again after this many waits.
constexpr int kBusyFactor = 4;
// Many may be refused at once, and what is sent in vain takes the link from what is not.
constexpr uint32_t kMostBusyDoublings = 3;
constexpr int kRelayFactor = 8;
constexpr uint32_t kMostDoublings = 6;

bool PassesThrough(const ChunkMessage& message, NodeId node) {
  const std::vector<NodeId>& path = message.route.path;
  return std::find(path.begin() + 1, path.end(), node) != path.end();
}

}  // namespace

DeliveryTracker::DeliveryTracker(absl::Duration resend_after) : resend_after_(resend_after) {}

// Longer over relays, whose queues lie behind the first link ack.
absl::Duration DeliveryTracker::Wait(const Kept& kept) const {
  const bool direct = kept.chunk.message.route.path.size() == 2;
  const absl::Duration base =
      std::max(direct ? resend_after_ : kRelayFactor * resend_after_, kOverdueFactor * slowest_ack_);
  return std::min(kLongestWait, base * (1 << std::min(std::max(kept.resends, backoff_), kMostDoublings)));
}

void DeliveryTracker::SetDeadline(const Id& id, Kept& kept, Timestamp deadline) {
  if (kept.deadline != kNever) deadlines_.erase({kept.deadline, id});
  kept.deadline = deadline;
  if (deadline != kNever) deadlines_.insert({deadline, id});
}

void DeliveryTracker::Add(const ChunkMessage& message, const Payload& payload) {
  auto [entry, added] = kept_.try_emplace({message.route.destination(), message.id});
  if (!added) return;
  entry->second.chunk = {message, payload};
  kept_bytes_ += PayloadBytes(payload);
}

void DeliveryTracker::OnLinkAck(const ChunkMessage& copy, Timestamp now) {
  auto entry = kept_.find({copy.route.destination(), copy.id});
  if (entry == kept_.end() || busy_.count(entry->first) > 0) return;
  if (entry->second.chunk.message.route.path != copy.route.path) return;
  entry->second.at_link = false;
  entry->second.link_acked_at = now;
  SetDeadline(entry->first, entry->second, now + Wait(entry->second));
}

bool DeliveryTracker::OnDeliveryAck(NodeId destination, const ChunkId& chunk, Timestamp now) {
  auto entry = kept_.find({destination, chunk});
  if (entry == kept_.end()) return false;
  Kept& kept = entry->second;
  const bool was_busy = busy_.erase(entry->first) > 0;
  // The ack of a chunk that was sent again may be that of any copy, and so tells no time.
  if (kept.deadline != kNever && !was_busy && kept.resends == 0) {
    backoff_ = 0;
    slowest_ack_ = std::max(now - kept.link_acked_at, slowest_ack_ - slowest_ack_ / 16);
  }
  kept_bytes_ -= PayloadBytes(kept.chunk.payload);
  SetDeadline(entry->first, kept, kNever);
  kept_.erase(entry);
  return true;
}

void DeliveryTracker::MarkBusy(const Id& id, Kept& kept, Timestamp now) {
  if (kept.at_link) return;
  busy_.insert(id);
  SetDeadline(id, kept, now + kBusyFactor * resend_after_ * (1 << std::min(kept.resends, kMostBusyDoublings)));
}

std::vector<DeliveryTracker::Id> DeliveryTracker::IdsThrough(NodeId node, const ChunkId& chunk) const {
  // An answer does not say for which of its destinations the chunk was refused: all that pass the refuser may be meant.
  std::vector<Id> ids;
  for (auto next = kept_.begin(); next != kept_.end();) {
    const NodeId destination = next->first.first;
    auto found = kept_.find({destination, chunk});
    if (found != kept_.end() && PassesThrough(found->second.chunk.message, node)) ids.push_back(found->first);
    next = kept_.lower_bound({NodeId(destination.value() + 1), ChunkId()});
  }
  return ids;
}

void DeliveryTracker::OnBusy(NodeId refuser, const ChunkId& chunk, Timestamp now) {
  for (const Id& id : IdsThrough(refuser, chunk)) MarkBusy(id, kept_.at(id), now);
}

void DeliveryTracker::Reroute(const ChunkMessage& message) {
  auto entry = kept_.find({message.route.destination(), message.id});
  if (entry == kept_.end()) return;
  entry->second.chunk.message.route = message.route;
  entry->second.chunk.message.is_auxiliary = message.is_auxiliary;
}

std::vector<DeliveryTracker::Undelivered> DeliveryTracker::TakeAuxiliary(NodeId relay, const ChunkId& chunk) {
  std::vector<Undelivered> on_auxiliary_path;
  for (const Id& id : IdsThrough(relay, chunk)) {
    Kept& kept = kept_.at(id);
    // Without a link ack the link itself still looks after the chunk.
    if (kept.at_link || !kept.chunk.message.is_auxiliary || id.first == relay) continue;
    on_auxiliary_path.push_back(Resend(id, kept));
  }
  return on_auxiliary_path;
}

DeliveryTracker::Undelivered DeliveryTracker::Resend(const Id& id, Kept& kept) {
  busy_.erase(id);
  ++kept.resends;
  kept.at_link = true;
  SetDeadline(id, kept, kNever);
  return kept.chunk;
}

std::vector<DeliveryTracker::Undelivered> DeliveryTracker::OnGrant(NodeId granter, const std::vector<ChunkId>& chunks) {
  std::vector<Undelivered> resend;
  for (const ChunkId& chunk : chunks) {
    for (const Id& id : IdsThrough(granter, chunk)) {
      if (busy_.contains(id)) resend.push_back(Resend(id, kept_.at(id)));
    }
  }
  if (!chunks.empty()) return resend;
  for (auto next = busy_.begin(); next != busy_.end();) {
    const Id id = *next++;
    Kept& kept = kept_.at(id);
    if (PassesThrough(kept.chunk.message, granter)) resend.push_back(Resend(id, kept));
  }
  return resend;
}

std::vector<DeliveryTracker::Undelivered> DeliveryTracker::TakeOverdue(Timestamp now) {
  std::vector<Undelivered> overdue;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const Id id = deadlines_.begin()->second;
    Kept& kept = kept_.at(id);
    if (busy_.count(id) == 0) backoff_ = std::max(backoff_, std::min(kept.resends + 1, kMostDoublings));
    overdue.push_back(Resend(id, kept));
  }
  return overdue;
}

std::vector<std::pair<NodeId, ChunkId>> DeliveryTracker::DropRound(KeyId key, Round round) {
  std::vector<Id> dropped;
  // Skips to the round within every destination and attempt: rounds close often, and much else is kept.
  for (auto next = kept_.begin(); next != kept_.end();) {
    const auto& [destination, chunk] = next->first;
    const Id first = {destination, ChunkId{chunk.epoch, chunk.attempt, round, key, ChunkIndex(0), Half::kReduce}};
    if (next->first < first) {
      next = kept_.lower_bound(first);
      continue;
    }
    if (chunk.key != key || chunk.round != round) {
      const ChunkId last{chunk.epoch,       chunk.attempt, Round(UINT64_MAX),
                         KeyId(UINT32_MAX), ChunkIndex(0), Half::kReduce};
      next = kept_.upper_bound({destination, last});
      continue;
    }
    const auto entry = next++;
    dropped.push_back(entry->first);
    kept_bytes_ -= PayloadBytes(entry->second.chunk.payload);
    SetDeadline(entry->first, entry->second, kNever);
    busy_.erase(entry->first);
    kept_.erase(entry);
  }
  return dropped;
}

void DeliveryTracker::Clear() {
  backoff_ = 0;
  kept_.clear();
  deadlines_.clear();
  busy_.clear();
  kept_bytes_ = 0;
}

Timestamp DeliveryTracker::NextDeadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }

}  // namespace banyan
