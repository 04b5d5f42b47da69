#include "tests/tidy/folder_check.h"

#include <cstddef>
#include <map>
#include <set>

namespace banyan {
namespace {

constexpr size_t kMostSources = 25;

}  // namespace

std::vector<std::string> CheckFolders(const std::vector<SourceFile>& files) {
  std::map<std::string, std::set<std::string>> sources;
  for (const SourceFile& file : files) {
    if (file.IsCode() && !IsTest(file.path)) sources[ParentFolder(file.path)].insert(Stem(file.path));
  }
  std::vector<std::string> findings;
  for (const auto& [folder, stems] : sources) {
    if (stems.size() <= kMostSources) continue;
    findings.push_back(folder + "/: holds " + std::to_string(stems.size()) + " sources, and may hold " +
                       std::to_string(kMostSources) + ": move what belongs together to a subfolder");
  }
  return findings;
}

}  // namespace banyan
