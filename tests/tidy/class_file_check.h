// The rule that a class has one file: one that has outgrown it becomes several types. Pure function.
#ifndef BANYAN_TESTS_TIDY_CLASS_FILE_CHECK_H_
#define BANYAN_TESTS_TIDY_CLASS_FILE_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds classes with methods in more than one source of a folder, tests and anonymous namespaces left out. One finding
// for each source beyond the first.
std::vector<std::string> CheckClassFiles(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_CLASS_FILE_CHECK_H_
