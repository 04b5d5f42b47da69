#include "tests/tidy/layering_check.h"

#include <map>
#include <regex>
#include <utility>

#include "tests/tidy/code_text.h"

namespace banyan {
namespace {

// A folder depends on its own level and on lower ones.
const std::map<std::string, int>& Levels() {
  static const std::map<std::string, int> kLevels = {
      {"third_party", -1}, {"core", 0},     {"proto", 0},     {"topology", 1}, {"awareness", 1},
      {"compression", 1},  {"node", 2},     {"scheduler", 2}, {"runtime", 3},  {"sim", 3},
      {"tools", 4},        {"examples", 4}, {"bench", 4},     {"tests", 4},    {"deploy/wan", 4}};
  return kLevels;
}

// Where the first reference from one folder to another stands.
struct Reference {
  const SourceFile* file;
  int line;
  std::string name;
};
using References = std::map<std::pair<std::string, std::string>, std::vector<Reference>>;

// The folder that has the level: the first one, but for the only code below deploy/, which programs are built of while
// what lies beside it packs the programs.
std::string LevelFolder(const std::string& path) {
  static const std::string kEmulator = "deploy/wan";
  return path.starts_with(kEmulator) ? kEmulator : path.substr(0, path.find('/'));
}

void CollectIncludes(const SourceFile& file, References& references) {
  for (const Include& include : Includes(file.text)) {
    std::string target = LevelFolder(include.name);
    if (include.quoted && Levels().contains(target)) {
      references[{LevelFolder(file.path), target}].push_back({&file, include.line, include.name});
    }
  }
}

// Labels that only say who may look are no dependencies.
void CollectLabels(const SourceFile& file, References& references) {
  static const std::regex kLabel(R"re("//([a-z_]+)([^"]*)")re");
  int number = 0;
  for (const std::string& line : Lines(file.text)) {
    ++number;
    for (std::sregex_iterator it(line.begin(), line.end(), kLabel), end; it != end; ++it) {
      std::string rest = (*it)[2];
      std::string target = LevelFolder((*it)[1].str() + rest);
      target = target.substr(0, target.find(':'));
      if (rest.ends_with(":__pkg__") || rest.ends_with(":__subpackages__") || !Levels().contains(target)) continue;
      references[{LevelFolder(file.path), target}].push_back({&file, number, it->str()});
    }
  }
}

References CollectReferences(const std::vector<SourceFile>& files) {
  References references;
  for (const SourceFile& file : files) {
    if (!Levels().contains(LevelFolder(file.path))) continue;
    if (file.IsCode()) CollectIncludes(file, references);
    if (file.IsBuildFile()) CollectLabels(file, references);
  }
  return references;
}

bool MayPointBothWays(const std::string& a, const std::string& b) {
  return a == b || (a == "core" && b == "proto") || (a == "proto" && b == "core");
}

}  // namespace

std::vector<std::string> CheckLayering(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (file.IsCode() && !Levels().contains(LevelFolder(file.path))) {
      findings.push_back(Finding(file, 1, "lies in a folder without a level: see Levels() of this check"));
    }
  }
  References references = CollectReferences(files);
  for (const auto& [pair, places] : references) {
    const auto& [from, to] = pair;
    bool upwards = Levels().at(to) > Levels().at(from);
    bool circular = !MayPointBothWays(from, to) && references.contains({to, from});
    if (!upwards && !(circular && Levels().at(to) == Levels().at(from))) continue;
    for (const Reference& place : places) {
      findings.push_back(Finding(*place.file, place.line,
                                 from + "/ may not depend on " + to + "/ (" + place.name +
                                     "): " + (upwards ? "it lies above" : "that depends on " + from + "/ already")));
    }
  }
  return findings;
}

}  // namespace banyan
