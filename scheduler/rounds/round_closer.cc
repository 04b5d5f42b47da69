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

Round RoundCloser::AfterClosed(KeyId key) const {
  const auto found = closed_.find(key);
  if (found == closed_.end()) return Round(0);
  const std::set<Round>& beyond = found->second.beyond;
  return beyond.empty() ? found->second.first_open : beyond.rbegin()->Next();
}

bool RoundCloser::Report(NodeId node, KeyId key, Round round, size_t member_count) {
  BANYAN_CHECK(!IsClosed(key, round));
  const auto position = tallies_.try_emplace({key, round}).first;
  Tally& tally = position->second;
  if (tally.reported.size() <= node.value()) tally.reported.resize(node.value() + 1, false);
  if (!tally.reported[node.value()]) ++tally.reports;
  tally.reported[node.value()] = true;
  if (tally.reports < member_count) return false;
  tallies_.erase(position);
  closed_[key].Add(round);
  return true;
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

}  // namespace banyan
