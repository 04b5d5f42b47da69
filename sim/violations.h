// The findings of a simulation's checkers: the rules that were broken, each with where and when. Thread-compatible;
// owned by the simulation, shared by its checkers.
#ifndef BANYAN_SIM_VIOLATIONS_H_
#define BANYAN_SIM_VIOLATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/time.h"

namespace banyan {

class Violations {
 public:
  // `rule` is a short name such as "exactly once".
  void Add(Timestamp now, const std::string& rule, const std::string& what);

  bool empty() const { return count_ == 0; }
  int64_t count() const { return count_; }
  bool Has(const std::string& rule) const;
  // The first of them, one per line.
  std::string Report() const;

 private:
  static constexpr size_t kKept = 20;

  struct Violation {
    Timestamp when;
    std::string rule;
    std::string what;
  };
  std::vector<Violation> first_;
  int64_t count_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_VIOLATIONS_H_
