#include "wan/rate_script.h"

#include <algorithm>

namespace banyan {

RateScript::RateScript(std::vector<LinkChange> changes, std::optional<LinkRedraw> redraw,
                       std::vector<std::pair<NodeId, NodeId>> links)
    : changes_(std::move(changes)), redraw_(redraw), links_(std::move(links)) {}

absl::Duration RateScript::NextAt() const { return std::min(NextListed(), NextRedraw()); }

std::vector<LinkChange> RateScript::Take(absl::Duration elapsed) {
  std::vector<LinkChange> due;
  while (NextAt() <= elapsed) {
    if (NextRedraw() <= NextListed()) {
      for (const LinkChange& change : DrawLinkChanges(*redraw_, ++redraws_, links_)) due.push_back(change);
    } else {
      due.push_back(changes_[taken_++]);
    }
  }
  return due;
}

absl::Duration RateScript::NextListed() const {
  return taken_ < changes_.size() ? changes_[taken_].at : absl::InfiniteDuration();
}

absl::Duration RateScript::NextRedraw() const {
  return redraw_.has_value() ? redraw_->period * static_cast<double>(redraws_ + 1) : absl::InfiniteDuration();
}

}  // namespace banyan
