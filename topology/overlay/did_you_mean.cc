#include "topology/overlay/did_you_mean.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// Longer words are not compared: nobody misspells one of our names that long, and the comparison is quadratic.
constexpr size_t kLongestWord = 64;
constexpr size_t kMostListed = 16;

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

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& known) {
  const std::string* closest = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (word.size() > kLongestWord || candidate.size() > kLongestWord) continue;
    const size_t distance = EditDistance(word, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    closest = &candidate;
  }
  if (closest != nullptr) return absl::StrCat("; did you mean '", *closest, "'?");
  if (known.empty() || known.size() > kMostListed) return "";
  return absl::StrCat("; known are ", absl::StrJoin(known, ", "));
}

}  // namespace banyan
