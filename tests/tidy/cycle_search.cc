#include "tests/tidy/cycle_search.h"

#include <algorithm>

namespace banyan {
namespace {

// A search in depth: a name that is met again while it is still on the path closes a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const Arrows& arrows) : arrows_(arrows) {}

  std::vector<std::vector<std::string>> Run() {
    for (const auto& [name, targets] : arrows_) Visit(name);
    return cycles_;
  }

 private:
  void Visit(const std::string& name) {
    if (!visited_.insert(name).second) {
      auto start = std::find(path_.begin(), path_.end(), name);
      if (start != path_.end()) cycles_.emplace_back(start, path_.end());
      return;
    }
    auto targets = arrows_.find(name);
    if (targets == arrows_.end()) return;
    path_.push_back(name);
    for (const std::string& target : targets->second) Visit(target);
    path_.pop_back();
  }

  const Arrows& arrows_;
  std::set<std::string> visited_;
  std::vector<std::string> path_;
  std::vector<std::vector<std::string>> cycles_;
};

}  // namespace

std::vector<std::vector<std::string>> FindCycles(const Arrows& arrows) { return CycleSearch(arrows).Run(); }

std::string CycleText(const std::vector<std::string>& cycle) {
  std::string text;
  for (const std::string& name : cycle) text += name + " -> ";
  return text + cycle.front();
}

}  // namespace banyan
