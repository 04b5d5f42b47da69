#include "sim/checkers/slice_routes.h"

#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace banyan {

void SliceRoutes::OnSent(const SentMessage& sent) {
  if (const auto* assigned = std::get_if<KeysAssigned>(&sent.message)) {
    for (const KeySlice& row : assigned->keys) keys_.try_emplace(row.key, row);
  } else if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
    chunk_sizes_[published->slice.version] = published->slice.chunk_max_elements;
  } else if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
    for (const PolicyAnswer::Binding& bound : answer->bindings) {
      Take(bound.policy, bound.key, bound.first_round,
           {bound.last_round, bound.route, bound.chunk_max_elements, answer->term});
    }
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    for (const EpochPlan::Binding& bound : plan->bindings) {
      for (KeyId key = bound.first_key; key <= bound.last_key; key = key.Next()) {
        Take(plan->policy, key, bound.first_round,
             {bound.last_round, bound.route, bound.chunk_max_elements, plan->term});
      }
    }
  }
}

void SliceRoutes::OnRecordsLost() {
  keys_.clear();
  chunks_.clear();
  chunk_sizes_.clear();
  answers_.clear();
}

void SliceRoutes::Take(PolicyVersion policy, KeyId key, Round first, const Answer& answer) {
  Answers& known = answers_[{policy, key}];
  for (auto entry = known.begin(); entry != known.end();) {
    const auto [other_first, other] = *entry;
    const bool is_apart = other_first > answer.last || other.last < first;
    if (is_apart || other.routes == answer.routes) {
      ++entry;
      continue;
    }
    // A scheduler that leads no more may not know better.
    if (answer.term < other.term) return;
    entry = known.erase(entry);
    if (other_first < first) known.emplace(other_first, other).first->second.last = Round(first.value() - 1);
    if (other.last > answer.last) known.emplace(answer.last.Next(), other);
  }
  // What is left of a lease that was cut binds its later rounds no less, for who has not heard of the cut.
  const auto [entry, is_first] = known.try_emplace(first, answer);
  if (!is_first && entry->second.last < answer.last) entry->second.last = answer.last;
  if (entry->second.chunk_max_elements == 0) entry->second.chunk_max_elements = chunk_sizes_[policy];
}

const SliceRoutes::Answer* SliceRoutes::FindAnswer(const ChunkMessage& chunk) const {
  const auto found = answers_.find({chunk.policy, chunk.id.key});
  if (found == answers_.end()) return nullptr;
  for (auto after = found->second.upper_bound(chunk.id.round); after != found->second.begin();) {
    --after;
    if (after->second.last >= chunk.id.round) return &after->second;
  }
  return nullptr;
}

std::optional<SliceRoutes::Place> SliceRoutes::FindPlace(const ChunkMessage& chunk, const Answer& answer) {
  const KeyId key = chunk.id.key;
  const auto row = keys_.find(key);
  if (row == keys_.end() || answer.chunk_max_elements < 1) return std::nullopt;
  auto known = chunks_.find({key, answer.chunk_max_elements});
  if (known == chunks_.end()) {
    // Trees have no say in where chunks end.
    absl::StatusOr<ChunkAssignment> made = ChunkAssignment::Create({1.0}, answer.chunk_max_elements);
    if (!made.ok() || !made->AddKey(key, row->second.elements, row->second.borders).ok()) return std::nullopt;
    known = chunks_.emplace(std::pair(key, answer.chunk_max_elements), *std::move(made)).first;
  }
  const ChunkAssignment& chunks = known->second;
  if (chunk.id.chunk.value() >= chunks.ChunksOf(key)) return std::nullopt;
  return Place{chunks.SliceOf(key, chunk.id.chunk), chunks.SliceRangeOf(key, chunk.id.chunk),
               chunks.RangeOf(key, chunk.id.chunk)};
}

size_t SliceRoutes::SlicesOf(KeyId key) const {
  const auto row = keys_.find(key);
  return row == keys_.end() ? 1 : row->second.borders.size() + 1;
}

std::string SliceRoutes::NameOf(KeyId key) const {
  const auto row = keys_.find(key);
  return row == keys_.end() ? "" : row->second.name;
}

}  // namespace banyan
