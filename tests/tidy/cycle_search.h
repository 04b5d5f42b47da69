// Cycles in what points at what. Pure function.
#ifndef BANYAN_TESTS_TIDY_CYCLE_SEARCH_H_
#define BANYAN_TESTS_TIDY_CYCLE_SEARCH_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace banyan {

// For each name the names that it points at.
using Arrows = std::map<std::string, std::set<std::string>>;

// Finds cycles in `arrows`, each as its names in order, the first one not repeated at the end. Returns none only if
// there is none; of cycles that share arrows it may return only some.
std::vector<std::vector<std::string>> FindCycles(const Arrows& arrows);

// Writes a cycle with its first name at the end again: "a -> b -> a".
std::string CycleText(const std::vector<std::string>& cycle);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_CYCLE_SEARCH_H_
