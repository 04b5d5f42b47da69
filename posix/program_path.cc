#include "posix/program_path.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {

absl::StatusOr<std::string> OwnProgram() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::InternalError(absl::StrCat("cannot read /proc/self/exe: ", error.message()));
  return path.string();
}

absl::StatusOr<std::string> FindProgram(absl::string_view build_path) {
  absl::StatusOr<std::string> own = OwnProgram();
  if (!own.ok()) return own.status();
  return FindProgramFrom(std::filesystem::path(*own).parent_path().string(), build_path);
}

absl::StatusOr<std::string> FindProgramFrom(const std::string& directory, absl::string_view build_path) {
  const std::filesystem::path relative{std::string(build_path)};
  const std::filesystem::path own(directory);
  // This program is built one directory below the root, or two: tools/job.
  const std::string built = (own.parent_path() / relative).string();
  const std::string installed = (own / relative.filename()).string();
  for (const std::string& path : {built, installed, (own.parent_path().parent_path() / relative).string()}) {
    if (access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path)) return path;
  }
  return absl::NotFoundError(
      absl::StrCat("expected the program ", built, " or ", installed,
                   "; it is not installed: build it, and run this, in the repository, by ./banyan build //",
                   relative.parent_path().string(), ":", relative.filename().string()));
}

}  // namespace banyan
