// The rule that dependencies between the folders of the repository point one way. Pure function.
#ifndef BANYAN_TESTS_TIDY_LAYERING_CHECK_H_
#define BANYAN_TESTS_TIDY_LAYERING_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds #includes and BUILD labels that point from a lower folder to a higher one, pairs of folders on one level that
// point at each other (core and proto are one module in two folders and may), and code in a folder that has no level.
std::vector<std::string> CheckLayering(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_LAYERING_CHECK_H_
