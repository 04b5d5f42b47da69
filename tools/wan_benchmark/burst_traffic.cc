#include "tools/wan_benchmark/burst_traffic.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace banyan {
namespace {

// Longer than any run; whoever started it ends it.
constexpr absl::Duration kLength = absl::Hours(12);

std::string Seconds(absl::Duration time) { return absl::StrCat(absl::ToDoubleSeconds(time), "s"); }

}  // namespace

std::vector<ContenderResult::Link> MostLoaded(std::vector<ContenderResult::Link> links, const WanStatus& status,
                                              int count) {
  const auto load = [&status](const ContenderResult::Link& link) {
    const WanStatus::Link* known = status.FindLink(link.from, link.to);
    return known == nullptr || known->mbps <= 0 ? 0 : static_cast<double>(link.bytes) / known->mbps;
  };
  std::stable_sort(links.begin(), links.end(), [&load](const auto& a, const auto& b) { return load(a) > load(b); });
  links.resize(std::min<size_t>(links.size(), count));
  return links;
}

std::vector<std::string> TrafficArguments(const BenchPlace& place, const ContenderResult::Link& link, double mbps,
                                          const WanBursts& bursts) {
  return {place.banyan_program,
          "wan",
          "traffic",
          link.from,
          link.to,
          "--mbps",
          absl::StrCat(mbps),
          "--on",
          Seconds(bursts.on),
          "--off",
          Seconds(bursts.off),
          "--for",
          Seconds(kLength),
          "--directory",
          place.wan_directory};
}

}  // namespace banyan
