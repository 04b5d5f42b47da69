// From which rounds of a key this node abstains on its own: an open run of rounds, which has a limit while workers of
// the node fetch the training state and are to begin with a known round. Thread-compatible; owned by the key's state.
//
// Invariants:
// - A node that abstains and has no limit holds nobody up. One with a limit does, from the limit on: whoever sets it
//   sets another one, or ends the abstention.
#ifndef BANYAN_NODE_ROUNDS_ABSTENTION_H_
#define BANYAN_NODE_ROUNDS_ABSTENTION_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/ids.h"

namespace banyan {

class Abstention {
 public:
  static constexpr Round kNoLimit = Round(UINT64_MAX);

  bool is_on() const { return next_.has_value(); }
  // Begins with round `from`, unless it has begun.
  void Begin(Round from) {
    if (!is_on()) next_ = from;
  }
  // Only rounds before `before` are abstained from.
  void Limit(Round before) { before_ = before; }
  // Returns the first round that was not abstained from; none when it is not on.
  std::optional<Round> End() {
    before_ = kNoLimit;
    return std::exchange(next_, std::nullopt);
  }
  // Rounds before `first` are over.
  void SkipTo(Round first) {
    if (is_on()) next_ = std::max(*next_, first);
  }
  // The next round to abstain from; none for now.
  std::optional<Round> next() const { return is_on() && *next_ < before_ ? next_ : std::nullopt; }
  // It has been abstained from. REQUIRES: next() is one.
  void Advance() { next_ = next_->Next(); }

 private:
  std::optional<Round> next_;
  Round before_ = kNoLimit;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ABSTENTION_H_
