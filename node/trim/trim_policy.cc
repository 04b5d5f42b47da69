#include "node/trim/trim_policy.h"

#include <array>

#include "absl/time/time.h"
#include "node/trim/chunk_cut.h"
#include "xxhash.h"

namespace banyan {

size_t DeadlineTrimPolicy::KeptFrames(const TrimQuestion& question) const {
  const size_t all = question.message->frames.size();
  if (!question.due.has_value() || question.now <= question.due->at) return all;
  const size_t heads = HeadFrames(*question.message);
  const absl::Duration late = question.now - question.due->at;
  if (late >= question.due->slack) return heads;
  const double kept = 1 - absl::FDivDuration(late, question.due->slack);
  return heads + static_cast<size_t>(kept * static_cast<double>(all - heads));
}

size_t QueueTrimPolicy::KeptFrames(const TrimQuestion& question) const {
  return question.waiting_bytes > bound_bytes_ ? HeadFrames(*question.message) : question.message->frames.size();
}

size_t RandomTrimPolicy::KeptFrames(const TrimQuestion& question) const {
  const ChunkId& id = question.message->id;
  const std::array<uint64_t, 6> place = {id.epoch.value(), id.attempt.value(), id.round.value(),
                                         id.key.value(),   id.chunk.value(),   self_.value()};
  const double unit = static_cast<double>(XXH3_64bits(place.data(), sizeof(place)) >> 11) * 0x1p-53;
  return unit < share_ ? HeadFrames(*question.message) : question.message->frames.size();
}

std::unique_ptr<TrimPolicy> MakeTrimPolicy(const TrimmingConfig& config, NodeId self) {
  switch (config.policy) {
    case TrimPolicyKind::kDeadline:
      return std::make_unique<DeadlineTrimPolicy>();
    case TrimPolicyKind::kQueue:
      return std::make_unique<QueueTrimPolicy>(config.queue_bytes);
    case TrimPolicyKind::kRandom:
      return std::make_unique<RandomTrimPolicy>(config.share, self);
    case TrimPolicyKind::kOff:
      break;
  }
  return std::make_unique<NoTrimPolicy>();
}

}  // namespace banyan
