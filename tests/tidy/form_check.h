// The rules for the form of a file. Pure function.
#ifndef BANYAN_TESTS_TIDY_FORM_CHECK_H_
#define BANYAN_TESTS_TIDY_FORM_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds
// - headers without the guard of their path or without a leading comment,
// - marks of unfinished work, in any file,
// - citations of a design document, which is not in the repository, in any file.
std::vector<std::string> CheckForm(const SourceFile& file);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_FORM_CHECK_H_
