// Requests of one kind that are said until they are answered: once on each connection. Thread-compatible; owned by
// SchedulerClient.
//
// Invariants:
// - Its work grows with what changes and not with what waits: a node may wait for an answer for each of its keys.
#ifndef BANYAN_NODE_UNANSWERED_REQUESTS_H_
#define BANYAN_NODE_UNANSWERED_REQUESTS_H_

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace banyan {

// `Id` tells requests apart and orders them; `Request` is what else there is to say.
template <typename Id, typename Request>
class UnansweredRequests {
 public:
  // Adds a request that is to be said; true if there was none of its `id`, which stays as it was otherwise.
  bool Add(const Id& id, Request request) {
    const bool is_new = waiting_.emplace(id, std::move(request)).second;
    if (is_new) unsaid_.insert(id);
    return is_new;
  }
  void OnAnswered(const Id& id) {
    waiting_.erase(id);
    unsaid_.erase(id);
  }
  // Removes the requests from `first` to `last`.
  void OnAnswered(const Id& first, const Id& last) {
    waiting_.erase(waiting_.lower_bound(first), waiting_.upper_bound(last));
    unsaid_.erase(unsaid_.lower_bound(first), unsaid_.upper_bound(last));
  }
  // Has everything that waits said once more.
  void SayAgain() {
    for (const auto& [id, request] : waiting_) unsaid_.insert(unsaid_.end(), id);
  }
  // Returns what is to be said now, in the order of ids.
  std::vector<std::pair<Id, Request>> TakeUnsaid() {
    std::vector<std::pair<Id, Request>> unsaid;
    unsaid.reserve(unsaid_.size());
    for (const Id& id : std::exchange(unsaid_, {})) unsaid.emplace_back(id, waiting_.at(id));
    return unsaid;
  }
  bool has_unsaid() const { return !unsaid_.empty(); }

 private:
  std::map<Id, Request> waiting_;
  std::set<Id> unsaid_;  // a part of them
};

}  // namespace banyan

#endif  // BANYAN_NODE_UNANSWERED_REQUESTS_H_
