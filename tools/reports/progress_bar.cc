#include "tools/reports/progress_bar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace banyan {
namespace {

constexpr absl::Duration kFirstUpdate = absl::Seconds(2);
constexpr absl::Duration kBetweenUpdates = absl::Milliseconds(200);
constexpr size_t kBarWidth = 40;

std::string RemainingText(double done, absl::Duration elapsed) {
  if (done <= 0.01) return "";
  const double seconds = absl::ToDoubleSeconds(elapsed) * (1 - done) / done;
  return absl::StrFormat(", about %.0f s left", seconds);
}

}  // namespace

ProgressBar::ProgressBar(std::string what, bool is_terminal, std::ostream& out)
    : what_(std::move(what)), is_terminal_(is_terminal), out_(out), next_update_(kFirstUpdate) {}

ProgressBar::~ProgressBar() {
  if (drawn_width_ > 0) out_ << "\r" << std::string(drawn_width_, ' ') << "\r" << std::flush;
}

void ProgressBar::Update(double done, absl::Duration elapsed) {
  if (!is_terminal_ || elapsed < next_update_) return;
  next_update_ = elapsed + kBetweenUpdates;
  done = std::clamp(done, 0.0, 1.0);
  const auto filled = static_cast<size_t>(done * kBarWidth);
  std::string line = absl::StrFormat("%s [%s%s] %3.0f %%%s", what_, std::string(filled, '#'),
                                     std::string(kBarWidth - filled, '.'), 100 * done, RemainingText(done, elapsed));
  const size_t width = line.size();
  if (width < drawn_width_) line.append(drawn_width_ - width, ' ');
  drawn_width_ = std::max(drawn_width_, width);
  out_ << "\r" << line << std::flush;
}

}  // namespace banyan
