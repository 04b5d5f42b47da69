#include "tools/chaos/progress_tail.h"

#include <algorithm>

#include "absl/status/statusor.h"

namespace banyan {
namespace {

constexpr std::streamoff kFirstBytes = 64 * 1024;

}  // namespace

// What is left of the line in the middle of which it begins is no progress.
void ProgressTail::Open() {
  file_.open(path_);
  if (!file_.is_open()) return;
  file_.seekg(0, std::ios::end);
  const std::streamoff size_bytes = file_.tellg();
  file_.seekg(std::max<std::streamoff>(0, size_bytes - kFirstBytes));
}

std::vector<TrainingProgress> ProgressTail::Take() {
  std::vector<TrainingProgress> taken;
  if (!file_.is_open()) Open();
  file_.clear();
  for (std::string line; std::getline(file_, line);) {
    partial_line_ += line;
    // The end of the file came first.
    if (file_.eof()) break;
    absl::StatusOr<TrainingProgress> progress = ParseProgress(partial_line_);
    if (progress.ok()) taken.push_back(*std::move(progress));
    partial_line_.clear();
  }
  return taken;
}

}  // namespace banyan
