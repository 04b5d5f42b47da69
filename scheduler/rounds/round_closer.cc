#include "scheduler/rounds/round_closer.h"

#include "core/check.h"

namespace banyan {

bool RoundCloser::IsClosed(KeyId key, Round round) const {
  const auto found = closed_.find(key);
  return found != closed_.end() && found->second.Contains(round);
}

Round RoundCloser::FirstOpen(KeyId key) const {
  const auto found = closed_.find(key);
  return found == closed_.end() ? Round(0) : found->second.first_open;
}

RoundCloser::Outcome RoundCloser::Report(NodeId node, KeyId key, Round round, uint64_t hash, size_t member_count) {
  BANYAN_CHECK(!IsClosed(key, round));
  const auto [position, is_first] = tallies_.try_emplace({key, round});
  Tally& tally = position->second;
  if (is_first || tally.first.hash == 0) tally.first = FirstReport{node, hash};
  if (hash != 0 && tally.first.hash != hash) return Outcome::kDiffers;
  if (tally.reported.size() <= node.value()) tally.reported.resize(node.value() + 1, false);
  if (!tally.reported[node.value()]) ++tally.reports;
  tally.reported[node.value()] = true;
  if (tally.reports < member_count) return Outcome::kOpen;
  tallies_.erase(position);
  closed_[key].Add(round);
  return Outcome::kClosed;
}

const std::vector<bool>* RoundCloser::ReportersOf(KeyId key, Round round) const {
  const auto found = tallies_.find({key, round});
  return found == tallies_.end() ? nullptr : &found->second.reported;
}

void RoundCloser::AdvanceTo(KeyId key, Round open) {
  if (open > FirstOpen(key)) closed_[key].AdvanceTo(open);
}

std::set<Round> RoundCloser::Beyond(KeyId key) const {
  const auto found = closed_.find(key);
  return found == closed_.end() ? std::set<Round>() : found->second.beyond;
}

RoundCloser::FirstReport RoundCloser::FirstReportOf(KeyId key, Round round) const {
  const auto found = tallies_.find({key, round});
  BANYAN_CHECK(found != tallies_.end());
  return found->second.first;
}

}  // namespace banyan
