#include "topology/overlay/yaml_keys.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

bool HasUse(const YamlKey& key, const std::vector<YamlKey>& keys) {
  const std::vector<std::string> words = WordsOf(key.only);
  return words.empty() || std::find(words.begin(), words.end(), keys.front().slot.text()) != words.end();
}

}  // namespace

std::vector<std::string> WordsOf(absl::string_view only) { return absl::StrSplit(only, ' ', absl::SkipEmpty()); }

void ReadKeys(YamlMapReader& map, const std::vector<YamlKey>& keys, YamlProblems& problems, const UnusedText& unused) {
  for (const YamlKey& key : keys) {
    const YamlValue* const value = key.slot.is_required ? map.Require(key.name) : map.Find(key.name);
    if (value == nullptr) continue;
    const std::string path = map.PathOf(key.name);
    const YamlSpot at = {*value, path, problems};
    if (!HasUse(key, keys)) at.Refuse(unused(key));
    key.slot.read(at);
  }
}

std::vector<YamlKey> LeafKeys(const std::vector<YamlKey>& keys) {
  std::vector<YamlKey> leaves;
  for (const YamlKey& key : keys) {
    if (key.slot.text != nullptr) leaves.push_back(key);
    for (YamlKey& leaf : LeafKeys(key.slot.keys)) {
      leaf.name = absl::StrCat(key.name, ".", leaf.name);
      leaves.push_back(std::move(leaf));
    }
  }
  return leaves;
}

std::string ReportText(const YamlSlot& slot) {
  std::string text = slot.text();
  return text.empty() ? slot.none : text;
}

std::string FileText(const YamlSlot& slot) { return slot.yaml != nullptr ? slot.yaml() : slot.text(); }

std::string FileText(const std::vector<YamlKey>& keys) {
  std::string text;
  for (const YamlKey& key : keys) {
    const std::string value = HasUse(key, keys) ? FileText(key.slot) : "";
    if (!value.empty()) absl::StrAppend(&text, text.empty() ? "{" : ", ", key.name, ": ", value);
  }
  return text.empty() ? text : text + "}";
}

std::string QuotedText(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string ExactText(double value) {
  char digits[32] = {};
  return std::string(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
}

}  // namespace banyan
