// Finds the programs that this one starts: they are beside it, as they are built and as they are installed.
#ifndef BANYAN_POSIX_PROGRAM_PATH_H_
#define BANYAN_POSIX_PROGRAM_PATH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// The file that this process runs.
absl::StatusOr<std::string> OwnProgram();

// The program that is built at `build_path` ("examples/fashion_mnist/trainer", from the root of the repository). It is
// looked for in the build tree of this program and, by its last name, in its directory. NOT_FOUND says where it was
// expected.
absl::StatusOr<std::string> FindProgram(absl::string_view build_path);
// The same for a program in `directory`, which has this one in it.
absl::StatusOr<std::string> FindProgramFrom(const std::string& directory, absl::string_view build_path);

}  // namespace banyan

#endif  // BANYAN_POSIX_PROGRAM_PATH_H_
