#include "precision/calibration/loss_list.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace banyan {

absl::StatusOr<std::vector<double>> ReadLossList(absl::string_view text, absl::string_view file_name) {
  std::vector<double> losses;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t,"), absl::SkipEmpty());
    double loss = 0;
    if (words.empty() || !absl::SimpleAtod(words.back(), &loss)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: expected a loss at the end of the line, got '%s'", file_name, number, line));
    }
    losses.push_back(loss);
  }
  if (!losses.empty()) return losses;
  return absl::InvalidArgumentError(absl::StrFormat("%s: expected a loss a line, got none", file_name));
}

}  // namespace banyan
