// Holds docs/configuration.md against the parser: every key that one of them knows, the other knows too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr char kReference[] = "docs/configuration.md";
constexpr char kRowStart[] = "| `";
constexpr char kTwoNodes[] = "nodes: [{name: n1}, {name: n2}]\n";

// The keys of the reference: what stands in backquotes at the start of a table's row.
std::set<std::string> DocumentedKeys() {
  std::set<std::string> keys;
  std::ifstream file(kReference);
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, kRowStart)) continue;
    const size_t begin = sizeof(kRowStart) - 1;
    keys.insert(line.substr(begin, line.find('`', begin) - begin));
  }
  return keys;
}

// Where the value of a key stands in a file: the text around it.
struct Place {
  std::string path;  // of the key
  std::string before;
  std::string after;
};

// Finds all keys of the file, map by map.
class KeySearch {
 public:
  KeySearch() {
    for (const std::string& key : KeysLookedFor(kTwoNodes)) {
      if (key.find('.') == std::string::npos) Note(key, {key, absl::StrCat(key, ": "), "\n"});
    }
    while (!places_.empty()) {
      const Place place = std::move(places_.front());
      places_.pop_front();
      LookInto(place, "{", "}");
      LookInto(place, "[{", "}, {}]");
    }
  }

  const std::set<std::string>& keys() const { return keys_; }

 private:
  void Note(const std::string& key, Place place) {
    if (keys_.insert(key).second) places_.push_back(std::move(place));
  }

  // Looks for keys of the map at a place, which is all there or in a list, as `open` and `close` say.
  void LookInto(const Place& place, const std::string& open, const std::string& close) {
    const std::string prefix = absl::StrCat(place.path, ".");
    const std::string before = absl::StrCat(place.before, open);
    const std::string after = absl::StrCat(close, place.after);
    const std::string others = absl::StartsWith(place.before, "nodes:") ? "" : kTwoNodes;
    for (const std::string& key : KeysLookedFor(absl::StrCat(others, before, after))) {
      if (!absl::StartsWith(key, prefix) || key.find('.', prefix.size()) != std::string::npos) continue;
      Note(key, {key, absl::StrCat(before, key.substr(prefix.size()), ": "), after});
    }
  }

  std::set<std::string> keys_;
  std::deque<Place> places_;
};

// The numbers of all controllers, which the parser looks for only where a rule names the controller.
std::set<std::string> ControllerKeys() {
  std::set<std::string> keys;
  for (const std::string& name : RatioControllerNames()) {
    keys.merge(KeysLookedFor(absl::StrCat(kTwoNodes, "compression: {codec: topk, controller: ", name, "}\n")));
  }
  return keys;
}

// A rule has the keys of the section that is one rule, and `keys` besides: they are documented once.
bool IsDocumentedAsSection(const std::string& key) {
  return absl::StartsWith(key, "compression.rules.") && key != "compression.rules.keys";
}

std::set<std::string> ParsedKeys() {
  std::set<std::string> keys = KeySearch().keys();
  keys.merge(ControllerKeys());
  std::erase_if(keys, IsDocumentedAsSection);
  return keys;
}

// Sections and lists are told by their headings and by the keys that they hold.
std::set<std::string> WithoutSections(std::set<std::string> keys) {
  const std::set<std::string> all = keys;
  std::erase_if(keys, [&all](const std::string& key) {
    const auto next = all.lower_bound(key + ".");
    return next != all.end() && absl::StartsWith(*next, key + ".");
  });
  return keys;
}

// What `some` has and `others` has not.
std::set<std::string> Without(std::set<std::string> some, const std::set<std::string>& others) {
  std::erase_if(some, [&others](const std::string& key) { return others.count(key) > 0; });
  return some;
}

TEST(OverlayDocumentTest, SearchFindsNestedKeys) {
  const std::set<std::string> keys = ParsedKeys();
  for (const char* key : {"job", "nodes.up_mbps", "links.loss_percent", "topology.trees.reduce", "aggregation.beta2",
                          "compression.rules.keys", "compression.quantize_rms", "policy.lease_seconds"}) {
    EXPECT_THAT(keys, ::testing::Contains(key));
  }
}

TEST(OverlayDocumentTest, ReferenceHasTheParsersKeysAndNoOther) {
  const std::set<std::string> documented = DocumentedKeys();
  const std::set<std::string> parsed = WithoutSections(ParsedKeys());
  EXPECT_THAT(Without(parsed, documented), ::testing::IsEmpty()) << "these keys have no row in " << kReference;
  EXPECT_THAT(Without(documented, parsed), ::testing::IsEmpty()) << "the parser knows none of these keys";
}

}  // namespace
}  // namespace banyan
