#include "scheduler/rounds/result_digests.h"

#include <iterator>

namespace banyan {

std::optional<ResultDigests::Difference> ResultDigests::Report(NodeId node, Round round, KeyId first, KeyId last,
                                                               uint64_t digest, size_t member_count) {
  OfRound& of_round = rounds_[round];
  if (of_round.first_node == NodeId()) of_round.first_node = node;
  std::optional<Difference> difference;
  if (node == of_round.first_node) {
    Put(of_round.of_first_node, first, {last, digest});
    for (auto& [other, runs] : of_round.waiting) {
      if (!difference.has_value()) difference = Compare(of_round, other, member_count);
    }
  } else {
    Runs& runs = of_round.waiting[node];
    Put(runs, first, {last, digest});
    difference = Compare(of_round, node, member_count);
    Join(runs);
    if (!difference.has_value()) difference = Compare(of_round, node, member_count);
  }
  std::erase_if(of_round.waiting, [](const auto& runs) { return runs.second.empty(); });
  if (of_round.of_first_node.empty() && of_round.waiting.empty()) rounds_.erase(round);
  if (rounds_.size() > kMostRounds) rounds_.erase(rounds_.begin());
  return difference;
}

void ResultDigests::Put(Runs& runs, KeyId first, Run run) {
  auto next = runs.lower_bound(first);
  if (next != runs.begin() && std::prev(next)->second.last >= first) --next;
  while (next != runs.end() && next->first <= run.last) next = runs.erase(next);
  runs[first] = std::move(run);
}

void ResultDigests::Join(Runs& runs) {
  for (auto run = runs.begin(); run != runs.end();) {
    const auto next = std::next(run);
    const bool goes_on = next != runs.end() && run->second.last.Next() == next->first;
    if (!goes_on) {
      run = next;
      continue;
    }
    run->second.last = next->second.last;
    run->second.digest += next->second.digest;
    runs.erase(next);
  }
}

std::pair<ResultDigests::Runs::iterator, ResultDigests::Runs::iterator> ResultDigests::FindSame(Runs& runs, KeyId first,
                                                                                                const Run& run) {
  const auto begin = runs.find(first);
  KeyId next = first;
  for (auto end = begin; end != runs.end() && end->first == next && end->second.last <= run.last;) {
    const KeyId last = end->second.last;
    ++end;
    if (last == run.last) return {begin, end};
    next = last.Next();
  }
  return {runs.end(), runs.end()};
}

std::optional<ResultDigests::Difference> ResultDigests::Compare(OfRound& round, NodeId node, size_t member_count) {
  Runs& own = round.waiting.at(node);
  for (auto run = own.begin(); run != own.end();) {
    const auto [begin, end] = FindSame(round.of_first_node, run->first, run->second);
    if (begin == end) {
      ++run;
      continue;
    }
    uint64_t digest = 0;
    for (auto same = begin; same != end; ++same) digest += same->second.digest;
    if (digest != run->second.digest) {
      return Difference{run->first, run->second.last, round.first_node, digest, node, run->second.digest};
    }
    for (auto same = begin; same != end;) {
      same->second.confirmed_by.insert(node);
      const bool is_done = same->second.confirmed_by.size() + 1 >= member_count;
      same = is_done ? round.of_first_node.erase(same) : std::next(same);
    }
    run = own.erase(run);
  }
  return std::nullopt;
}

size_t ResultDigests::size() const {
  size_t count = 0;
  for (const auto& [round, of_round] : rounds_) {
    count += of_round.of_first_node.size();
    for (const auto& [node, runs] : of_round.waiting) count += runs.size();
  }
  return count;
}

}  // namespace banyan
