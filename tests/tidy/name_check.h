// The rule that a type has a name of its own: a reader who meets it knows which one is meant. Pure function.
#ifndef BANYAN_TESTS_TIDY_NAME_CHECK_H_
#define BANYAN_TESTS_TIDY_NAME_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds each second definition of a class, struct, union, enumeration or alias of one name in namespace banyan, whole
// tree over. Leaves out tests, and what lies in anonymous namespaces, classes and functions.
std::vector<std::string> CheckNames(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_NAME_CHECK_H_
