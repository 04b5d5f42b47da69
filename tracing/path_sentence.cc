#include "tracing/path_sentence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace banyan {
namespace {

// A part is named that takes this much of the round, and one that takes less than kLeast is not even counted.
constexpr double kNamed = 0.15;
constexpr double kLeast = 0.02;
// A link that carries less than this part of its rate is not full by itself.
constexpr double kNearRate = 0.7;

// Writes all times of a round in one unit.
class TimeText {
 public:
  explicit TimeText(absl::Duration round) : in_seconds_(round >= absl::Seconds(2)) {}
  std::string operator()(absl::Duration time) const {
    if (in_seconds_) return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(time));
    const double milliseconds = absl::ToDoubleMilliseconds(time);
    return absl::StrFormat(milliseconds < 10 ? "%.1f ms" : "%.0f ms", milliseconds);
  }

 private:
  bool in_seconds_;
};

std::string CountText(size_t count) {
  static constexpr std::array kWords = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  return count < kWords.size() ? kWords[count] : absl::StrCat(count);
}

std::string NamesOf(NodeId first, const std::set<NodeId>& others, const JobTrace& trace) {
  std::set<NodeId> nodes = others;
  nodes.insert(first);
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(trace.NameOf(node));
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

std::string FullText(const PathPart& part, const JobTrace& trace, const LinkRates& rates) {
  const std::string link = absl::StrCat(trace.NameOf(part.from), " to ", trace.NameOf(part.to), " was full");
  const auto rate = rates.find({part.from, part.to});
  if (rate == rates.end()) return link;
  const double carried_bps = 8.0 * static_cast<double>(part.carried_bytes) / absl::ToDoubleSeconds(part.duration());
  if (carried_bps >= kNearRate * rate->second) return link;
  if (!part.also_to.empty() && part.also_to.size() >= part.also_from.size()) {
    return absl::StrCat(trace.NameOf(part.from), " sent to ", NamesOf(part.to, part.also_to, trace),
                        " as fast as it could");
  }
  if (!part.also_from.empty()) {
    return absl::StrCat(trace.NameOf(part.to), " took from ", NamesOf(part.from, part.also_from, trace),
                        " as fast as it could");
  }
  return absl::StrFormat("%s, at %.3g of %.3g Mbit/s", link, carried_bps / 1e6, rate->second / 1e6);
}

bool IsOnLink(const PathPart& part) { return part.from != part.to; }

class Sentence {
 public:
  Sentence(const CriticalPath& path, const JobTrace& trace, const LinkRates& rates)
      : path_(path), trace_(trace), rates_(rates), text_of_(path.end - path.begin) {}

  std::string Write() {
    absl::Duration longest = absl::ZeroDuration();
    for (const PathPart& part : path_.parts) longest = std::max(longest, part.duration());
    const absl::Duration named = std::min(longest, (path_.end - path_.begin) * kNamed);
    for (const PathPart& part : path_.parts) {
      if (part.duration() >= named) {
        EndGroup();
        clauses_.push_back(Clause(part));
      } else {
        between_ += part.duration();
        hops_ += IsOnLink(part) ? 1 : 0;
      }
    }
    EndGroup();
    return absl::StrCat("round ", path_.round.value(), " took ", text_of_(path_.end - path_.begin), ": ",
                        absl::StrJoin(clauses_, "; then "));
  }

 private:
  // Says what the parts since the last one that was named took together.
  void EndGroup() {
    if (between_ >= (path_.end - path_.begin) * kLeast) {
      const std::string what =
          hops_ == 0 ? "at nodes" : absl::StrCat("for ", CountText(hops_), hops_ == 1 ? " hop" : " hops");
      clauses_.push_back(absl::StrCat(text_of_(between_), " ", what));
    }
    between_ = absl::ZeroDuration();
    hops_ = 0;
  }

  std::string Clause(const PathPart& part) const {
    const std::string name = NameOf(part, trace_, rates_);
    const std::string until = text_of_(part.end - path_.begin);
    switch (part.kind) {
      case PathPart::Kind::kFormerRound:
      case PathPart::Kind::kContribution:
      case PathPart::Kind::kPolicy:
        return absl::StrCat(name, " until ", until);
      case PathPart::Kind::kHop:
        return absl::StrCat(name, " ", text_of_(part.duration()));
      case PathPart::Kind::kWork:
      case PathPart::Kind::kFull:
        break;
    }
    return absl::StrCat(name, " from ", text_of_(part.begin - path_.begin), " to ", until);
  }

  const CriticalPath& path_;
  const JobTrace& trace_;
  const LinkRates& rates_;
  TimeText text_of_;
  std::vector<std::string> clauses_;
  absl::Duration between_ = absl::ZeroDuration();
  size_t hops_ = 0;
};

}  // namespace

std::string NameOf(const PathPart& part, const JobTrace& trace, const LinkRates& rates) {
  const std::string from = trace.NameOf(part.from);
  switch (part.kind) {
    case PathPart::Kind::kFormerRound:
      return absl::StrCat(from, " was in the round before");
    case PathPart::Kind::kContribution:
      return absl::StrCat(from, " waited for its workers");
    case PathPart::Kind::kPolicy:
      return absl::StrCat(from, " waited for its policy");
    case PathPart::Kind::kWork:
      return absl::StrCat(from, " computed");
    case PathPart::Kind::kHop:
      return absl::StrCat(from, " to ", trace.NameOf(part.to), " took");
    case PathPart::Kind::kFull:
      break;
  }
  return FullText(part, trace, rates);
}

std::string SentenceOf(const CriticalPath& path, const JobTrace& trace, const LinkRates& rates) {
  return Sentence(path, trace, rates).Write();
}

}  // namespace banyan
