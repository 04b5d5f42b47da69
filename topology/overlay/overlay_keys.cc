#include <map>

#include "absl/strings/str_cat.h"
#include "proto/access_list.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

constexpr char kExample[] = "{name: ada, public_key: '...'}";
constexpr char kAdvice[] =
    "; add it, or take all keys, operators and observers out: then `banyan keygen --all overlay.yaml DIR` makes those "
    "of "
    "the whole job";

PersonConfig ReadPerson(const YamlValue& value, const std::string& where, YamlProblems& problems) {
  PersonConfig person;
  person.place = value.place;
  YamlMapReader map(value, where, problems);
  if (const YamlValue* name = map.Require("name"); name != nullptr) {
    person.name = ReadName(*name, map.PathOf("name"), problems).value_or("");
  }
  if (map.Require("public_key") != nullptr) ReadPublicKey(map, person.public_key, problems);
  map.Finish();
  return person;
}

// Finds keys that two have.
class Owners {
 public:
  explicit Owners(YamlProblems& problems) : problems_(problems) {}

  void Add(const std::string& key, const std::string& owner, const FilePlace& place) {
    if (key.empty()) return;
    const auto [other, is_new] = owners_.emplace(key, owner);
    if (is_new) return;
    problems_.Add(place, absl::StrCat(other->second, " and ", owner, " have the same public_key; give each its own"));
  }
  bool empty() const { return owners_.empty(); }
  // One of them. REQUIRES: not empty.
  const std::string& any() const { return owners_.begin()->second; }

 private:
  YamlProblems& problems_;
  std::map<std::string, std::string> owners_;
};

}  // namespace

void ReadPublicKey(YamlMapReader& map, std::string& out, YamlProblems& problems) {
  const YamlValue* value = map.Find("public_key");
  if (value == nullptr) return;
  out = ReadText(*value, map.PathOf("public_key"), problems).value_or("");
  if (IsKeyText(out)) return;
  problems.Add(value->place, absl::StrCat(map.PathOf("public_key"), ": expected ", kKeyCharacters,
                                          " characters of Z85, got ", Describe(*value)));
}

std::vector<PersonConfig> ReadPeople(const YamlValue& value, const std::string& section, YamlProblems& problems) {
  std::vector<PersonConfig> people;
  if (value.kind != YamlValue::Kind::kSequence) {
    problems.Add(value.place,
                 absl::StrCat(section, ": expected a list such as [", kExample, "], got ", Describe(value)));
    return people;
  }
  for (size_t i = 0; i < value.items.size() && problems.status().ok(); ++i) {
    people.push_back(ReadPerson(*value.items[i], absl::StrCat(section, "[", i, "]"), problems));
  }
  return people;
}

void CheckKeys(const OverlayConfig& overlay, YamlProblems& problems) {
  Owners owners(problems);
  owners.Add(overlay.scheduler.public_key, "the scheduler", {});
  for (const NodeConfig& node : overlay.nodes) {
    owners.Add(node.public_key, absl::StrCat("node '", node.name, "'"), node.place);
  }
  for (const PersonConfig& person : overlay.operators) {
    owners.Add(person.public_key, absl::StrCat("operator '", person.name, "'"), person.place);
  }
  for (const PersonConfig& person : overlay.observers) {
    owners.Add(person.public_key, absl::StrCat("observer '", person.name, "'"), person.place);
  }
  if (owners.empty()) return;
  if (overlay.scheduler.public_key.empty()) {
    problems.Add(overlay.scheduler.place,
                 absl::StrCat("scheduler.public_key is missing, though ", owners.any(), " has a key", kAdvice));
  }
  for (const NodeConfig& node : overlay.nodes) {
    if (!node.public_key.empty()) continue;
    problems.Add(node.place,
                 absl::StrCat("node '", node.name, "' has no public_key, though ", owners.any(), " has one", kAdvice));
  }
}

}  // namespace banyan
