// A bar for work that takes longer than two seconds, drawn only where somebody watches. Thread-compatible.
#ifndef BANYAN_TOOLS_REPORTS_PROGRESS_BAR_H_
#define BANYAN_TOOLS_REPORTS_PROGRESS_BAR_H_

#include <ostream>
#include <string>

#include "absl/time/time.h"

namespace banyan {

class ProgressBar {
 public:
  // `is_terminal` says whether `out` shows on one; if not, nothing is ever written.
  ProgressBar(std::string what, bool is_terminal, std::ostream& out);
  // Wipes the bar away.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` from 0 to 1; `elapsed` since the start of the work. May be called as often as one likes.
  void Update(double done, absl::Duration elapsed);

 private:
  const std::string what_;
  const bool is_terminal_;
  std::ostream& out_;
  absl::Duration next_update_;
  size_t drawn_width_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_PROGRESS_BAR_H_
