// Text as numbers of characters, cut into a part for each worker and one that is held out. The parts are consecutive,
// so they are unlike each other, as data of sites are. Immutable.
#ifndef BANYAN_EXAMPLES_PRECISION_TEXT_CORPUS_H_
#define BANYAN_EXAMPLES_PRECISION_TEXT_CORPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace banyan {

class TextCorpus {
 public:
  // The last twentieth of `text` is held out, the rest cut for `workers`. INVALID_ARGUMENT where a part has fewer than
  // `least` characters. REQUIRES: workers > 0.
  static absl::StatusOr<TextCorpus> Cut(absl::string_view text, int64_t workers, int64_t least);

  // How many different characters there are; numbers are below.
  int64_t characters() const { return characters_; }
  absl::Span<const int64_t> part(int64_t worker) const { return parts_[static_cast<size_t>(worker)]; }
  absl::Span<const int64_t> held_out() const { return held_out_; }

 private:
  TextCorpus() = default;

  int64_t characters_ = 0;
  std::vector<std::vector<int64_t>> parts_;  // by worker
  std::vector<int64_t> held_out_;
};

// Reads the file `path`; where that is empty, the text of Debian's package bible-kjv, by its program.
absl::StatusOr<std::string> ReadText(const std::string& path);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_TEXT_CORPUS_H_
