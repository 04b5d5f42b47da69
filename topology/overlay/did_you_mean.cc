#include "topology/overlay/did_you_mean.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// Longer words are not compared: nobody misspells one of our names that long, and the comparison is quadratic.
constexpr size_t kLongestWord = 64;
constexpr size_t kMostListed = 16;

constexpr size_t kFar = std::numeric_limits<size_t>::max();

// How many edits `word` is away from `known`; kFar when it is no misspelling of it.
size_t Distance(absl::string_view word, absl::string_view known) {
  if (word.size() > kLongestWord || known.size() > kLongestWord) return kFar;
  const std::string lower = absl::AsciiStrToLower(word);
  const size_t dashes = known.find_first_not_of('-') == absl::string_view::npos ? 0 : known.find_first_not_of('-');
  if (lower.size() >= 3 + dashes && absl::StartsWith(known, absl::StrCat(lower, "_"))) return 1;
  if (lower.size() >= 3 + dashes && absl::StartsWith(known, absl::StrCat(lower, "-"))) return 1;
  const size_t distance = std::min(EditDistance(word, known), EditDistance(lower, known));
  const size_t most = std::max<size_t>(1, word.size() / 3);
  return distance <= most && distance < known.size() ? distance : kFar;
}

}  // namespace

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> distance(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) distance[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) distance[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

bool IsClose(absl::string_view word, absl::string_view known) { return Distance(word, known) < kFar; }

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& known) {
  const auto closest = std::min_element(known.begin(), known.end(), [word](const auto& a, const auto& b) {
    return Distance(word, a) < Distance(word, b);
  });
  if (closest != known.end() && IsClose(word, *closest)) return absl::StrCat("; did you mean '", *closest, "'?");
  if (known.empty() || known.size() > kMostListed) return "";
  return absl::StrCat("; known are ", absl::StrJoin(known, ", "));
}

}  // namespace banyan
