// Books what has been pushed to tensors with error feedback against what has come back: after a Flush nothing is owed.
// Thread-compatible; owned by the checker of contributors.
//
// Who comes or goes takes along what it kept back. A flush settles nothing then, and books begin anew after it. A book
// begins with the first push of its first round: parts of that round's result may be made long before it is whole, by
// who has gone since.
#ifndef BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_
#define BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "sim/checkers/membership_watch.h"

namespace banyan {

class ReturnedDebts {
 public:
  // An element that has not come back.
  struct Miss {
    size_t element = 0;
    double owed = 0;
  };

  explicit ReturnedDebts(const MembershipWatch* membership) : membership_(membership) {}

  // Somebody came or went.
  void OnChange() { ++changes_; }
  // What has been pushed to the tensor since its last flush is not known for sure.
  void OnDoubt(size_t tensor) { doubtful_.insert(tensor); }
  // Somebody has pushed to this round of the tensor.
  void OnPushed(size_t tensor, Round round) { BeginningOf(tensor, round); }
  // Books a round of a tensor. With `is_flush` returns what is still owed of it, if anything.
  std::optional<Miss> Book(size_t tensor, Round round, absl::Span<const float> pushed, absl::Span<const float> returned,
                           bool is_flush);

 private:
  struct Beginning {
    uint64_t changes = 0;
    Epoch epoch;
  };
  struct Debt {
    std::vector<double> owed;
    double magnitude = 0;  // of all that went in; float32 is exact to a part of this
    Beginning begun;
  };

  // Returns when the round was first pushed to, or booked.
  const Beginning& BeginningOf(size_t tensor, Round round) {
    return begun_.try_emplace({tensor, round}, Beginning{changes_, membership_->epoch()}).first->second;
  }

  const MembershipWatch* const membership_;
  uint64_t changes_ = 0;
  std::map<std::pair<size_t, Round>, Beginning> begun_;  // by tensor and round
  std::map<size_t, Debt> debts_;                         // by tensor
  std::set<size_t> doubtful_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_
