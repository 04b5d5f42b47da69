#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

// The format's own list, so that reading a file does not depend on the planners.
const char* const kPlanners[] = {"fapt", "star", "bkt", "mst", "custom", "packed"};
constexpr int64_t kMaxCustomTrees = 1024;
// What users may lose by writing 0.33 three times.
constexpr double kShareTolerance = 0.02;
constexpr NumberRange kSomeShare = {.low = 0, .high = 1, .low_allowed = false};

std::map<std::string, std::string> ReadHalf(const YamlValue& value, const std::string& where,
                                            const std::set<std::string>& names, YamlProblems& problems) {
  std::map<std::string, std::string> half;
  if (value.kind != YamlValue::Kind::kMap) {
    problems.Add(value.place, absl::StrCat(where, ": expected a map such as {n2: n1, n3: n1} from node to parent, got ",
                                           Describe(value)));
    return half;
  }
  for (const YamlEntry& entry : value.entries) {
    if (!problems.status().ok()) return half;
    const std::string parent = ReadName(*entry.value, absl::StrCat(where, ".", entry.key), problems).value_or("");
    CheckNodeName(entry.key, entry.place, where, names, problems);
    CheckNodeName(parent, entry.place, where, names, problems);
    half.emplace(entry.key, parent);
  }
  return half;
}

CustomTreeConfig ReadTree(const YamlValue& value, const std::string& where, const std::set<std::string>& names,
                          YamlProblems& problems) {
  CustomTreeConfig tree;
  YamlMapReader map(value, where, problems);
  if (const YamlValue* root = map.Require("root"); root != nullptr) {
    tree.root = ReadName(*root, map.PathOf("root"), problems).value_or("");
    CheckNodeName(tree.root, root->place, map.PathOf("root"), names, problems);
  }
  if (const YamlValue* share = map.Find("share"); share != nullptr) {
    tree.share = ReadNumber(*share, map.PathOf("share"), kSomeShare, problems);
  }
  if (const YamlValue* reduce = map.Require("reduce"); reduce != nullptr) {
    tree.reduce = ReadHalf(*reduce, map.PathOf("reduce"), names, problems);
  }
  if (const YamlValue* broadcast = map.Find("broadcast"); broadcast != nullptr) {
    tree.broadcast = ReadHalf(*broadcast, map.PathOf("broadcast"), names, problems);
  }
  map.Finish();
  return tree;
}

// Makes shares that sum to about 1 sum to 1.
void ScaleShares(std::vector<CustomTreeConfig>& trees, const FilePlace& place, YamlProblems& problems) {
  double sum = 0;
  size_t with_share = 0;
  for (const CustomTreeConfig& tree : trees) {
    sum += tree.share.value_or(0);
    if (tree.share.has_value()) ++with_share;
  }
  if (with_share == 0) return;
  if (with_share < trees.size()) {
    problems.Add(place, "topology.trees: some trees have a share and some have none; give all of them one, or none");
    return;
  }
  if (std::abs(sum - 1) > kShareTolerance) {
    problems.Add(place, absl::StrCat("topology.trees: the shares must sum to 1, got ", sum));
    return;
  }
  for (CustomTreeConfig& tree : trees) *tree.share /= sum;
}

std::vector<CustomTreeConfig> ReadTrees(const YamlValue& value, const std::set<std::string>& names,
                                        YamlProblems& problems) {
  std::vector<CustomTreeConfig> trees;
  if (value.kind != YamlValue::Kind::kSequence || value.items.empty() ||
      value.items.size() > static_cast<size_t>(kMaxCustomTrees)) {
    problems.Add(value.place, absl::StrCat("topology.trees: expected a list of 1 to ", kMaxCustomTrees,
                                           " trees such as {root: n1, reduce: {n2: n1}}, got ", Describe(value)));
    return trees;
  }
  for (size_t i = 0; i < value.items.size() && problems.status().ok(); ++i) {
    trees.push_back(ReadTree(*value.items[i], absl::StrCat("topology.trees[", i, "]"), names, problems));
  }
  ScaleShares(trees, value.place, problems);
  return trees;
}

