// The declarations at namespace level of a C++ text, as far as tidy checks need them. Pure functions; no parser: they
// know what the repository's form lets stand there.
#ifndef BANYAN_TESTS_TIDY_DECLARATIONS_H_
#define BANYAN_TESTS_TIDY_DECLARATIONS_H_

#include <optional>
#include <string>
#include <vector>

namespace banyan {

// One declaration outside of all classes and functions.
struct Declaration {
  int line = 0;                     // of its first token, from 1
  std::string scope;                // the namespaces around it, such as "banyan::wan"
  bool anonymous = false;           // one of these has no name
  std::vector<std::string> tokens;  // names and single marks, up to its '{' or ';'; '::' is one mark
  bool has_body = false;            // it ends with '{'
};

// Returns the declarations of `text` in order; namespaces, comments and preprocessor lines are none.
std::vector<Declaration> Declarations(const std::string& text);

// Returns the name of the class, struct, union, enumeration or alias that `declaration` defines. None where it only
// declares one, defines a member of another class, specialises a template, or is something else.
std::optional<std::string> DefinedType(const Declaration& declaration);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_DECLARATIONS_H_
