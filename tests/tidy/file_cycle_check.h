// The rule that files do not include each other in a circle. Pure function.
#ifndef BANYAN_TESTS_TIDY_FILE_CYCLE_CHECK_H_
#define BANYAN_TESTS_TIDY_FILE_CYCLE_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds circles of #includes, where a header and the sources of the same name count as one file. Each finding names all
// files on the way.
std::vector<std::string> CheckFileCycles(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_FILE_CYCLE_CHECK_H_
