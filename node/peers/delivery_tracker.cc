#include "node/peers/delivery_tracker.h"

#include <algorithm>
#include <utility>

namespace banyan {
namespace {

using Delivery = ChunkInFlight::Delivery;

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
absl::Duration DeliveryTracker::Wait(const ChunkInFlight& chunk) const {
  const absl::Duration base =
      std::max(chunk.is_direct() ? resend_after_ : kRelayFactor * resend_after_, kOverdueFactor * slowest_ack_);
  return std::min(kLongestWait, base * (1 << std::min(std::max(chunk.resends, backoff_), kMostDoublings)));
}

void DeliveryTracker::SetDeadline(ChunkInFlight& chunk, Timestamp deadline) {
  const Id id = IdOf(chunk);
  if (chunk.deadline != kNever) deadlines_.erase({chunk.deadline, id});
  chunk.deadline = deadline;
  if (deadline != kNever) deadlines_.insert({deadline, id});
}

void DeliveryTracker::Add(const ChunkPtr& chunk) {
  if (!kept_.try_emplace(IdOf(*chunk), chunk).second) return;
  chunk->delivery = Delivery::kAtLink;
  kept_bytes_ += PayloadBytes(chunk->payload);
}

void DeliveryTracker::OnLinkAck(ChunkInFlight& chunk, Timestamp now) {
  if (chunk.delivery != Delivery::kAtLink) return;
  chunk.delivery = Delivery::kAwaited;
  chunk.link_acked_at = now;
  SetDeadline(chunk, now + Wait(chunk));
}

ChunkPtr DeliveryTracker::OnDeliveryAck(NodeId destination, const ChunkId& chunk, Timestamp now) {
  const auto entry = kept_.find({destination, chunk});
  if (entry == kept_.end()) return nullptr;
  const ChunkInFlight& kept = *entry->second;
  // The ack of a chunk that was sent again may be that of any copy, and so tells no time.
  if (kept.delivery == Delivery::kAwaited && kept.resends == 0) {
    backoff_ = 0;
    slowest_ack_ = std::max(now - kept.link_acked_at, slowest_ack_ - slowest_ack_ / 16);
  }
  return Drop(entry);
}

ChunkPtr DeliveryTracker::Drop(Kept::iterator entry) {
  const ChunkPtr chunk = std::move(entry->second);
  kept_bytes_ -= PayloadBytes(chunk->payload);
  SetDeadline(*chunk, kNever);
  refused_.erase(entry->first);
  chunk->delivery = Delivery::kNobodyWaits;
  kept_.erase(entry);
  return chunk;
}

std::vector<ChunkPtr> DeliveryTracker::Through(NodeId node, const ChunkId& chunk) const {
  // An answer does not say for which of its destinations the chunk was refused: all that pass the refuser may be meant.
  std::vector<ChunkPtr> chunks;
  for (auto next = kept_.begin(); next != kept_.end();) {
    const NodeId destination = next->first.first;
    const auto found = kept_.find({destination, chunk});
    if (found != kept_.end() && PassesThrough(found->second->message, node)) chunks.push_back(found->second);
    next = kept_.lower_bound({NodeId(destination.value() + 1), ChunkId()});
  }
  return chunks;
}

void DeliveryTracker::OnBusy(NodeId refuser, const ChunkId& chunk, Timestamp now) {
  for (const ChunkPtr& refused : Through(refuser, chunk)) {
    if (refused->delivery == Delivery::kAtLink) continue;
    refused->delivery = Delivery::kRefused;
    refused_.insert(IdOf(*refused));
    SetDeadline(*refused, now + kBusyFactor * resend_after_ * (1 << std::min(refused->resends, kMostBusyDoublings)));
  }
}

std::vector<ChunkPtr> DeliveryTracker::TakeAuxiliary(NodeId relay, const ChunkId& chunk) {
  std::vector<ChunkPtr> chunks = Through(relay, chunk);
  std::erase_if(chunks, [relay](const ChunkPtr& one) {
    // Without a link ack the link itself still looks after the chunk.
    return one->delivery == Delivery::kAtLink || !one->message.is_auxiliary ||
           one->message.route.destination() == relay;
  });
  for (const ChunkPtr& one : chunks) Resend(*one);
  return chunks;
}

void DeliveryTracker::Resend(ChunkInFlight& chunk) {
  refused_.erase(IdOf(chunk));
  ++chunk.resends;
  chunk.delivery = Delivery::kAtLink;
  SetDeadline(chunk, kNever);
}

std::vector<ChunkPtr> DeliveryTracker::OnGrant(NodeId granter, const std::vector<ChunkId>& chunks) {
  std::vector<ChunkPtr> granted;
  for (const ChunkId& chunk : chunks) {
    for (ChunkPtr& one : Through(granter, chunk)) granted.push_back(std::move(one));
  }
  if (chunks.empty()) {
    for (const Id& id : refused_) granted.push_back(kept_.at(id));
  }
  // A chunk may be named twice.
  std::erase_if(granted, [&](const ChunkPtr& chunk) {
    if (chunk->delivery != Delivery::kRefused || !PassesThrough(chunk->message, granter)) return true;
    Resend(*chunk);
    return false;
  });
  return granted;
}

std::vector<ChunkPtr> DeliveryTracker::TakeOverdue(Timestamp now) {
  std::vector<ChunkPtr> overdue;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const ChunkPtr& chunk = kept_.at(deadlines_.begin()->second);
    if (chunk->delivery == Delivery::kAwaited) {
      backoff_ = std::max(backoff_, std::min(chunk->resends + 1, kMostDoublings));
    }
    Resend(*chunk);
    overdue.push_back(chunk);
  }
  return overdue;
}

std::vector<ChunkPtr> DeliveryTracker::DropRound(KeyId key, Round round) {
  std::vector<ChunkPtr> dropped;
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
    dropped.push_back(Drop(next++));
  }
  return dropped;
}

void DeliveryTracker::Clear() {
  while (!kept_.empty()) Drop(kept_.begin());
  backoff_ = 0;
}

Timestamp DeliveryTracker::NextDeadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }

}  // namespace banyan
