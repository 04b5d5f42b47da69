#include "tests/tidy/file_cycle_check.h"

#include <map>
#include <utility>

#include "tests/tidy/code_text.h"
#include "tests/tidy/cycle_search.h"

namespace banyan {
namespace {

// Where the first #include of one file in the other stands.
struct Place {
  const SourceFile* file;
  int line;
};

}  // namespace

std::vector<std::string> CheckFileCycles(const std::vector<SourceFile>& files) {
  Arrows arrows;
  for (const SourceFile& file : files) {
    if (file.IsCode()) arrows[Stem(file.path)];
  }
  std::map<std::pair<std::string, std::string>, Place> places;
  for (const SourceFile& file : files) {
    if (!file.IsCode()) continue;
    const std::string from = Stem(file.path);
    for (const Include& include : Includes(file.text)) {
      const std::string to = Stem(include.name);
      if (!include.quoted || to == from || !arrows.contains(to)) continue;
      arrows[from].insert(to);
      places.try_emplace({from, to}, Place{&file, include.line});
    }
  }
  std::vector<std::string> findings;
  for (const std::vector<std::string>& cycle : FindCycles(arrows)) {
    const Place& place = places.at({cycle[0], cycle[1]});
    findings.push_back(
        Finding(*place.file, place.line,
                "includes what includes it: " + CycleText(cycle) + "; move what both sides need to a file of its own"));
  }
  return findings;
}

}  // namespace banyan
