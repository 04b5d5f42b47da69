#include "node/workers/missed_results.h"

#include <algorithm>

namespace banyan {
namespace {

void AddTo(Buffer& whole, const MissedResults::Parts& parts) {
  for (const auto& [first_element, values] : parts) {
    float* const to = whole.mutable_floats().data() + first_element;
    std::transform(values.floats().begin(), values.floats().end(), to, to, [](float a, float b) { return b + a; });
  }
}

}  // namespace

void MissedResults::Add(Round round, Parts result, int64_t elements, bool replaces) {
  through_ = round;
  if (std::exchange(is_given_, false) || replaces || parts_.empty()) {
    parts_ = std::move(result);
    return;
  }
  Buffer whole = Buffer::Allocate(elements);
  AddTo(whole, parts_);
  AddTo(whole, result);
  parts_ = {{0, std::move(whole)}};
}

void MissedResults::Give(int64_t elements, Sink sink) {
  is_given_ = true;
  if (parts_.empty()) parts_ = {{0, Buffer::Allocate(elements)}};
  for (const auto& [first_element, values] : parts_) sink(first_element, values);
}

void MissedResults::OnPushed(bool replaces) {
  if (is_given_ && !replaces) parts_.clear();
  is_given_ = false;
}

int64_t MissedResults::size_bytes() const {
  int64_t bytes = 0;
  for (const auto& [first_element, values] : parts_) bytes += values.size_bytes();
  return bytes;
}

}  // namespace banyan
