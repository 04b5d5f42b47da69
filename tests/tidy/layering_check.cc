#include "tests/tidy/layering_check.h"

#include <cstddef>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "tests/tidy/code_text.h"
#include "tests/tidy/cycle_search.h"

namespace banyan {
namespace {

// A folder depends on sisters of its own floor and of lower ones.
const std::map<std::string, int>& Floors() {
  static const std::map<std::string, int> kFloors = {{"third_party", -1},
                                                     {"core", 0},
                                                     {"proto", 1},
                                                     {"protocol", 2},
                                                     {"posix", 2},
                                                     {"topology", 3},
                                                     {"awareness", 3},
                                                     {"compression", 3},
                                                     {"precision", 3},
                                                     {"access", 3},
                                                     {"tracing", 3},
                                                     {"node", 4},
                                                     {"scheduler", 4},
                                                     {"runtime", 5},
                                                     {"sim", 5},
                                                     {"wan", 6},
                                                     {"tools", 7},
                                                     {"examples", 7},
                                                     {"bench", 7},
                                                     {"tests", 7},
                                                     {"fuzz", 8},
                                                     {"python", 7},

                                                     {"proto/compression", 0},
                                                     {"proto/transcript", 1},
                                                     {"proto/precision", 0},
                                                     {"proto/tracing", 0},

                                                     {"topology/overlay", 0},
                                                     {"topology/samples", 0},
                                                     {"topology/inference", 0},
                                                     {"topology/evaluation", 0},
                                                     {"topology/planners", 1},
                                                     {"topology/packing", 2},
                                                     {"topology/fit", 3},
                                                     {"topology/advice", 3},

                                                     {"compression/kernels", 0},
                                                     {"compression/control", 0},
                                                     {"compression/codecs", 1},
                                                     {"compression/trimmable", 1},
                                                     {"compression/counts", 1},
                                                     {"compression/cuda", 2},

                                                     {"node/link", 0},
                                                     {"node/trim", 0},
                                                     {"node/votes", 1},
                                                     {"node/peers", 1},
                                                     {"node/rounds", 2},
                                                     {"node/state", 2},
                                                     {"node/replicas", 3},
                                                     {"node/workers", 3},
                                                     {"node/transcript", 4},

                                                     {"scheduler/state", 0},
                                                     {"scheduler/members", 1},
                                                     {"scheduler/rounds", 2},
                                                     {"scheduler/policy", 3},
                                                     {"scheduler/precision", 3},
                                                     {"scheduler/epochs", 4},
                                                     {"scheduler/transfer", 4},
                                                     {"scheduler/replay", 4},

                                                     {"runtime/transport", 0},
                                                     {"runtime/http", 0},
                                                     {"runtime/metrics", 1},
                                                     {"runtime/records", 0},
                                                     {"runtime/etcd", 1},
                                                     {"runtime/workers", 1},
                                                     {"runtime/session", 2},
                                                     {"runtime/local_updates", 3},
                                                     {"runtime/c_api", 3},

                                                     {"sim/network", 0},
                                                     {"sim/training", 0},
                                                     {"sim/processes", 1},
                                                     {"sim/leadership", 2},
                                                     {"sim/checkers", 2},
                                                     {"sim/faults", 3},
                                                     {"sim/runs", 3},
                                                     {"sim/reducer", 3},
                                                     {"sim/figures", 4},
                                                     {"sim/studies", 5},

                                                     {"tools/daemon", 0},
                                                     {"tools/flags", 0},
                                                     {"tools/reports", 0},
                                                     {"tools/supervision", 0},
                                                     {"tools/terminal", 0},
                                                     {"tools/calibrate", 1},
                                                     {"tools/chaos", 1},
                                                     {"tools/demo", 1},
                                                     {"tools/doctor", 1},
                                                     {"tools/keygen", 1},
                                                     {"tools/metrics", 1},
                                                     {"tools/page", 1},
                                                     {"tools/precision_benchmark", 1},
                                                     {"tools/preflight", 1},
                                                     {"tools/replay", 1},
                                                     {"tools/trace", 1},
                                                     {"tools/view", 2},
                                                     {"tools/accuracy_benchmark", 1},
                                                     {"tools/wan_benchmark", 1}};
  return kFloors;
}

// Folders whose subfolders have floors, and so need one; the root is "".
const std::set<std::string>& Houses() {
  static const std::set<std::string> kHouses = [] {
    std::set<std::string> houses;
    for (const auto& [folder, floor] : Floors()) houses.insert(ParentFolder(folder));
    return houses;
  }();
  return kHouses;
}

int FloorOf(const std::string& folder) {
  const auto floor = Floors().find(folder);
  return floor == Floors().end() ? 0 : floor->second;
}

// Two folders of one parent, or an empty value.
using Sisters = std::optional<std::pair<std::string, std::string>>;

// Finds the sister folders in which the paths of two files part; none where one file lies in a folder around the other.
Sisters WherePathsPart(const std::string& from, const std::string& to) {
  size_t start = 0;
  while (true) {
    const size_t from_end = from.find('/', start);
    const size_t to_end = to.find('/', start);
    if (from_end == std::string::npos || to_end == std::string::npos) return std::nullopt;
    if (from.substr(0, from_end) != to.substr(0, to_end)) return {{from.substr(0, from_end), to.substr(0, to_end)}};
    start = from_end + 1;
  }
}

struct Place {
  const SourceFile* file;
  int line;
  std::string name;  // what stands there
};
using References = std::map<std::pair<std::string, std::string>, std::vector<Place>>;

void Collect(const SourceFile& file, int line, const std::string& target, const std::string& name,
             References& references) {
  const Sisters sisters = WherePathsPart(file.path, target);
  if (!sisters.has_value()) return;
  const auto& [from, to] = *sisters;
  const bool below_root = from.find('/') != std::string::npos;
  if (below_root ? IsTest(file.path) || IsTest(target) : !Floors().contains(from) || !Floors().contains(to)) return;
  references[*sisters].push_back({&file, line, name});
}

void CollectIncludes(const SourceFile& file, References& references) {
  for (const Include& include : Includes(file.text)) {
    if (include.quoted) Collect(file, include.line, include.name, include.name, references);
  }
}

// Labels that only say who may look are no dependencies. Those inside of a folder stand for tests and programs alike.
void CollectLabels(const SourceFile& file, References& references) {
  static const std::regex kLabel(R"re("//([a-z_]+)([^"]*)")re");
  int number = 0;
  for (const std::string& line : Lines(file.text)) {
    ++number;
    for (std::sregex_iterator it(line.begin(), line.end(), kLabel), end; it != end; ++it) {
      const std::string rest = (*it)[2];
      if (rest.ends_with(":__pkg__") || rest.ends_with(":__subpackages__") || (*it)[1] == file.Folder()) continue;
      Collect(file, number, (*it)[1].str() + "/", it->str(), references);
    }
  }
}

References CollectReferences(const std::vector<SourceFile>& files) {
  References references;
  for (const SourceFile& file : files) {
    if (file.IsCode()) CollectIncludes(file, references);
    if (file.IsBuildFile()) CollectLabels(file, references);
  }
  return references;
}

std::string Refusal(const std::pair<std::string, std::string>& sisters, const Place& place) {
  return sisters.first + "/ may not depend on " + sisters.second + "/ (" + place.name + "): ";
}

void CheckFloors(const References& references, std::vector<std::string>& findings) {
  for (const auto& [sisters, places] : references) {
    if (FloorOf(sisters.second) <= FloorOf(sisters.first)) continue;
    for (const Place& place : places) {
      findings.push_back(Finding(*place.file, place.line, Refusal(sisters, place) + "it lies above"));
    }
  }
}

// Every arrow of a circle is a finding: which of them is wrong, nobody can tell here.
void CheckCircles(const References& references, std::vector<std::string>& findings) {
  Arrows arrows;
  for (const auto& [sisters, places] : references) {
    if (FloorOf(sisters.first) == FloorOf(sisters.second)) arrows[sisters.first].insert(sisters.second);
  }
  for (const std::vector<std::string>& cycle : FindCycles(arrows)) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      const std::pair<std::string, std::string> sisters = {cycle[i], cycle[(i + 1) % cycle.size()]};
      for (const Place& place : references.at(sisters)) {
        findings.push_back(
            Finding(*place.file, place.line, Refusal(sisters, place) + "that closes the circle " + CycleText(cycle)));
      }
    }
  }
}

void CheckFloorIsKnown(const SourceFile& file, std::vector<std::string>& findings) {
  if (!file.IsCode()) return;
  if (file.Folder().empty()) {
    findings.push_back(Finding(file, 1, "lies in no folder: code has a folder with a floor"));
  }
  for (std::string folder = ParentFolder(file.path); !folder.empty(); folder = ParentFolder(folder)) {
    if (!Houses().contains(ParentFolder(folder)) || Floors().contains(folder) || folder.ends_with("/testing")) continue;
    findings.push_back(Finding(file, 1, "lies in " + folder + "/, which has no floor: see Floors() of this check"));
  }
}

}  // namespace

std::vector<std::string> CheckLayering(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) CheckFloorIsKnown(file, findings);
  const References references = CollectReferences(files);
  CheckFloors(references, findings);
  CheckCircles(references, findings);
  return findings;
}

}  // namespace banyan
