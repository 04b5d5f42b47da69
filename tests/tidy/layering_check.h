// The rule that dependencies between folders point one way, at every depth of the tree. Pure function.
#ifndef BANYAN_TESTS_TIDY_LAYERING_CHECK_H_
#define BANYAN_TESTS_TIDY_LAYERING_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Checks #includes, and the labels in BUILD files between folders at the root. An arrow counts where two paths part: it
// joins two sister folders. What lies flat in a folder may stand above or below its subfolders (CheckFileCycles holds
// these). Tests below the root may look upwards. Finds
// - arrows from a lower floor to a higher one,
// - circles of folders on one floor,
// - code in a folder without a floor, where its sisters have one.
std::vector<std::string> CheckLayering(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_LAYERING_CHECK_H_
