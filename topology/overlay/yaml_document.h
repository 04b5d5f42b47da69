// A YAML text as a tree of values with their places, without what a configuration must not have: duplicate keys, a
// second document, tags, aliases that lead to themselves or blow up, and deep nesting. Immutable after Parse;
// thread-compatible.
#ifndef BANYAN_TOPOLOGY_OVERLAY_YAML_DOCUMENT_H_
#define BANYAN_TOPOLOGY_OVERLAY_YAML_DOCUMENT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {

inline constexpr int kMaxYamlDepth = 32;
// Counted after aliases are followed.
inline constexpr int64_t kMaxYamlValues = 1000 * 1000;

struct YamlValue;

struct YamlEntry {
  std::string key;
  FilePlace place;
  const YamlValue* value = nullptr;
};

struct YamlValue {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  FilePlace place;
  int64_t values = 1;   // this one and all below it, aliases followed
  bool quoted = false;  // scalar
  std::string scalar;
  std::vector<const YamlValue*> items;  // sequence
  std::vector<YamlEntry> entries;       // map, in file order
};

class YamlDocument {
 public:
  // INVALID_ARGUMENT reads `file:line:column: ...` and says what to do.
  static absl::StatusOr<YamlDocument> Parse(absl::string_view text, absl::string_view file_name);

  YamlDocument(YamlDocument&&) = default;
  YamlDocument& operator=(YamlDocument&&) = default;

  const YamlValue& root() const { return *root_; }

 private:
  YamlDocument() = default;

  std::deque<YamlValue> values_;  // owns what all pointers point to
  const YamlValue* root_ = nullptr;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_YAML_DOCUMENT_H_
