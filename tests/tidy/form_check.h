// The rules for the form of a file. Pure function.
#ifndef BANYAN_TESTS_TIDY_FORM_CHECK_H_
#define BANYAN_TESTS_TIDY_FORM_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds a code file, build file or script of more than 500 lines, a header without the guard of its path or without a
// leading comment, and marks of unfinished work in any file.
std::vector<std::string> CheckForm(const SourceFile& file);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_FORM_CHECK_H_
