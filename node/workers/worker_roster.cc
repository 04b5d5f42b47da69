#include "node/workers/worker_roster.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {

absl::Status WorkerRoster::Attach(WorkerId worker) {
  if (!Contains(worker)) {
    return absl::InvalidArgumentError(absl::StrCat("worker ", worker.value(),
                                                   " attached, but this node has workers 0 to ", size() - 1,
                                                   "; raise `nodes.workers` in overlay.yaml for more"));
  }
  if (IsAttached(worker)) {
    const std::string free = FreeWorkers();
    return absl::AlreadyExistsError(absl::StrCat("worker ", worker.value(), " is attached already; ",
                                                 free.empty() ? "no other one is free" : "free: worker ", free));
  }
  if (Is(worker, State::kDone)) {
    return absl::UnavailableError(absl::StrCat("worker ", worker.value(), " has left the job; restart the job"));
  }
  states_[worker.value()] = State::kAttached;
  return absl::OkStatus();
}

void WorkerRoster::Detach(WorkerId worker, bool is_clean) {
  states_[worker.value()] = is_clean ? State::kDone : State::kDead;
}

std::string WorkerRoster::FreeWorkers() const {
  constexpr size_t kMostShown = 8;
  std::vector<std::string> free;
  for (uint32_t worker = 0; worker < size(); ++worker) {
    if (!Is(WorkerId(worker), State::kAbsent) && !Is(WorkerId(worker), State::kDead)) continue;
    if (free.size() == kMostShown) return absl::StrCat(absl::StrJoin(free, ", "), ", ...");
    free.push_back(absl::StrCat(worker));
  }
  return absl::StrJoin(free, ", ");
}

uint32_t WorkerRoster::Count(State state) const {
  return static_cast<uint32_t>(std::count(states_.begin(), states_.end(), state));
}

}  // namespace banyan
