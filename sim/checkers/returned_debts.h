// Books what has been pushed to tensors with error feedback against what has come back: after a Flush nothing is owed.
// Thread-compatible; owned by the checker of contributors.
//
// Who comes or goes takes along what it kept back. A flush settles nothing then, and books begin anew after it.
#ifndef BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_
#define BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
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
  // Books a round of a tensor. With `is_flush` returns what is still owed of it, if anything.
  std::optional<Miss> Book(size_t tensor, absl::Span<const float> pushed, absl::Span<const float> returned,
                           bool is_flush);

 private:
  struct Debt {
    std::vector<double> owed;
    double magnitude = 0;  // of all that went in; float32 is exact to a part of this
    uint64_t changes = 0;  // when the book began
    Epoch since;
  };

  const MembershipWatch* const membership_;
  uint64_t changes_ = 0;
  std::map<size_t, Debt> debts_;  // by tensor
  std::set<size_t> doubtful_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_RETURNED_DEBTS_H_
