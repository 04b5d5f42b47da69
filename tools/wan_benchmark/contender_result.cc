#include "tools/wan_benchmark/contender_result.h"

#include <algorithm>

#include "bench/timing.h"
#include "core/check.h"
#include "sim/runs/adaptation.h"

namespace banyan {
namespace {

std::vector<double> SortedSeconds(const ContenderResult& result) {
  BANYAN_CHECK(result.ok());
  std::vector<double> seconds;
  for (const ContenderResult::Round& round : result.rounds) seconds.push_back(round.seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

double MedianSeconds(const ContenderResult& result) { return Median(SortedSeconds(result)); }

double FastestSeconds(const ContenderResult& result) { return SortedSeconds(result).front(); }

double SlowestSeconds(const ContenderResult& result) { return SortedSeconds(result).back(); }

const ContenderResult::Round* FirstRoundNear(const ContenderResult& result, double usual_seconds) {
  std::vector<double> seconds;
  for (const ContenderResult::Round& round : result.rounds) seconds.push_back(round.seconds);
  const std::optional<size_t> first = FirstNear(seconds, usual_seconds);
  return first.has_value() ? &result.rounds[*first] : nullptr;
}

double BytesPerRound(const ContenderResult& result) {
  BANYAN_CHECK(result.ok());
  int64_t bytes = 0;
  for (const ContenderResult::Link& link : result.links) bytes += link.bytes;
  return static_cast<double>(bytes) / static_cast<double>(result.rounds.size());
}

std::vector<ContenderResult::Link> LinkBytesBetween(const WanStatus& before, const WanStatus& after) {
  std::vector<ContenderResult::Link> links;
  for (const WanStatus::Link& link : after.links) {
    const WanStatus::Link* earlier = before.FindLink(link.from, link.to);
    links.push_back({link.from, link.to, link.bytes - (earlier == nullptr ? 0 : earlier->bytes)});
  }
  return links;
}

}  // namespace banyan
