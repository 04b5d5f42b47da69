#include "scheduler/rounds/job_quorum.h"

#include <algorithm>
#include <functional>

namespace banyan {
namespace {

constexpr double kRounding = 1e-6;

// Adds a key that follows the others in rising order.
void AddToRuns(KeyId key, Round round, std::vector<KeyProgressRun>& runs) {
  const bool goes_on =
      !runs.empty() && runs.back().round == round && runs.back().key.value() + runs.back().more_keys + 1 == key.value();
  if (goes_on) {
    ++runs.back().more_keys;
  } else {
    runs.push_back({key, round});
  }
}

}  // namespace

QuorumCounter::Outcome QuorumCounter::Report(NodeId node, const std::vector<KeyProgressRun>& runs,
                                             const std::vector<Weight>& members) {
  Outcome outcome;
  if (!is_on()) return outcome;
  for (const KeyProgressRun& run : runs) {
    for (uint64_t offset = 0; offset <= run.more_keys; ++offset) {
      const KeyId id(static_cast<uint32_t>(run.key.value() + offset));
      Key& key = keys_[id];
      Round& pushed = key.pushed[node];
      pushed = std::max(pushed, run.round);
      if (pushed < key.reached) AddToRuns(id, key.reached, outcome.missed);
      if (pushed <= key.reached) continue;
      const Round reached = Reached(key, members);
      if (reached <= key.reached) continue;
      key.reached = reached;
      AddToRuns(id, reached, outcome.news);
    }
  }
  return outcome;
}

std::vector<KeyProgressRun> QuorumCounter::Review(const std::vector<Weight>& members) {
  std::vector<KeyProgressRun> news;
  for (auto& [id, key] : keys_) {
    const Round reached = Reached(key, members);
    if (reached <= key.reached) continue;
    key.reached = reached;
    AddToRuns(id, reached, news);
  }
  return news;
}

Round QuorumCounter::Reached(const Key& key, const std::vector<Weight>& members) const {
  uint64_t all = 0;
  std::map<Round, uint64_t, std::greater<>> workers;  // that have pushed no further than this
  for (const Weight& member : members) {
    all += member.workers;
    const auto pushed = key.pushed.find(member.node);
    if (pushed != key.pushed.end()) workers[pushed->second] += member.workers;
  }
  uint64_t so_far = 0;
  for (const auto& [round, count] : workers) {
    so_far += count;
    // A share that is written in decimals may be a little more than it reads.
    if (so_far > 0 && static_cast<double>(so_far) >= quorum_ * static_cast<double>(all) - kRounding) return round;
  }
  return Round(0);
}

}  // namespace banyan
