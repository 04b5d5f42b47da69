#include "tests/tidy/name_check.h"

#include <map>
#include <optional>

#include "tests/tidy/declarations.h"

namespace banyan {
namespace {

bool IsOfBanyan(const Declaration& declaration) {
  return !declaration.anonymous && (declaration.scope == "banyan" || declaration.scope.starts_with("banyan::"));
}

}  // namespace

std::vector<std::string> CheckNames(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  std::map<std::string, std::string> places;
  for (const SourceFile& file : files) {
    if (!file.IsCode() || file.EndsWith("_test.cc")) continue;
    for (const Declaration& declaration : Declarations(file.text)) {
      const std::optional<std::string> name = DefinedType(declaration);
      if (!name.has_value() || !IsOfBanyan(declaration)) continue;
      const std::string full_name = declaration.scope + "::" + *name;
      const auto [place, first] = places.emplace(full_name, file.path + ":" + std::to_string(declaration.line));
      if (first) continue;
      findings.push_back(Finding(file, declaration.line,
                                 "defines " + full_name + ", which " + place->second +
                                     " does already: give one of them a name that says what it is"));
    }
  }
  return findings;
}

}  // namespace banyan
