// The rule that a folder can be taken in at one look. Pure function.
#ifndef BANYAN_TESTS_TIDY_FOLDER_CHECK_H_
#define BANYAN_TESTS_TIDY_FOLDER_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds folders with more than 25 sources beside those of tests and of subfolders. A header and its sources count once.
std::vector<std::string> CheckFolders(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_FOLDER_CHECK_H_
