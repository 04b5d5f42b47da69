#include "scheduler/rounds/result_digests.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace banyan {
namespace {

constexpr KeyRun kAllKeys = {KeyId(0), KeyId(UINT32_MAX)};

}  // namespace

ResultDigests::Differences ResultDigests::Report(NodeId node, Round round, KeyId first, KeyId last, uint64_t digest,
                                                 size_t member_count) {
  OfRound& of_round = rounds_[round];
  Differences differences;
  KeyRun changed = {first, last};
  if (of_round.first_node == NodeId()) of_round.first_node = node;
  if (node == of_round.first_node) {
    Put(of_round.of_first_node, first, {last, digest});
    for (auto& [other, runs] : of_round.waiting) Compare(of_round, other, changed);
  } else {
    Runs& runs = of_round.waiting[node];
    Put(runs, first, {last, digest});
    Compare(of_round, node, changed);
    Join(runs);
    Compare(of_round, node, changed);
  }
  Judge(round, of_round, changed, member_count, /*is_over=*/false, differences);
  std::erase_if(of_round.waiting, [](const auto& runs) { return runs.second.empty(); });
  if (of_round.of_first_node.empty() && of_round.waiting.empty()) rounds_.erase(round);
  if (rounds_.size() > kMostRounds) {
    // Nobody speaks of it any more.
    Judge(rounds_.begin()->first, rounds_.begin()->second, kAllKeys, member_count, /*is_over=*/true, differences);
    rounds_.erase(rounds_.begin());
  }
  return differences;
}

ResultDigests::Differences ResultDigests::NoteUnread(NodeId node, Round round, size_t member_count) {
  Differences differences;
  const auto known = rounds_.find(round);
  if (known == rounds_.end() && rounds_.size() >= kMostRounds) return differences;
  OfRound& of_round = rounds_[round];
  if (!of_round.unread.insert(node).second) return differences;
  Judge(round, of_round, kAllKeys, member_count, /*is_over=*/false, differences);
  return differences;
}

void ResultDigests::Put(Runs& runs, KeyId first, Run run) {
  auto next = runs.lower_bound(first);
  const bool is_known =
      next != runs.end() && next->first == first && next->second.last == run.last && next->second.digest == run.digest;
  if (is_known) return;
  if (next != runs.begin() && std::prev(next)->second.last >= first) --next;
  while (next != runs.end() && next->first <= run.last) {
    for (const auto& [node, stance] : std::exchange(next->second.stances, {})) Forget(runs, node, stance);
    next = runs.erase(next);
  }
  runs[first] = std::move(run);
}

void ResultDigests::Forget(Runs& runs, NodeId node, const Stance& stance) {
  for (auto run = runs.lower_bound(stance.first); run != runs.end() && run->first <= stance.last; ++run) {
    run->second.stances.erase(node);
  }
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

void ResultDigests::Compare(OfRound& round, NodeId node, KeyRun& changed) {
  Runs& own = round.waiting.at(node);
  for (auto run = own.begin(); run != own.end();) {
    const auto [begin, end] = FindSame(round.of_first_node, run->first, run->second);
    if (begin == end) {
      ++run;
      continue;
    }
    Note(round.of_first_node, begin, end, node, run->second);
    changed = {std::min(changed.first, run->first), std::max(changed.last, run->second.last)};
    run = own.erase(run);
  }
}

void ResultDigests::Note(Runs& runs, Runs::iterator begin, Runs::iterator end, NodeId node, const Run& said) {
  const KeyId first = begin->first;
  uint64_t digest = 0;
  for (auto run = begin; run != end; ++run) {
    digest += run->second.digest;
    const auto former = run->second.stances.find(node);
    if (former != run->second.stances.end()) Forget(runs, node, Stance(former->second));
  }
  const uint64_t difference = said.digest - digest;
  for (auto run = begin; run != end; ++run) {
    // Whoever agrees on all agrees on each.
    run->second.stances[node] =
        difference == 0 ? Stance{run->first, run->second.last} : Stance{first, said.last, difference};
  }
}

void ResultDigests::Judge(Round number, OfRound& round, const KeyRun& changed, size_t member_count, bool is_over,
                          Differences& differences) {
  Runs& runs = round.of_first_node;
  auto begin = runs.upper_bound(changed.first);
  if (begin != runs.begin()) --begin;
  if (begin != runs.end()) {
    KeyId first = begin->first;
    do {
      begin = runs.lower_bound(first);
      for (const auto& [node, stance] : begin->second.stances) first = std::min(first, stance.first);
    } while (first < begin->first);
  }
  while (begin != runs.end() && begin->first <= changed.last) {
    KeyId last = begin->second.last;
    bool differs = false;
    bool is_complete = true;
    auto end = begin;
    for (; end != runs.end() && end->first <= last; ++end) {
      is_complete = is_complete && end->second.stances.size() + 1 >= member_count;
      for (const auto& [node, stance] : end->second.stances) {
        last = std::max(last, stance.last);
        differs = differs || stance.difference != 0;
      }
    }
    if (differs) Judge(number, round, begin, end, member_count, is_over, differences);
    begin = is_complete ? runs.erase(begin, end) : end;
  }
}

void ResultDigests::Judge(Round number, OfRound& round, Runs::const_iterator begin, Runs::const_iterator end,
                          size_t member_count, bool is_over, Differences& differences) {
  // The digests of those who have spoken of all these runs.
  std::map<NodeId, uint64_t> digests;
  for (auto run = begin; run != end; ++run) digests[round.first_node] += run->second.digest;
  for (const auto& [node, first_stance] : begin->second.stances) {
    uint64_t digest = digests[round.first_node];
    bool has_spoken = true;
    for (auto run = begin; run != end && has_spoken; ++run) {
      const auto stance = run->second.stances.find(node);
      has_spoken = stance != run->second.stances.end();
      if (has_spoken && stance->second.first == run->first) digest += stance->second.difference;
    }
    if (has_spoken) digests[node] = digest;
  }
  const KeyId last = std::prev(end)->second.last;
  const auto add = [&](const auto& wrong, const auto& other, bool is_outlier) {
    differences.push_back(
        {number, begin->first, last, wrong.first, wrong.second, other.first, other.second, is_outlier});
  };
  for (const auto& right : digests) {
    const auto agrees = [&right](const auto& digest) { return digest.second == right.second; };
    if (2 * static_cast<size_t>(std::count_if(digests.begin(), digests.end(), agrees)) <= member_count) continue;
    for (const auto& digest : digests) {
      if (!agrees(digest) && round.told.insert(digest.first).second) add(digest, right, /*is_outlier=*/true);
    }
    return;
  }
  size_t spoken = digests.size();
  for (const NodeId node : round.unread) spoken += digests.count(node) == 0 ? 1 : 0;
  const bool is_more_to_come = spoken < member_count && !is_over;
  if (is_more_to_come || !round.told.empty()) return;
  for (const auto& digest : digests) {
    if (digest.second != digests[round.first_node]) return add(*digests.find(round.first_node), digest, false);
  }
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
