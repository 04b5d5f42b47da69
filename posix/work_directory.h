// A directory of its own for one run, deleted with all that is in it at the end unless it is kept. Thread-compatible.
#ifndef BANYAN_POSIX_WORK_DIRECTORY_H_
#define BANYAN_POSIX_WORK_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

class WorkDirectory {
 public:
  // Under /tmp, only for this user; `prefix` begins its name. Short enough for the paths of sockets.
  static absl::StatusOr<std::unique_ptr<WorkDirectory>> Make(absl::string_view prefix);
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  const std::string& path() const { return path_; }
  std::string File(absl::string_view name) const;
  absl::Status Write(absl::string_view name, absl::string_view content) const;
  void Keep() { keep_ = true; }

 private:
  explicit WorkDirectory(std::string path);

  const std::string path_;
  bool keep_ = false;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_WORK_DIRECTORY_H_
