// When a worker that trains by itself has to do with others. Deterministic; thread-compatible; owned by LocalUpdates.
//
// Invariants:
// - Fragment i of n is sent at the steps that leave a remainder of i * sync_every / n, and finished `delay` steps
// later.
// - At one step a fragment is finished before it is sent again.
#ifndef BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_ACTIONS_H_
#define BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_ACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace banyan {

struct LocalAction {
  enum class Kind : uint8_t { kSiteMean, kStart, kFinish };
  Kind kind = Kind::kSiteMean;
  size_t fragment = 0;  // of the other two

  friend bool operator==(const LocalAction&, const LocalAction&) = default;
};

class LocalActions {
 public:
  struct Schedule {
    int64_t sync_every = 1;
    int64_t fragments = 1;
    int64_t delay = 0;
    int64_t site_every = 0;  // 0: never
  };

  explicit LocalActions(const Schedule& schedule) : schedule_(schedule) {}

  // Adds what is due after local step `step`, counted from 1.
  void Add(int64_t step);
  // What is due and not yet done, in its order.
  const std::deque<LocalAction>& due() const { return due_; }
  // REQUIRES: something is due.
  void PopFirst() { due_.pop_front(); }

 private:
  const Schedule schedule_;
  std::deque<LocalAction> due_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_ACTIONS_H_
