#include "precision/profile/named_shape.h"

#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

constexpr int64_t kMostShapeElements = int64_t{1} << 40;

// "768x3072", each at least 1; nothing where it is something else, or too large to be a tensor.
std::optional<std::vector<int64_t>> ParseShape(absl::string_view text) {
  std::vector<int64_t> dimensions;
  int64_t elements = 1;
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t dimension = 0;
    if (!absl::SimpleAtoi(part, &dimension) || dimension < 1 || dimension > kMostShapeElements / elements) {
      return std::nullopt;
    }
    elements *= dimension;
    dimensions.push_back(dimension);
  }
  return dimensions;
}

}  // namespace

absl::StatusOr<std::vector<NamedShape>> ReadTensorList(absl::string_view text, absl::string_view file_name) {
  std::vector<NamedShape> tensors;
  std::set<std::string> names;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const std::optional<std::vector<int64_t>> shape = words.size() == 2 ? ParseShape(words[1]) : std::nullopt;
    if (!shape.has_value()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: expected a name and a shape such as `fc1.weight 128x784`, got '%s'", file_name, number, line));
    }
    if (!names.insert(std::string(words[0])).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: tensor '%s' is listed twice; remove one", file_name, number, words[0]));
    }
    tensors.push_back({std::string(words[0]), *shape});
  }
  if (tensors.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: expected a line for each tensor, got none", file_name));
  }
  return tensors;
}

}  // namespace banyan
