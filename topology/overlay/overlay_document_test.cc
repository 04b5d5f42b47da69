// Holds the tables of docs/reference/overlay.md against those of the keys. A failure prints what the tables should say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/overlay/overlay_keys.h"

namespace banyan {
namespace {

constexpr char kReference[] = "docs/reference/overlay.md";

std::string Plain(double number) {
  if (number >= 1 << 30 && std::exp2(std::floor(std::log2(number))) == number) {
    return absl::StrCat("2^", std::log2(number));
  }
  const std::string digits = number < 1e9 && number > 1e-3 ? absl::StrFormat("%.15g", number) : absl::StrCat(number);
  return absl::StrReplaceAll(digits, {{"e+0", "e"}, {"e-0", "e-"}, {"e+", "e"}});
}

std::string Form(const YamlSlot& slot) {
  if (!slot.words.empty()) return absl::StrJoin(slot.words, ", ");
  if (*slot.form != '\0') return slot.form;
  const char* const nouns[] = {"number", "count", "bytes", "percent", "s", "ms", "Mbit/s"};
  return absl::StrCat(nouns[static_cast<size_t>(slot.range.unit)], slot.range.low_allowed ? ", " : ", above ",
                      Plain(slot.range.low), " to ", Plain(slot.range.high));
}

std::string Default(const YamlSlot& slot) {
  if (slot.is_required) return "required";
  const std::string text = absl::StrReplaceAll(FileText(slot), {{"\"", ""}});
  if (text.empty()) return slot.range.word == nullptr ? "none" : slot.range.word;
  double number = 0;
  return absl::SimpleAtod(text, &number) ? Plain(number) : text;
}

// The rows of all keys.
class Rows {
 public:
  Rows() {
    Add("", NetworkKeys(overlay_));
    Add("", JobKeys(overlay_));
  }

  const std::vector<std::string>& all() const { return rows_; }

 private:
  void Add(const std::string& prefix, const std::vector<YamlKey>& keys) {
    for (const YamlKey& key : keys) {
      const std::string path = prefix + key.name;
      if (entries_.contains(path)) {
        Add(path + ".", entries_.at(path));
      } else if (!key.slot.keys.empty()) {
        Add(path + ".", key.slot.keys);
      } else {
        const bool is_live = key.change == KeyChange::kLive || key.change == KeyChange::kLiveOnly;
        EXPECT_STRNE(key.meaning, "") << path << " is a list whose entries have no rows here, or has no meaning";
        rows_.push_back(absl::StrCat("| `", Shown(path), "` | ", Form(key.slot), " | ", Default(key.slot), " | ",
                                     is_live ? "live | " : "| ", key.meaning, " |"));
      }
    }
  }

  // The section that is one rule has the keys of a rule, but for `keys`.
  static std::string Shown(const std::string& path) {
    return path == "compression.rules.keys" ? path
                                            : absl::StrReplaceAll(path, {{"compression.rules.", "compression."}});
  }

  OverlayConfig overlay_;
  NodeConfig node_;
  LinkConfig link_;
  SharedConfig shared_;
  PersonConfig person_;
  CustomTreeConfig tree_;
  CompressionRule rule_;
  const std::map<std::string, std::vector<YamlKey>> entries_ = {{"nodes", NodeKeys(node_)},
                                                                {"links", LinkKeys(link_)},
                                                                {"shared", SharedKeys(shared_)},
                                                                {"operators", PersonKeys(person_)},
                                                                {"observers", PersonKeys(person_)},
                                                                {"topology.trees", TreeKeys(tree_, overlay_.nodes)},
                                                                {"compression.rules", RuleKeys(rule_)}};
  std::vector<std::string> rows_;
};

// The keys of the controllers' numbers, whose table says what each controller makes of them.
std::set<std::string> ControllerKeys() {
  std::set<std::string> keys;
  for (const RatioControllerKind kind : AllRatioControllerKinds()) {
    for (const RatioNumber& number : NumbersOf(kind)) keys.insert(absl::StrCat("compression.", number.name));
  }
  return keys;
}

TEST(OverlayDocumentTest, ReferenceSaysWhatTheTableOfKeysSays) {
  std::vector<std::string> documented;
  std::set<std::string> of_controllers;
  std::ifstream file(kReference);
  const std::set<std::string> controller_keys = ControllerKeys();
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "| `")) continue;
    const std::string key = line.substr(3, line.find('`', 3) - 3);
    if (controller_keys.contains(key)) {
      EXPECT_TRUE(of_controllers.insert(key).second) << key << " has two rows";
    } else {
      documented.push_back(line);
    }
  }
  EXPECT_EQ(absl::StrJoin(documented, "\n"), absl::StrJoin(Rows().all(), "\n")) << "the rows of " << kReference;
  EXPECT_EQ(of_controllers, controller_keys) << "these keys of controllers have a row in " << kReference;
}

}  // namespace
}  // namespace banyan
