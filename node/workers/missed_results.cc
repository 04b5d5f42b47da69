#include "node/workers/missed_results.h"

#include "compression/element_types.h"

namespace banyan {
namespace {

void AddTo(Buffer& whole, const MissedResults::Parts& parts) {
  for (const auto& [first_element, values] : parts) {
    Buffer to = whole.Slice(first_element, values.elements());
    AddInto(PlainChunk(values, 1), to);
  }
}

}  // namespace

void MissedResults::Add(Round round, Parts result, int64_t elements, bool replaces) {
  through_ = round;
  if (std::exchange(is_given_, false) || replaces || parts_.empty()) {
    parts_ = std::move(result);
    return;
  }
  const DataType type = parts_.front().second.type();
  Buffer whole = Buffer::Allocate(elements, type);
  AddTo(whole, parts_);
  AddTo(whole, result);
  parts_ = {{0, std::move(whole)}};
}

void MissedResults::Give(int64_t elements, DataType type, Sink sink) {
  is_given_ = true;
  if (parts_.empty()) parts_ = {{0, Buffer::Allocate(elements, type)}};
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
