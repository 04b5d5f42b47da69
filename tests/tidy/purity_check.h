// The rule that protocols and algorithms are pure: what they know of the world reaches them as events. Pure function.
#ifndef BANYAN_TESTS_TIDY_PURITY_CHECK_H_
#define BANYAN_TESTS_TIDY_PURITY_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds what reaches a socket, a thread, a lock, a clock, the environment, foreign randomness or a container without
// order. It looks in the folders core, proto, protocol, topology, awareness, compression, precision, node and
// scheduler. Their BUILD files may not link the libraries for it either. Tests of those folders may. No folder may use
// Abseil's locks.
std::vector<std::string> CheckPurity(const SourceFile& file);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_PURITY_CHECK_H_
