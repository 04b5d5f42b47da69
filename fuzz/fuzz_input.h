// What a fuzzer has made up, taken from the front piece by piece. A view; thread-compatible.
#ifndef BANYAN_FUZZ_FUZZ_INPUT_H_
#define BANYAN_FUZZ_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace banyan {

class FuzzInput {
 public:
  explicit FuzzInput(absl::string_view bytes) : rest_(bytes) {}

  // Takes a number as the processor has it; where too few bytes are left, the rest of it is zero.
  template <typename Number>
  Number Take() {
    Number number{};
    const absl::string_view bytes = TakeBytes(sizeof(Number));
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }

  // Takes `count` bytes, or what is left.
  absl::string_view TakeBytes(size_t count) {
    const absl::string_view taken = rest_.substr(0, std::min(count, rest_.size()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  absl::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  absl::string_view rest_;
};

// Returns text as bytes.
inline absl::Span<const uint8_t> AsBytes(absl::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace banyan

#endif  // BANYAN_FUZZ_FUZZ_INPUT_H_
