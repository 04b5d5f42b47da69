// The rule that advice names what exists: flags and commands that the command lines declare, and keys of the overlay.
// Pure function.
#ifndef BANYAN_TESTS_TIDY_ADVICE_CHECK_H_
#define BANYAN_TESTS_TIDY_ADVICE_CHECK_H_

#include <string>
#include <vector>

#include "tests/tidy/source_file.h"

namespace banyan {

// Finds in the literals of code that is no test, and in what pages show as code,
// - flags (`--name`) that no command line of tools/, examples/ or bench/ and no program in Python declares; after
// `banyan COMMAND`, that this
//   command does not declare. What follows the name of another program is that program's.
// - commands (`banyan NAME`) that do not exist,
// - keys (`section.key`) that docs/configuration.md does not have, which a test holds against the parser.
std::vector<std::string> CheckAdvice(const std::vector<SourceFile>& files);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_ADVICE_CHECK_H_
