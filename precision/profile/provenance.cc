#include "precision/profile/provenance.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_format.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {

Provenance ReadProvenance(YamlMapReader& file, YamlProblems& problems) {
  Provenance provenance;
  ReadKeys(file,
           {{"provenance", Required(Map({{"source", Required(Text(provenance.source))},
                                         {"made_by", Required(Text(provenance.made_by))},
                                         {"evidence", Text(provenance.evidence)}}))}},
           problems);
  return provenance;
}

void ReadSchema(YamlMapReader& file, int known, absl::string_view what, YamlProblems& problems) {
  int schema = known;
  ReadKeys(file, {{"schema", Required(Number(schema, Count(0, std::numeric_limits<int32_t>::max())))}}, problems);
  if (schema == known) return;
  problems.Add(file.PlaceOf("schema"),
               absl::StrFormat("schema: expected %d, which is what this version reads of %s, got %d; write the file "
                               "anew, or use the version that wrote it",
                               known, what, schema));
}

}  // namespace banyan
