#include "topology/overlay/overlay_reference.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "topology/overlay/overlay_keys.h"

namespace banyan {
namespace {

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

class Texts {
 public:
  Texts() {
    Add("", NetworkKeys(overlay_));
    Add("", JobKeys(overlay_));
  }

  std::vector<OverlayKeyText>& all() { return all_; }

 private:
  void Add(const std::string& prefix, const std::vector<YamlKey>& keys) {
    for (const YamlKey& key : keys) {
      const std::string path = prefix + key.name;
      if (entries_.contains(path)) {
        Add(path + ".", entries_.at(path));
      } else if (!key.slot.keys.empty()) {
        Add(path + ".", key.slot.keys);
      } else {
        all_.push_back({Shown(path), Form(key.slot), Default(key.slot),
                        key.change == KeyChange::kLive || key.change == KeyChange::kLiveOnly, key.meaning});
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
  std::vector<OverlayKeyText> all_;
};

}  // namespace

std::vector<OverlayKeyText> DescribeOverlayKeys() { return std::move(Texts().all()); }

}  // namespace banyan
