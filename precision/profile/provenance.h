// Where a file of the precision runtime comes from. Plain value, and its reading.
#ifndef BANYAN_PRECISION_PROFILE_PROVENANCE_H_
#define BANYAN_PRECISION_PROFILE_PROVENANCE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

struct Provenance {
  std::string source;    // what it was made from
  std::string made_by;   // which program, or who
  std::string evidence;  // what shows that it is right; may be empty
};

// Reads the map `provenance`, which must be there, of `file`.
Provenance ReadProvenance(YamlMapReader& file, YamlProblems& problems);

// Checks that `schema` is `known`.
void ReadSchema(YamlMapReader& file, int known, absl::string_view what, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_PROVENANCE_H_
