#include "precision/profile/provenance.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/str_format.h"

namespace banyan {

Provenance ReadProvenance(YamlMapReader& file, YamlProblems& problems) {
  Provenance provenance;
  const YamlValue* value = file.Require("provenance");
  if (value == nullptr) return provenance;
  YamlMapReader map(*value, "provenance", problems);
  ReadTextOf(map, "source", true, provenance.source, problems);
  ReadTextOf(map, "made_by", true, provenance.made_by, problems);
  ReadTextOf(map, "evidence", false, provenance.evidence, problems);
  map.Finish();
  return provenance;
}

void ReadSchema(YamlMapReader& file, int known, absl::string_view what, YamlProblems& problems) {
  const YamlValue* value = file.Require("schema");
  if (value == nullptr) return;
  const std::optional<int64_t> schema = ReadInteger(*value, "schema", 0, std::numeric_limits<int32_t>::max(), problems);
  if (!schema.has_value() || *schema == known) return;
  problems.Add(value->place,
               absl::StrFormat("schema: expected %d, which is what this version reads of %s, got %d; write the file "
                               "anew, or use the version that wrote it",
                               known, what, *schema));
}

void ReadTextOf(YamlMapReader& map, absl::string_view key, bool required, std::string& text, YamlProblems& problems) {
  const YamlValue* value = required ? map.Require(key) : map.Find(key);
  if (value == nullptr) return;
  if (std::optional<std::string> read = ReadText(*value, map.PathOf(key), problems); read.has_value()) text = *read;
}

}  // namespace banyan
