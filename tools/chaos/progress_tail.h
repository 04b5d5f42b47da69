// Follows the file to which a job's training processes, or who gathers for them, add their lines of progress.
// Thread-compatible.
#ifndef BANYAN_TOOLS_CHAOS_PROGRESS_TAIL_H_
#define BANYAN_TOOLS_CHAOS_PROGRESS_TAIL_H_

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/reports/training_progress.h"

namespace banyan {

class ProgressTail {
 public:
  // The file may come later.
  explicit ProgressTail(std::string path) : path_(std::move(path)) {}

  // Returns what has been added since the last call; the first one begins with the last lines that the file holds,
  // since a long training has many. Lines that are no progress are passed over; one that has no end yet is left for
  // later.
  std::vector<TrainingProgress> Take();

 private:
  void Open();

  const std::string path_;
  std::ifstream file_;
  std::string partial_line_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_PROGRESS_TAIL_H_
