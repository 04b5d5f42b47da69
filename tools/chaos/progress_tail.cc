#include "tools/chaos/progress_tail.h"

#include "absl/status/statusor.h"

namespace banyan {

std::vector<TrainingProgress> ProgressTail::Take() {
  std::vector<TrainingProgress> taken;
  if (!file_.is_open()) file_.open(path_);
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