// The keys that not all planners have a use for, and the planners that have.
struct KeyUse {
  const char* key;
  std::vector<std::string> planners;
};
const std::vector<KeyUse>& KeyUses() {
  static const auto& uses = *new std::vector<KeyUse>{{"roots", {"fapt", "packed"}},
                                                     {"root", {"star", "bkt", "mst", "fapt", "packed"}},
                                                     {"k", {"bkt"}},
                                                     {"shares", {"fapt", "custom"}},
                                                     {"budget_per_round", {"packed"}},
                                                     {"trees", {"custom"}}};
  return uses;
}

// Refuses keys that say nothing to the planner.
void CheckUses(YamlMapReader& map, const std::string& planner, YamlProblems& problems) {
  for (const KeyUse& use : KeyUses()) {
    if (map.Find(use.key) == nullptr) continue;
    const std::string fault = UseFault(use.key, planner);
    if (fault.empty()) continue;
    problems.Add(map.PlaceOf(use.key), absl::StrCat(map.PathOf(use.key), ": ", fault, "; leave it out, or choose ",
                                                    "'planner: ", use.planners.front(), "'"));
  }
}

}  // namespace

std::vector<std::string> PlannersWith(absl::string_view key) {
  for (const KeyUse& use : KeyUses()) {
    if (use.key == key) return use.planners;
  }
  return {std::begin(kPlanners), std::end(kPlanners)};
}

std::string UseFault(absl::string_view key, const std::string& planner) {
  const std::vector<std::string> planners = PlannersWith(key);
  if (std::find(planners.begin(), planners.end(), planner) != planners.end()) return "";
  const bool is_one = planners.size() == 1;
  return absl::StrCat("only the planner", is_one ? " " : "s ", absl::StrJoin(planners, ", "), is_one ? " has" : " have",
                      " it, not '", planner, "'");
}

TopologyConfig ReadTopology(const YamlValue& value, const std::set<std::string>& names, YamlProblems& problems) {
  TopologyConfig config;
  YamlMapReader map(value, "topology", problems);
  if (const YamlValue* planner = map.Find("planner"); planner != nullptr) {
    const std::vector<std::string> known(std::begin(kPlanners), std::end(kPlanners));
    config.planner = ReadWord(*planner, "topology.planner", known, problems).value_or(config.planner);
  }
  map.IntegerOr("roots", "all", 1, static_cast<int64_t>(names.size()), config.roots);
  if (const YamlValue* root = map.Find("root"); root != nullptr) {
    config.root = ReadName(*root, "topology.root", problems);
    CheckNodeName(config.root.value_or(""), root->place, "topology.root", names, problems);
  }
  map.Integer("k", 1, kMaxOverlayNodes, config.arity);
  if (const YamlValue* shares = map.Find("shares"); shares != nullptr) {
    const bool balanced = ReadWord(*shares, "topology.shares", {"quality", "balanced"}, problems) == "balanced";
    config.shares = balanced ? ShareRule::kBalanced : ShareRule::kQuality;
  }
  if (const YamlValue* trees = map.Find("trees"); trees != nullptr) config.trees = ReadTrees(*trees, names, problems);
  if (config.planner == "custom" && config.trees.empty()) {
    problems.Add(map.place(), "topology.trees is missing; planner 'custom' needs it");
  }
  if (const YamlValue* budget = map.Find("budget_per_round"); budget != nullptr) {
    config.budget_per_round = ReadNumber(*budget, "topology.budget_per_round", {.low = 0, .high = 1e15}, problems);
  }
  CheckUses(map, config.planner, problems);
  double update_seconds = absl::ToDoubleSeconds(config.update_interval);
  map.Number("update_seconds", {.low = 0, .high = 1e6, .low_allowed = false, .unit = NumberUnit::kSeconds},
             update_seconds);
  config.update_interval = absl::Seconds(update_seconds);
  // Not the paper's UPDATE_RATE: see TopologyConfig.
  map.Number("update_rate", {.low = 0, .high = 1000}, config.update_rate);
  map.Finish();
  return config;
}

}  // namespace banyan
