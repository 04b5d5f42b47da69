#include "posix/work_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<WorkDirectory>> WorkDirectory::Make(absl::string_view prefix) {
  std::string path = absl::StrCat("/tmp/", prefix, "-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return absl::InternalError(absl::StrCat("cannot make a directory ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<WorkDirectory>(new WorkDirectory(std::move(path)));
}

WorkDirectory::WorkDirectory(std::string path) : path_(std::move(path)) {}

WorkDirectory::~WorkDirectory() {
  if (keep_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string WorkDirectory::File(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

absl::Status WorkDirectory::Write(absl::string_view name, absl::string_view content) const {
  std::ofstream file(File(name), std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) return absl::InternalError(absl::StrCat("cannot write ", File(name)));
  return absl::OkStatus();
}

}  // namespace banyan
