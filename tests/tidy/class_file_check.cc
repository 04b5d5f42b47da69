#include "tests/tidy/class_file_check.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/tidy/declarations.h"

namespace banyan {

std::vector<std::string> CheckClassFiles(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> sources;  // by folder and class
  for (const SourceFile& file : files) {
    const bool source = file.EndsWith(".cc") || file.EndsWith(".cu");
    if (!source || file.EndsWith("_test.cc")) continue;
    for (const Declaration& declaration : Declarations(file.text)) {
      const std::optional<std::string> name = ClassOfMethod(declaration);
      if (!name.has_value() || declaration.anonymous) continue;
      std::set<std::string>& paths = sources[{ParentFolder(file.path), declaration.scope + "::" + *name}];
      if (!paths.insert(file.path).second || paths.size() == 1) continue;
      findings.push_back(
          Finding(file, declaration.line,
                  "has methods of " + *name + ", as " + *paths.begin() + " has: make what is apart a type of its own"));
    }
  }
  return findings;
}

}  // namespace banyan
